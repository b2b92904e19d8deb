// The part of the run that charts show: `from` and `to` of the address, nanoseconds. The timeline shows the same part.

import { setState, useAddress } from "../data/state";

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
