// Readings over time as a line of a chart.

import type { Figures } from "../../model/page";
import type { Track } from "../data/track";
import type { Line } from "./plot";
import type { Window } from "./window";

/** What a line has besides its points. */
export type Look = Omit<Line, "at" | "values" | "range" | "style">;

export function trackOf(tracks: readonly Track[], name: string, subject: string): Track | undefined {
  return tracks.find((track) => track.name === name && track.subject === subject);
}

/** When figures were highest, with a little around it where that is a moment. */
export function peakOf(figures: Figures | null | undefined): Window | undefined {
  const peak = figures?.peak;
  return peak && [Math.max(0, peak.start_ns - AROUND_NS), peak.end_ns + AROUND_NS];
}

export const AROUND_NS = 50e6;

/** A rate holds up to its end, a reading of memory until the next one; what samplers read is joined. */
export function trackLine(track: Track, look: Look, factor = 1): Line {
  const { n, kind, start, end, mean, min, max } = track;
  // Where a rate is not known before the next one begins, its line breaks.
  const at: number[] = [];
  const places: (number | null)[] = [];
  for (let point = 0; point < n; point += 1) {
    at.push(start[point] as number);
    places.push(point);
    const isBroken = kind === "rate" && (point + 1 === n || (end[point] as number) < (start[point + 1] as number));
    if (isBroken) {
      at.push(end[point] as number, end[point] as number);
      places.push(point, null);
    }
  }
  const last = n - 1;
  if (kind === "memory" && n > 0 && (end[last] as number) > (start[last] as number)) {
    at.push(end[last] as number);
    places.push(last);
  }
  const of = (values: Float32Array) => places.map((point) => (point === null ? NaN : (values[point] as number) * factor));
  return {
    ...look,
    at,
    values: of(mean),
    range: min === mean ? undefined : { low: of(min), high: of(max) },
    style: kind === "rate" || kind === "memory" ? "steps" : "line",
    hasDots: kind === "memory" && n <= 200,
  };
}
