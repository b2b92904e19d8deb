// Slices of the timeline in rows in which they never overlap, as typed arrays. Times are nanoseconds since the start of the run.
//
//   row      |--0--|  |1||--2---|
//   start    0        9  12
//   before   0        6  9            busy time of the row before each slice
//
// Starts and ends of a row both ascend, so each question is a binary search, however many slices there are.

import type { GroupKind, RowKind, Timeline } from "../../model/page";
import { type Columns, firstWhere } from "./columns";

/** What a slice is, by the digit of its path's category. */
export const CATEGORIES = ["section", "iteration", "step", "block", "session", "event", "gpu"] as const;
export const SESSION = 4;
export const EVENT = 5;
export const GPU = 6;

export const FAILED = 1;
export const PAUSED = 2;
export const OPEN = 4;
export const SUMMARY = 8;

export type Row = IntervalRow & {
  /** Place among all rows. */
  index: number;
  kind: RowKind;
  depth: number;
  group: Group;
  /** All its slices have one call path. */
  isOfOne: boolean;
};

export type Group = { index: number; kind: GroupKind; title: string; rows: Row[] };

/** What a slice that stands for several holds of one call path. */
export type Part = { path: number; count: number; busy: number };

/** A row of what lies one after the other: its first, the one after its last, and the time of all. */
export type IntervalRow = { first: number; last: number; busy: number };

/** In pixels. */
const NARROW = 1.5;

/** Draws those from `i` up to before `next`: they begin in one pixel, and fill a share of it. */
type Column = (i: number, next: number, pixel: number, share: number) => void;

/** What has a start and an end, in rows in which they never overlap. */
export class Intervals {
  readonly start: Float64Array;
  readonly end: Float64Array;
  /** Busy time of the row before each one. */
  readonly before: Float64Array;

  constructor(start: Float64Array, end: Float64Array) {
    this.start = start;
    this.end = end;
    this.before = new Float64Array(start.length);
  }

  /** The first of a row that ends after `t` or begins there or later; `row.last` when there is none. */
  firstFrom(row: IntervalRow, t: number, from = row.first): number {
    const { start, end } = this;
    return firstWhere(from, row.last, (i) => end[i]! > t || start[i]! >= t);
  }

  /** How long those of a row took before `t`; a summary is taken as if its slices were spread evenly. */
  busyUntil(row: IntervalRow, t: number, i = this.firstFrom(row, t)): number {
    if (i >= row.last) {
      return row.busy;
    }
    const before = this.before[i]!;
    const start = this.start[i]!;
    if (start >= t) {
      return before;
    }
    return before + (this.busy(row, i) * (t - start)) / (this.end[i]! - start);
  }

  /** How long a slice of a row took: all slices that a summary stands for. */
  busy(row: IntervalRow, i: number): number {
    return (i + 1 < row.last ? this.before[i + 1]! : row.busy) - this.before[i]!;
  }

  /**
   * What is drawn of a row from `from` to `to`, in a time that does not depend on how many there are: a bar for each one that is wide enough.
   * Of those thinner than a pixel and a half, all that begin in the same pixel are one column, with the time that they fill of it.
   *
   *     slices    |-------| ||| | ||          |------|
   *     pixels   |   |   |   |   |   |   |   |   |   |
   *     drawn     ████████ ▓   ░  ▒            ███████
   */
  draw(row: IntervalRow, from: number, to: number, perPixel: number, bar: (i: number) => void, column: Column): void {
    const { start, end } = this;
    for (let i = this.firstFrom(row, from); i < row.last && start[i]! <= to; ) {
      if (end[i]! - start[i]! >= NARROW * perPixel) {
        bar(i);
        i += 1;
      } else {
        // What began before the window lies in its first pixel.
        const pixel = Math.max(0, Math.floor((start[i]! - from) / perPixel));
        const until = from + (pixel + 1) * perPixel;
        const after = this.firstFrom(row, until, i);
        const next = Math.max(after, i + 1);
        column(i, next, pixel, (this.busyUntil(row, until, after) - this.before[i]!) / perPixel);
        i = next;
      }
    }
  }
}

export class Slices extends Intervals {
  readonly n: number;
  /** The last moment of anything. */
  readonly end_ns: number;
  /** Times are rounded to multiples of it. */
  readonly unit_ns: number;
  readonly path: Uint32Array;
  readonly flags: Uint8Array;
  readonly rows: Row[] = [];
  readonly groups: Group[] = [];
  readonly names: readonly string[];
  readonly #parents: readonly number[];
  /** Of the last slices, those of devices: how long after its launch each began, in units and one more; 0 where that is not known. */
  readonly #delays: Float64Array;
  readonly #categories: string;
  readonly #parts: { slice: Float64Array; path: Uint32Array; count: Float64Array; busy: Float64Array };

  /** Reads what comes first in the columns. */
  constructor(model: Timeline, columns: Columns) {
    const n = model.n_slices;
    super(columns.numbers(n), columns.numbers(n));
    this.n = n;
    this.end_ns = model.end_ns;
    this.unit_ns = model.unit_ns;
    this.names = model.paths.names;
    this.#parents = model.paths.parents;
    this.#categories = model.paths.categories;
    this.path = columns.words(n);
    this.flags = columns.bytes(n);
    const ofDevices = model.groups.filter(({ kind }) => kind === "device").flatMap(({ rows }) => rows);
    this.#delays = columns.numbers(ofDevices.reduce((sum, { n_slices }) => sum + n_slices, 0));
    const parts = model.n_parts;
    this.#parts = {
      slice: summed(columns.numbers(parts)),
      path: columns.words(parts),
      count: columns.numbers(parts),
      busy: columns.numbers(parts),
    };
    let first = 0;
    for (const { kind, title, rows } of model.groups) {
      const group: Group = { index: this.groups.length, kind, title, rows: [] };
      this.groups.push(group);
      for (const { kind, depth, n_slices } of rows) {
        const row: Row = { index: this.rows.length, kind, depth, group, first, last: first + n_slices, busy: 0, isOfOne: true };
        this.#read(row, model.unit_ns);
        group.rows.push(row);
        this.rows.push(row);
        first += n_slices;
      }
    }
  }

  /** Makes starts and ends of gaps and lengths. */
  #read(row: Row, unit: number): void {
    const { start, end, before, flags, path } = this;
    let at = 0;
    let busy = 0;
    for (let i = row.first; i < row.last; i++) {
      const begun = at + start[i]!;
      at = begun + end[i]!;
      start[i] = begun * unit;
      end[i] = at * unit;
      before[i] = busy;
      row.isOfOne &&= path[i] === path[row.first];
      busy += flags[i]! & SUMMARY ? this.#partsBusy(i) : end[i]! - start[i]!;
    }
    row.busy = busy;
  }

  /** Whether a slice that ends after `from` lies in the stretch. */
  isIn(slice: number, from: number, to: number): boolean {
    const start = this.start[slice]!;
    return start < to || (start === to && from === to);
  }

  /** What of a row lies in a stretch, also in part: of each slice its time there, of those put together their share. How many it are. */
  within(row: Row, from: number, to: number, add: (path: number, count: number, time: number, isAbout: boolean) => void): number {
    const first = this.firstFrom(row, from);
    let i = first;
    for (; i < row.last && this.isIn(i, from, to); i++) {
      const [start, end] = [this.start[i]!, this.end[i]!];
      const inside = Math.min(end, to) - Math.max(start, from);
      if (this.flags[i]! & SUMMARY) {
        const share = end > start ? inside / (end - start) : 1;
        this.parts(i).forEach(({ path, count, busy }) => add(path, count * share, busy * share, true));
      } else {
        add(this.path[i]!, 1, inside, false);
      }
    }
    return i - first;
  }

  rowOf(slice: number): Row {
    return this.rows[firstWhere(0, this.rows.length - 1, (row) => this.rows[row]!.last > slice)]!;
  }

  name(slice: number): string {
    return this.names[this.path[slice]!] ?? "";
  }

  /** When the work of a device was launched; null where that is not known, and for any other slice. */
  launchedAt(slice: number): number | null {
    const delay = this.#delays[slice - this.n + this.#delays.length] ?? 0;
    return delay > 0 ? this.start[slice]! - (delay - 1) * this.unit_ns : null;
  }

  /** The call path around another; itself where there is none. */
  parent(path: number): number {
    return this.#parents[path] ?? path;
  }

  category(path: number): number {
    return this.#categories.charCodeAt(path) - 48;
  }

  /** Names from the outermost down to the path's own. */
  callPath(path: number): string[] {
    const names: string[] = [];
    // The root of all is its own parent, and has no name.
    for (let at = path, isLast = false; !isLast && at in this.#parents; at = this.#parents[at]!) {
      isLast = this.#parents[at] === at;
      if (!isLast || at !== 0) {
        names.unshift(this.names[at] ?? "");
      }
    }
    return names;
  }

  /** What a summary stands for; empty for any other slice. */
  parts(slice: number): Part[] {
    const parts: Part[] = [];
    const { path, count, busy } = this.#parts;
    for (let k = this.#firstPart(slice); this.#parts.slice[k] === slice; k++) {
      parts.push({ path: path[k]!, count: count[k]!, busy: busy[k]! });
    }
    return parts;
  }

  #partsBusy(slice: number): number {
    const sum = this.parts(slice).reduce((sum, { busy }) => sum + busy, 0);
    return Math.min(sum, this.end[slice]! - this.start[slice]!);
  }

  #firstPart(slice: number): number {
    return firstWhere(0, this.#parts.slice.length, (k) => this.#parts.slice[k]! >= slice);
  }
}

/** Each number with all before it. */
function summed(steps: Float64Array): Float64Array {
  for (let i = 1; i < steps.length; i++) {
    steps[i]! += steps[i - 1]!;
  }
  return steps;
}
