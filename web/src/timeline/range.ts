// What happened in a stretch of time: sums by name and by row, clipped to the stretch.

import { SUMMARY } from "../data/slices";
import type { Row, Slices } from "../data/slices";

export type NameSum = {
  name: string;
  /** What the first of its call paths is: see `CATEGORIES`. */
  category: number;
  /** Calls that lie in the stretch, also in part. */
  calls: number;
  /** Their time in the stretch. */
  total: number;
  /** Time during which at least one was open; less than `total` where threads or tasks overlap, or a name calls itself. */
  union: number;
  /** Some figure is spread evenly over a summary that lies in the stretch in part. */
  isAbout: boolean;
};

export type RowSum = { row: Row; slices: number; busy: number };

export type RangeSums = { from: number; to: number; names: NameSum[]; rows: RowSum[] };

type Open = NameSum & { rows: number; lastRow: number };

/** Longest total first. Takes time in proportion to the number of slices in the stretch. */
export function measure(slices: Slices, from: number, to: number): RangeSums {
  const names = new Map<string, Open>();
  const rows: RowSum[] = [];
  for (const row of slices.rows) {
    const first = slices.firstFrom(row, from);
    let i = first;
    for (; i < row.last && isIn(slices, i, from, to); i++) {
      addSlice(names, slices, row, i, from, to);
    }
    if (i > first) {
      rows.push({ row, slices: i - first, busy: slices.busyUntil(row, to) - slices.busyUntil(row, from) });
    }
  }
  const several = new Set([...names.values()].filter((sum) => sum.rows > 1).map((sum) => sum.name));
  if (several.size > 0) {
    for (const [name, union] of unions(slices, several, from, to)) {
      const sum = names.get(name);
      if (sum) {
        // A summary's calls are not known one by one.
        sum.union = sum.isAbout ? Math.min(union, sum.total) : union;
      }
    }
  }
  const sums = [...names.values()].sort((a, b) => b.total - a.total || b.calls - a.calls);
  return { from, to, names: sums, rows };
}

/** Whether a slice that ends after `from` lies in the stretch. */
function isIn(slices: Slices, i: number, from: number, to: number): boolean {
  const start = slices.start[i]!;
  return start < to || (start === to && from === to);
}

function addSlice(names: Map<string, Open>, slices: Slices, row: Row, i: number, from: number, to: number): void {
  const start = slices.start[i]!;
  const end = slices.end[i]!;
  const inside = Math.min(end, to) - Math.max(start, from);
  if (slices.flags[i]! & SUMMARY) {
    const share = end > start ? inside / (end - start) : 1;
    for (const { path, count, busy } of slices.parts(i)) {
      add(names, slices, row, path, count * share, busy * share, true);
    }
  } else {
    add(names, slices, row, slices.path[i]!, 1, inside, false);
  }
}

function add(names: Map<string, Open>, slices: Slices, row: Row, path: number, calls: number, time: number, isAbout: boolean): void {
  const name = slices.names[path] ?? "";
  let sum = names.get(name);
  if (!sum) {
    sum = { name, category: slices.category(path), calls: 0, total: 0, union: 0, isAbout: false, rows: 0, lastRow: -1 };
    names.set(name, sum);
  }
  sum.calls += calls;
  sum.total += time;
  // In one row nothing overlaps.
  sum.union += time;
  sum.isAbout ||= isAbout && calls % 1 !== 0;
  if (sum.lastRow !== row.index) {
    sum.rows += 1;
    sum.lastRow = row.index;
  }
}

/** Of names that are in several rows: the time that their slices cover together. */
function unions(slices: Slices, names: Set<string>, from: number, to: number): Map<string, number> {
  const found = new Map<string, [number, number][]>([...names].map((name) => [name, []]));
  for (const row of slices.rows) {
    for (let i = slices.firstFrom(row, from); i < row.last && isIn(slices, i, from, to); i++) {
      found.get(slices.name(i))?.push([Math.max(slices.start[i]!, from), Math.min(slices.end[i]!, to)]);
    }
  }
  return new Map([...found].map(([name, stretches]) => [name, union(stretches)]));
}

function union(stretches: [number, number][]): number {
  stretches.sort((a, b) => a[0] - b[0]);
  let covered = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (const [start, end] of stretches) {
    covered += Math.max(0, end - Math.max(start, until));
    until = Math.max(until, end);
  }
  return covered;
}
