// Links within the page. They are addresses: one can be copied, or opened in another tab.

import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";

import { setState, showInTimeline } from "../data/state";
import { Shown } from "./shown";

type Within = { children: ComponentChildren; label?: string };

/** A link to a view, with more of the address; plain text where the page has no such view. */
export function ViewLink({ view, state = {}, children, label }: Within & { view: string; state?: Record<string, string> }) {
  const isThere = useContext(Shown).has(view);
  const follow = (event: MouseEvent) => go(event, () => setState({ view, ...state }));
  return isThere ? (
    <a href={`#${new URLSearchParams({ view, ...state })}`} aria-label={label} onClick={follow}>
      {children}
    </a>
  ) : (
    <>{children}</>
  );
}

/** A link to a part of the timeline; plain text where the page has none. Times are nanoseconds since the start of the run. */
export function TimeLink({ from, to, children, label }: Within & { from: number; to: number }) {
  const isThere = useContext(Shown).has("timeline");
  const follow = (event: MouseEvent) => go(event, () => showInTimeline(from, to));
  return isThere ? (
    <a href={`#view=timeline&from=${Math.floor(from)}&to=${Math.ceil(to)}`} aria-label={label} title="Show in the timeline" onClick={follow}>
      {children}
    </a>
  ) : (
    <>{children}</>
  );
}

/** Keeps the rest of the address; with a key held down the browser does as usual. */
function go(event: MouseEvent, follow: () => void): void {
  if (event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    follow();
  }
}
