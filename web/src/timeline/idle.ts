// Time under no section of any thread.
//
//   main     |---a---|      |--b--|
//   decoder     |---c---|
//   idle                 |--|      |-----

import { firstWhere } from "../data/columns";
import type { Slices } from "../data/slices";

export class Idle {
  readonly start: Float64Array;
  readonly end: Float64Array;
  /** Idle time before each stretch. */
  readonly #before: Float64Array;
  readonly total: number;

  /** Up to the end of the run. */
  constructor(slices: Slices, wall: number) {
    const [start, end] = covered(slices);
    const starts: number[] = [];
    const ends: number[] = [];
    let at = 0;
    for (let i = 0; i < start.length && at < wall; i++) {
      if (start[i]! > at) {
        starts.push(at);
        ends.push(Math.min(start[i]!, wall));
      }
      at = Math.max(at, end[i]!);
    }
    if (wall > at) {
      starts.push(at);
      ends.push(wall);
    }
    this.start = Float64Array.from(starts);
    this.end = Float64Array.from(ends);
    this.#before = new Float64Array(starts.length);
    let total = 0;
    for (let i = 0; i < starts.length; i++) {
      this.#before[i] = total;
      total += ends[i]! - starts[i]!;
    }
    this.total = total;
  }

  /** Idle time before `t`. */
  until(t: number): number {
    const at = firstWhere(0, this.start.length, (n) => this.end[n]! > t);
    return at === this.start.length ? this.total : this.#before[at]! + Math.max(0, t - this.start[at]!);
  }
}

/** Slices of threads that may lie in no other slice, by start. */
function covered(slices: Slices): [Float64Array, Float64Array] {
  const rows = slices.rows.filter(
    ({ group, kind, depth }) => group.kind === "thread" && (kind === "beside" || (kind === "nested" && depth === 0)),
  );
  const [only] = rows;
  if (rows.length === 1 && only) {
    return [slices.start.subarray(only.first, only.last), slices.end.subarray(only.first, only.last)];
  }
  const all = rows.flatMap(({ first, last }) => Array.from({ length: last - first }, (_, n) => first + n));
  all.sort((a, b) => slices.start[a]! - slices.start[b]!);
  return [Float64Array.from(all, (i) => slices.start[i]!), Float64Array.from(all, (i) => slices.end[i]!)];
}
