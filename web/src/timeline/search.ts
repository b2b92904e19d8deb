// Slices whose name holds a text.

import { firstWhere } from "../data/columns";
import { type Slices, SUMMARY } from "../data/slices";

export class Search {
  readonly query: string;
  /** Calls found: a summary counts for those in it. */
  readonly count: number;
  readonly #slices: Slices;
  /** Found slices before each slice. */
  readonly #before: Uint32Array;

  /** Upper and lower case are the same. Takes time in proportion to the number of slices. */
  constructor(slices: Slices, query: string) {
    this.query = query;
    this.#slices = slices;
    const wanted = query.toLowerCase();
    const isWanted = Uint8Array.from(slices.names, (name) => Number(name.toLowerCase().includes(wanted)));
    const before = new Uint32Array(slices.n + 1);
    let calls = 0;
    for (let i = 0; i < slices.n; i++) {
      let found = isWanted[slices.path[i]!]!;
      if (slices.flags[i]! & SUMMARY) {
        const parts = slices.parts(i).filter((part) => isWanted[part.path]);
        found = Number(parts.length > 0);
        calls += parts.reduce((sum, part) => sum + part.count, 0);
      } else {
        calls += found;
      }
      before[i + 1] = before[i]! + found;
    }
    this.#before = before;
    this.count = calls;
  }

  isHit(slice: number): boolean {
    return this.#before[slice + 1]! > this.#before[slice]!;
  }

  /** The first found slice of those from `first` up to before `last`; -1 when none is. */
  firstHit(first: number, last: number): number {
    const before = this.#before;
    const n = before[first]!;
    if (before[last]! === n) {
      return -1;
    }
    return firstWhere(first, last - 1, (i) => before[i + 1]! > n);
  }

  /**
   * The found slice that comes next in time after a slice that begins at `start`, with `direction` 1, or the one before it, with
   * -1; after the last the first. -1 when none is found.
   */
  next(start: number, slice: number, direction: 1 | -1): number {
    const starts = this.#slices.start;
    const order = (a: number, i: number, b: number, k: number) => (a === b ? i - k : a - b) * direction;
    let nearest = -1;
    let first = -1;
    for (let i = 0; i < this.#slices.n; i++) {
      if (!this.isHit(i)) {
        continue;
      }
      const at = starts[i]!;
      if (first < 0 || order(at, i, starts[first]!, first) < 0) {
        first = i;
      }
      if (order(at, i, start, slice) > 0 && (nearest < 0 || order(at, i, starts[nearest]!, nearest) < 0)) {
        nearest = i;
      }
    }
    return nearest >= 0 ? nearest : first;
  }

  /** Which of the found slices, counted by time from 1, this one is. */
  place(slice: number): number {
    const { start } = this.#slices;
    let place = 1;
    for (let i = 0; i < this.#slices.n; i++) {
      if (this.isHit(i) && (start[i]! < start[slice]! || (start[i] === start[slice] && i < slice))) {
        place += 1;
      }
    }
    return place;
  }

  /** Found slices: a summary is one. */
  get slices(): number {
    return this.#before[this.#slices.n]!;
  }
}
