// What is shown, kept in the address after `#`, so that a link leads to the same place: `#view=timeline&from=1000&to=2000`.

import { useEffect, useState } from "preact/hooks";

/** The keys of the address and their texts. */
export type State = Readonly<Record<string, string>>;

export function currentState(): State {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** Changes some keys; `null` removes one. A change of view is a step back in the history, everything else is not. */
export function setState(change: Readonly<Record<string, string | null>>): void {
  const next = new URLSearchParams(location.hash.slice(1));
  const before = next.get("view");
  for (const [key, value] of Object.entries(change)) {
    if (value === null) {
      next.delete(key);
    } else {
      next.set(key, value);
    }
  }
  const address = `#${next}`;
  if (next.get("view") === before) {
    history.replaceState(null, "", address);
  } else {
    history.pushState(null, "", address);
  }
  dispatchEvent(new Event("statechange"));
}

/** Shows a part of the timeline, times in nanoseconds since the start of the run. */
export function showInTimeline(from: number, to: number): void {
  setState({ view: "timeline", from: String(Math.floor(from)), to: String(Math.ceil(to)) });
}

/** The state, for a component that is drawn anew when it changes. */
export function useAddress(): State {
  const [state, update] = useState(currentState);
  useEffect(() => {
    const changed = () => update(currentState());
    const events = ["statechange", "hashchange", "popstate"];
    for (const event of events) {
      addEventListener(event, changed);
    }
    return () => {
      for (const event of events) {
        removeEventListener(event, changed);
      }
    };
  }, []);
  return state;
}
