// Links within the page. They are addresses: one can be copied, or opened in another tab.

import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";

import { showInTimeline } from "../data/state";

/** Which views the page has. */
export const Shown = createContext<ReadonlySet<string>>(new Set());

/** A link to a part of the timeline; plain text where the page has none. Times are nanoseconds since the start of the run. */
export function TimeLink({ from, to, children }: { from: number; to: number; children: ComponentChildren }) {
  const isThere = useContext(Shown).has("timeline");
  // The rest of the address is kept; with a key held down the browser does as usual.
  const follow = (event: MouseEvent) => {
    if (event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      showInTimeline(from, to);
    }
  };
  return isThere ? (
    <a href={`#view=timeline&from=${Math.floor(from)}&to=${Math.ceil(to)}`} title="Show in the timeline" onClick={follow}>
      {children}
    </a>
  ) : (
    <>{children}</>
  );
}
