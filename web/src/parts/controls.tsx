// What leads to another part or look of the page. All of it is in the address: it can be copied, or opened in another tab.

import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";

import { setState, showInTimeline, type Window, zoomOut } from "../data/state";
import { timeLabel } from "./ticks";

/** Which views the page has. */
export const Shown = createContext<ReadonlySet<string>>(new Set());

type TimeLinkProps = { from: number; to: number; selection?: Readonly<Record<string, string>>; children: ComponentChildren };

/**
 * A link to a part of the timeline, where it may select something; plain text where the page has none. Times are nanoseconds since the start
 * of the run.
 */
export function TimeLink({ from, to, selection = {}, children }: TimeLinkProps) {
  const isThere = useContext(Shown).has("timeline");
  // The rest of the address is kept; with a key held down the browser does as usual.
  const follow = (event: MouseEvent) => {
    if (event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      showInTimeline(from, to, selection);
    }
  };
  return isThere ? (
    <a href={`#${new URLSearchParams({ view: "timeline", from: String(Math.floor(from)), to: String(Math.ceil(to)), ...selection })}`} title="Show in the timeline" onClick={follow}>
      {children}
    </a>
  ) : (
    <>{children}</>
  );
}

export function windowText([from, to]: Window): string {
  return [from, to].map((at) => timeLabel(at, (to - from) / 100)).join(" – ");
}

/** Takes a zoom back. */
export function WholeButton({ isZoomed, of = "run" }: { isZoomed: boolean; of?: string }) {
  return (
    <button type="button" disabled={!isZoomed} onClick={zoomOut} title="Double click does the same">
      Whole {of}
    </button>
  );
}

type ChoiceProps = {
  name: string;
  value: string;
  options: readonly (readonly [id: string, title: string, hint?: string])[];
  label?: string;
  /** What holds where the address has nothing; absent: the first. */
  usual?: string | undefined;
  /** What of the address has no meaning with another choice. */
  clears?: string;
};

/** A choice of one of a few. */
export function Choice({ name, value, options, label, usual = options[0]?.[0], clears = name }: ChoiceProps) {
  return (
    <div class="choice" role="radiogroup" aria-label={label}>
      {options.map(([id, title, hint]) => (
        <button key={id} type="button" role="radio" aria-checked={id === value} title={hint} onClick={() => setState({ [clears]: null, [name]: id === usual ? null : id })}>
          {title}
        </button>
      ))}
    </div>
  );
}
