// Readings over time that a page carries beside its slices: series of samplers, counters, memory.

import type { Timeline } from "../../model/page";
import type { Columns } from "./columns";
import { isCore } from "./series";
import type { Track } from "./track";
import { bytes, duration, number, percent } from "./quantity";

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
    const track: Track = {
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

/** The last point that began at or before `t`; -1 when none did. */
export function pointAt(track: Track, t: number): number {
  let low = 0;
  let high = track.n;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (track.start[middle]! > t) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low - 1;
}

/** Up to when a point holds. */
export function heldUntil(track: Track, point: number): number {
  const next = point + 1 < track.n ? track.start[point + 1]! : track.end[point]!;
  return track.kind === "rate" ? Math.min(next, track.end[point]!) : next;
}

/** The point that holds at `t`; -1 when nothing is known of that moment. */
export function pointHolding(track: Track, t: number): number {
  const point = pointAt(track, t);
  return point >= 0 && t <= Math.max(heldUntil(track, point), track.end[point]!) ? point : -1;
}

/** A value of a track, with its unit. */
export function valueText(track: Track, value: number): string {
  switch (track.unit) {
    case "bytes":
      return bytes(value);
    case "bytes_per_second":
      return `${bytes(value)}/s`;
    case "ratio":
      return percent(value);
    case "seconds":
      return duration(value * 1e9);
    case "celsius":
      return `${number(round(value))} °C`;
    case "watts":
      return `${number(round(value))} W`;
    case "joules":
      return `${number(round(value))} J`;
    case "hertz":
      return `${number(round(value / 1e6))} MHz`;
    case "seconds_per_second":
      // Seconds in a second: a share of the time, or so many processors. The kernel counts a core's in ticks, of which one more may fall
      // between two readings than their distance has room for.
      return /^(host|process|children)\.cpu\./.test(track.name) ? `${value.toFixed(2)} cores` : percent(isCore(track) ? Math.min(1, value) : value);
    case "per_second":
      return `${number(round(value))} /s`;
    default:
      return number(round(value));
  }
}

/** Four digits: floats of 32 bits have no more than seven. */
function round(value: number): number {
  return Number(value.toPrecision(4));
}
