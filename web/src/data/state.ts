// What is shown, kept in the address after `#`, so that a link leads to the same place: `#view=timeline&from=1000&to=2000`. `from` and
// `to`, in nanoseconds, are the part of the run that charts, the flame graph and the timeline show.

import { useEffect, useState } from "preact/hooks";

/** The keys of the address and their texts. */
type State = Readonly<Record<string, string>>;

/** The address follows when nothing has moved for so many milliseconds: browsers limit how often it may change. */
const REST = 150;

let state = addressed();
let timer = 0;

addEventListener("hashchange", () => {
  clearTimeout(timer);
  state = addressed();
  dispatchEvent(new Event("statechange"));
});

function addressed(): State {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** Times are whole nanoseconds there. */
function addressOf(state: State): string {
  const isTime = (key: string, text: string) => (key === "from" || key === "to") && Number.isFinite(Number(text));
  const texts = Object.entries(state).map(([key, text]) => [key, isTime(key, text) ? String(Math.round(Number(text))) : text]);
  return `#${new URLSearchParams(texts)}`;
}

export function currentState(): State {
  return state;
}

/** Changes some keys; `null` removes one. A change of view is a step back in the history, everything else is not. */
export function setState(change: Readonly<Record<string, string | null>>): void {
  const before = state;
  state = Object.fromEntries(Object.entries({ ...state, ...change }).filter((entry): entry is [string, string] => entry[1] !== null));
  clearTimeout(timer);
  if (state["view"] === before["view"]) {
    timer = setTimeout(() => history.replaceState(null, "", addressOf(state)), REST) as unknown as number;
  } else {
    history.replaceState(null, "", addressOf(before));
    history.pushState(null, "", addressOf(state));
  }
  dispatchEvent(new Event("statechange"));
}

/** Calls back whenever the state has changed; returns how to end that. */
export function onStateChange(changed: () => void): () => void {
  addEventListener("statechange", changed);
  return () => removeEventListener("statechange", changed);
}

/** The state, for a component that is drawn anew when it changes. */
export function useAddress(): State {
  const [state, update] = useState(currentState);
  useEffect(() => onStateChange(() => update(currentState())), []);
  return state;
}

/** Shows a part of the timeline, times in nanoseconds since the start of the run, and something of it selected. */
export function showInTimeline(from: number, to: number, selection: State = {}): void {
  const selected = Object.keys(selection).length > 0 && { row: null, ...selection };
  setState({ view: "timeline", from: String(Math.floor(from)), to: String(Math.ceil(to)), ...selected });
}

/** From when to when. */
export type Window = readonly [number, number];

/** No part that is shown is shorter. */
const SHORTEST_NS = 100;

/** The window of the address within the run, or the whole run. */
export function useWindow(wall: number): { window: Window; isZoomed: boolean } {
  return windowOf(useAddress(), wall);
}

export function windowOf({ from = "", to = "" }: State, wall: number): { window: Window; isZoomed: boolean } {
  const [begin, end] = [from, to].map((text) => (text === "" ? NaN : Number(text))) as [number, number];
  const isZoomed = Number.isFinite(begin) && end > begin && Number.isFinite(end);
  return { window: isZoomed ? within(begin, end, wall) : [0, Math.max(1, wall)], isZoomed };
}

/** Not shorter than the shortest, and nothing outside the run. */
function within(from: number, to: number, wall: number): Window {
  const span = Math.min(Math.max(SHORTEST_NS, to - from), Math.max(1, wall));
  const begin = Math.max(0, Math.min((from + to - span) / 2, wall - span));
  return [begin, begin + span];
}

/** Shows a part; all of the run as that. */
export function zoomTo(from: number, to: number, wall: number): void {
  const [begin, end] = within(from, to, wall);
  setState(end - begin < wall ? { from: String(begin), to: String(end) } : { from: null, to: null });
}

/** Shows the whole run. */
export function zoomOut(): void {
  setState({ from: null, to: null });
}

/** Makes what is shown longer or shorter; the moment `at` stays where it is. */
export function zoomBy(factor: number, [from, to]: Window, wall: number, at = (from + to) / 2): void {
  const bounded = Math.max(factor, SHORTEST_NS / (to - from));
  zoomTo(at - (at - from) * bounded, at + (to - at) * bounded, wall);
}

/** Moves what is shown by a part of it. */
export function pan(part: number, [from, to]: Window, wall: number): void {
  const by = part * (to - from);
  zoomTo(from + by, to + by, wall);
}

/** Zooms and pans by the keyboard: w s + −, a d, 0. True when the key meant something. */
export function zoomByKey(key: string, window: Window, wall: number): boolean {
  const actions: Record<string, () => void> = {
    w: () => zoomBy(1 / 2, window, wall),
    s: () => zoomBy(2, window, wall),
    a: () => pan(-1 / 4, window, wall),
    d: () => pan(1 / 4, window, wall),
    "0": zoomOut,
  };
  const action = actions[{ "+": "w", "-": "s" }[key] ?? key];
  action?.();
  return action !== undefined;
}
