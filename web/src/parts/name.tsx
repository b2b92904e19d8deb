// Texts that a user named, made safe to show: nothing in them controls, reorders or hides other text. The browser gets them
// as text, never as markup.

import { useState } from "preact/hooks";

import { count } from "../data/quantity";

/**
 * Control characters, and those that reorder or hide text: bidirectional marks and overrides, zero-width characters, line and
 * paragraph separators, tags. Source: Unicode Technical Report 36, section 3. The same list as in marey-report's `escape`.
 */
const HARMFUL =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** The text with whatever is harmful spelled out: `\x1b`, `\u{202e}`. */
export function visible(text: string): string {
  return text.replace(HARMFUL, (c) => {
    const code = c.codePointAt(0) ?? 0;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
  });
}

/** [`visible`], at most `limit` characters; the last one is `…` if something was cut. */
export function cut(text: string, limit: number): string {
  const letters = [...visible(text)];
  return letters.length <= limit ? letters.join("") : `${letters.slice(0, limit - 1).join("")}…`;
}

/** Spaces, and letters that are drawn as one. */
const BLANK = /^[\s\u115f\u1160\u2800\u3164\uffa0]*$/;

/** A name; a long one is cut, and whole when pointed at. One that nobody would see is said to be none. */
export function Name({ text, limit = 64 }: { text: string; limit?: number }) {
  if (BLANK.test(text)) {
    return <span class="name muted">(no name)</span>;
  }
  const shown = cut(text, limit);
  return (
    <bdi class="name" title={shown === text ? undefined : visible(text).slice(0, 2000)}>
      {shown}
    </bdi>
  );
}

/** A text of any length; of a long one the beginning, and a button for the rest. On paper it stays cut. */
export function Long({ text, limit = 300 }: { text: string; limit?: number }) {
  const [isWhole, setWhole] = useState(false);
  // A letter has one or two units.
  const begin = text.slice(0, limit * 2 + 2);
  const isLong = [...begin].length > limit;
  return (
    <span class="name">
      {isWhole ? visible(text) : cut(begin, limit)}
      {isLong && (
        <>
          {" "}
          <button type="button" class="link" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? "show less" : `show all ${count(text.length)} characters`}
          </button>
        </>
      )}
    </span>
  );
}

/** A call path, the last name whole, those before it dimmed: `denoise › step › attention`. */
export function Path({ names, limit = 40 }: { names: readonly string[]; limit?: number }) {
  return (
    <span class="path">
      {names.map((name, at) => (
        <span key={at} class={at < names.length - 1 ? "muted" : undefined}>
          {at > 0 && " › "}
          <Name text={name} limit={limit} />
        </span>
      ))}
    </span>
  );
}
