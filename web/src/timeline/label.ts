// Names as they are drawn: nothing in them controls or reorders what is drawn beside them.

import { cut } from "../parts/name";

export const FONT = '11px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace';
export const TITLE_FONT = "600 12px system-ui, sans-serif";
export const SMALL_FONT = "11px system-ui, sans-serif";

const shown = new Map<string, string>();

/** A name, safe to draw. */
export function drawable(name: string): string {
  let text = shown.get(name);
  if (text === undefined) {
    text = cut(name, 200);
    shown.set(name, text);
  }
  return text;
}

/** As much of a text as fits into a width, each letter being `letter` wide; empty when less than two letters fit. */
export function fitting(text: string, width: number, letter: number): string {
  const most = Math.floor(width / letter);
  if (text.length <= most) {
    return text;
  }
  return most < 2 ? "" : `${text.slice(0, most - 1)}…`;
}
