// What happened in a stretch of time: sums by name and by row, clipped to the stretch, as tables: also what those read who cannot see the
// drawing. And when nothing happened.

import { useMemo } from "preact/hooks";

import type { Cell } from "../../model/page";
import { firstWhere } from "../data/columns";
import { duration } from "../data/quantity";
import { CATEGORIES, type Row, type Slices } from "../data/slices";
import { ownTable, Table } from "../parts/table";
import { timeLabel } from "../parts/ticks";

export type Stretch = { from: number; to: number };

const NAMES = { name: "Name", kind: "Kind", calls: "Calls", total_ns: "Total", mean_ns: "Mean", share_ratio: "Share", union_ns: "Union" };
const ROWS = { thread: "Thread", row: "Row", slices: "Slices", busy_ns: "Busy", busy_ratio: "Share" };
const HINTS = {
  calls: "That lie in the range, also in part",
  total_ns: "Sum of their times, as far as they lie in the range",
  share_ratio: "Of the range; above 100 % where several ran at once",
  union_ns: "Time in which at least one was open: less than the total where threads or tasks overlap",
  busy_ns: "Time in the range during which the row has a slice: in a row none overlap",
};

const counted = (value: number): Cell => ({ unit: "count", value });
const time = (ns: number): Cell => ({ unit: "duration", value: Math.round(ns) });

export function RangeTable({ slices, from, to }: { slices: Slices } & Stretch) {
  const [names, rows] = useMemo(() => {
    const sums = measure(slices, from, to);
    const length = Math.max(1, to - from);
    const share = (ns: number): Cell => ({ unit: "ratio", value: ns / length });
    const stretch = [from, to].map((at) => timeLabel(at, length / 1000)).join(" to ");
    const byName = sums.names.map(({ name, category, calls, total, union, isAbout }): Cell[] => {
      const about = (value: Cell): Cell => (isAbout ? { unit: "about", value } : value);
      const kind: Cell = { unit: "text", value: CATEGORIES[category] ?? "" };
      const mean: Cell = calls > 0 ? time(total / calls) : { unit: "absent" };
      return [{ unit: "name", value: name }, kind, about(counted(calls)), about(time(total)), mean, share(total), about(time(union))];
    });
    const byRow = sums.rows.map(({ row, slices, busy }): Cell[] => {
      const name = row.kind === "nested" ? `depth ${row.depth}` : row.kind === "events" ? "events" : `beside ${row.depth}`;
      return [{ unit: "name", value: row.group.title }, { unit: "text", value: name }, counted(slices), time(busy), share(busy)];
    });
    return [ownTable("range", `Range: ${stretch}, ${duration(to - from)}`, NAMES, byName), ownTable("range-rows", "By row", ROWS, byRow)] as const;
  }, [slices, from, to]);
  return (
    <section class="timeline-range" aria-label="Range">
      <Table table={names} hints={HINTS} />
      <Table table={rows} hints={HINTS} />
    </section>
  );
}

type NameSum = {
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

type RowSum = { row: Row; slices: number; busy: number };

type Open = NameSum & { rows: number; lastRow: number };

/** Longest total first. Takes time in proportion to the number of slices in the stretch. */
function measure(slices: Slices, from: number, to: number): { names: NameSum[]; rows: RowSum[] } {
  const names = new Map<string, Open>();
  const rows: RowSum[] = [];
  for (const row of slices.rows) {
    const n = slices.within(row, from, to, (path, count, time, isAbout) => add(names, slices, row, path, count, time, isAbout));
    if (n > 0) {
      rows.push({ row, slices: n, busy: slices.busyUntil(row, to) - slices.busyUntil(row, from) });
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
  return { names: sums, rows };
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
  const found = new Map<string, Interval[]>([...names].map((name) => [name, []]));
  for (const row of slices.rows) {
    for (let i = slices.firstFrom(row, from); i < row.last && slices.isIn(i, from, to); i++) {
      found.get(slices.name(i))?.push([Math.max(slices.start[i]!, from), Math.min(slices.end[i]!, to)]);
    }
  }
  return new Map([...found].map(([name, intervals]) => [name, covered(intervals).reduce((sum, [start, end]) => sum + end - start, 0)]));
}

type Interval = [start: number, end: number];

/** Time during which at least one is open. */
function covered(intervals: Interval[]): Interval[] {
  const found: Interval[] = [];
  for (const [start, end] of intervals.sort((a, b) => a[0] - b[0])) {
    const last = found.at(-1);
    if (last && start <= last[1]) {
      last[1] = Math.max(last[1], end);
    } else {
      found.push([start, end]);
    }
  }
  return found;
}

/**
 * Time under no section of any thread, up to the end of the run.
 *
 *     main     |---a---|      |--b--|
 *     decoder     |---c---|
 *     idle                 |--|      |-----
 */
export class Idle {
  readonly total: number = 0;
  readonly #intervals: (readonly [start: number, end: number, before: number])[] = [];

  constructor(slices: Slices, wall: number) {
    // What may lie in no other slice.
    const rows = slices.rows.filter(({ group, kind, depth }) => group.kind === "thread" && (kind === "beside" || (kind === "nested" && depth === 0)));
    const all = rows.flatMap(({ first, last }) => Array.from({ length: last - first }, (_, n): Interval => [slices.start[first + n]!, slices.end[first + n]!]));
    let at = 0;
    for (const [start, end] of [...covered(all), [wall, wall] as const]) {
      const until = Math.min(start, wall);
      if (until > at) {
        this.#intervals.push([at, until, this.total]);
        this.total += until - at;
      }
      at = Math.max(at, end);
    }
  }

  /** Idle time before `t`. */
  until(t: number): number {
    const found = this.#intervals[firstWhere(0, this.#intervals.length, (n) => this.#intervals[n]![1] > t)];
    return found ? found[2] + Math.max(0, t - found[0]) : this.total;
  }
}
