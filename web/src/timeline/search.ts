// Slices that were searched for.

import { firstWhere } from "../data/columns";
import { type Slices, SUMMARY } from "../data/slices";

export class Search {
  readonly query: string;
  /** Calls found: a summary counts for those in it. */
  readonly count: number;
  readonly #slices: Slices;
  /** Found slices before each slice. */
  readonly #before: Uint32Array;
  #order: readonly number[] | null = null;

  /** Those whose name holds a text; upper and lower case are the same. */
  static holding(slices: Slices, query: string): Search {
    const wanted = query.toLowerCase();
    return new Search(slices, query, (name) => name.toLowerCase().includes(wanted));
  }

  /** Those with a wanted name. Takes time in proportion to the number of slices. */
  constructor(slices: Slices, query: string, isOne: (name: string) => boolean) {
    this.query = query;
    this.#slices = slices;
    const isWanted = Uint8Array.from(slices.names, (name) => Number(isOne(name)));
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
   * -1; after the last the first. None when none is found.
   */
  next(start: number, slice: number, direction: 1 | -1): number | undefined {
    const order = this.#inOrder();
    return direction === 1 ? order[this.#firstFrom(start, slice + 1) % order.length] : order.at(this.#firstFrom(start, slice) - 1);
  }

  /** Which of the found slices, counted by time from 1, this one is. */
  place(slice: number): number {
    return this.#firstFrom(this.#slices.start[slice]!, slice) + 1;
  }

  /** Found slices by time. */
  #inOrder(): readonly number[] {
    const { n, start } = this.#slices;
    return (this.#order ??= Array.from({ length: n }, (_, i) => i).filter((i) => this.isHit(i)).sort((a, b) => start[a]! - start[b]! || a - b));
  }

  /** How many found ones come before a slice that begins at `start`. */
  #firstFrom(start: number, slice: number): number {
    const order = this.#inOrder();
    const isAfter = (i: number) => this.#slices.start[i]! > start || (this.#slices.start[i] === start && i >= slice);
    return firstWhere(0, order.length, (n) => isAfter(order[n]!));
  }
}
