// Readings over time that a page carries beside its slices: series of samplers, counters, memory.

import type { Timeline, TrackKind } from "../../model/page";
import { type Columns, indexAt } from "./columns";
import { isCore } from "./series";
import { percent, reading } from "./quantity";

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
};

/** Reads what comes after the slices in the columns. */
export function readTracks(model: Timeline, columns: Columns): Track[] {
  const all = model.tracks.reduce((n, track) => n + track.n_points, 0);
  const spread = model.tracks.reduce((n, track) => n + (track.is_each ? 0 : track.n_points), 0);
  const start = columns.numbers(all);
  const end = columns.numbers(all);
  const mean = columns.floats(all);
  const min = columns.floats(spread);
  const max = columns.floats(spread);
  let first = 0;
  let firstSpread = 0;
  return model.tracks.map(({ name, subject, kind, unit, n_points, is_each }) => {
    const last = first + n_points;
    let at = 0;
    for (let i = first; i < last; i++) {
      at += start[i]!;
      start[i] = at * model.unit_ns;
      end[i] = (at + end[i]!) * model.unit_ns;
    }
    const own = mean.subarray(first, last);
    const of = (values: Float32Array) => (is_each ? own : values.subarray(firstSpread, firstSpread + n_points));
    const track = {
      name,
      subject,
      kind,
      unit,
      n: n_points,
      start: start.subarray(first, last),
      end: end.subarray(first, last),
      mean: own,
      min: of(min),
      max: of(max),
    };
    first = last;
    firstSpread += is_each ? 0 : n_points;
    return track;
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
