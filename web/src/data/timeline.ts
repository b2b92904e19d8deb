// The timeline that a page carries: slices of threads, and readings over time.

import { useEffect, useState } from "preact/hooks";

import type { Timeline, TrackKind } from "../../model/page";
import { Columns, indexAt } from "./columns";
import { embedded, type RunModel } from "./page";
import { percent, reading } from "./quantity";
import { isCore } from "./series";
import { Slices } from "./slices";

export type TimelineData = { slices: Slices; tracks: Track[] };

let decoding: Promise<TimelineData> | undefined;
let known: TimelineData | null = null;

/** The timeline; null until it is decoded, which the first view that asks for it begins. */
export function useTimeline(model: RunModel): TimelineData | null {
  const [data, update] = useState(known);
  const [error, fail] = useState<unknown>(null);
  useEffect(() => {
    decoding ??= decoded(model);
    decoding.then(update, fail);
  }, [model]);
  if (error !== null) {
    throw error;
  }
  return data;
}

async function decoded({ timeline }: RunModel): Promise<TimelineData> {
  const columns = new Columns(await embedded("marey-columns"), timeline.widths);
  const slices = new Slices(timeline, columns);
  known = { slices, tracks: readTracks(timeline, columns) };
  return known;
}

/** Points by time; each holds from its start, a rate up to its end, everything else up to the next one's start. */
export type Track = {
  name: string;
  /** Of what; empty where there is only one. */
  subject: string;
  kind: TrackKind;
  unit: string;
  n: number;
  start: Float64Array;
  end: Float64Array;
  mean: Float32Array;
  min: Float32Array;
  max: Float32Array;
  /** What an axis of it spans: from 0, or from its least value when that is below. `peak` is the highest value itself. */
  low: number;
  high: number;
  peak: number;
};

/** Reads what comes after the slices in the columns. */
function readTracks(model: Timeline, columns: Columns): Track[] {
  const counts = model.tracks.map(({ n_points }) => n_points);
  const all = counts.reduce((sum, n) => sum + n, 0);
  const spread = model.tracks.reduce((n, track) => n + (track.is_each ? 0 : track.n_points), 0);
  const spans = columns.spans(counts, model.unit_ns);
  const [means, mins, maxes] = [columns.floats(all), columns.floats(spread), columns.floats(spread)];
  let [first, firstSpread] = [0, 0];
  return model.tracks.map(({ name, subject, kind, unit, n_points: n, is_each: isEach }, at) => {
    const mean = means.subarray(first, (first += n));
    const [min, max] = isEach ? [mean, mean] : [mins, maxes].map((all) => all.subarray(firstSpread, firstSpread + n)) as [Float32Array, Float32Array];
    firstSpread += isEach ? 0 : n;
    const low = min.reduce((a, b) => Math.min(a, b), 0);
    const peak = max.reduce((a, b) => Math.max(a, b), -Infinity);
    const high = peak > low ? peak : low + 1;
    return { name, subject, kind, unit, n, low, high, peak, ...(spans[at] as { start: Float64Array; end: Float64Array }), mean, min, max };
  });
}

/** Up to when a point holds. */
export function heldUntil(track: Track, point: number): number {
  const next = point + 1 < track.n ? track.start[point + 1]! : track.end[point]!;
  return track.kind === "rate" ? Math.min(next, track.end[point]!) : next;
}

/** The point that holds at `t`; -1 when nothing is known of that moment. */
export function pointHolding(track: Track, t: number): number {
  const point = indexAt(track.start, t);
  return point >= 0 && t <= Math.max(heldUntil(track, point), track.end[point]!) ? point : -1;
}

/** A value of a track, with its unit. */
export function valueText(track: Track, value: number): string {
  if (track.unit === "seconds_per_second") {
    // Seconds in a second: a share of the time, or so many processors. The kernel counts a core's in ticks, of which one more may fall
    // between two readings than their distance has room for.
    return /^(host|process|children)\.cpu\./.test(track.name) ? `${value.toFixed(2)} cores` : percent(isCore(track) ? Math.min(1, value) : value);
  }
  return reading(track.unit)(value);
}
