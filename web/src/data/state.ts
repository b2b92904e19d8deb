// What is shown, kept in the address after `#`, so that a link leads to the same place: `#view=timeline&from=1000&to=2000`. `from` and
// `to`, in nanoseconds, are the part of the run that charts and the timeline show.

import { useEffect, useState } from "preact/hooks";

/** The keys of the address and their texts. */
type State = Readonly<Record<string, string>>;

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
  // What the page itself changes, browsers do not tell.
  dispatchEvent(new Event("hashchange"));
}

/** Calls back whenever the address has changed; returns how to end that. */
export function onAddressChange(changed: () => void): () => void {
  addEventListener("hashchange", changed);
  return () => removeEventListener("hashchange", changed);
}

/** Shows a part of the timeline, times in nanoseconds since the start of the run. */
export function showInTimeline(from: number, to: number): void {
  setState({ view: "timeline", from: String(Math.floor(from)), to: String(Math.ceil(to)) });
}

/** The state, for a component that is drawn anew when it changes. */
export function useAddress(): State {
  const [state, update] = useState(currentState);
  useEffect(() => onAddressChange(() => update(currentState())), []);
  return state;
}

/** From when to when. */
export type Window = readonly [number, number];

const SMALLEST_NS = 1000;

/** The window of the address within the run, or the whole run. */
export function useWindow(wall: number): { window: Window; isZoomed: boolean } {
  const { from, to } = useAddress();
  const [begin, end] = [number(from), number(to)];
  const isZoomed = begin !== null && end !== null && end > begin;
  return { window: isZoomed ? [begin, end] : [0, Math.max(1, wall)], isZoomed };
}

function number(text: string | undefined): number | null {
  const value = Number(text);
  return text === undefined || text === "" || !Number.isFinite(value) ? null : value;
}

/** Shows a part, at least a microsecond and nothing outside the run. */
export function zoomTo(from: number, to: number, wall: number): void {
  const span = Math.min(Math.max(SMALLEST_NS, to - from), Math.max(SMALLEST_NS, wall));
  const begin = Math.max(0, Math.min(from, wall - span));
  setState({ from: String(Math.floor(begin)), to: String(Math.ceil(begin + span)) });
}

/** Shows the whole run. */
export function zoomOut(): void {
  setState({ from: null, to: null });
}

/** Zooms and pans by the keyboard: w s + −, a d, 0. True when the key meant something. */
export function zoomByKey(key: string, [from, to]: Window, wall: number): boolean {
  const span = to - from;
  if (key === "w" || key === "+") {
    zoomTo(from + span / 4, to - span / 4, wall);
  } else if (key === "s" || key === "-") {
    zoomTo(from - span / 2, to + span / 2, wall);
  } else if (key === "a") {
    zoomTo(from - span / 4, to - span / 4, wall);
  } else if (key === "d") {
    zoomTo(from + span / 4, to + span / 4, wall);
  } else if (key === "0") {
    zoomOut();
  } else {
    return false;
  }
  return true;
}
