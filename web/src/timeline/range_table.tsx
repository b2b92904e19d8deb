// What happened in a chosen stretch of time, as tables: also what those read who cannot see the drawing.

import { useMemo } from "preact/hooks";

import type { Cell } from "../../model/page";
import { CATEGORIES, type Slices } from "../data/slices";
import { duration } from "../data/quantity";
import { ownTable, Table } from "../parts/table";
import { timeLabel } from "../parts/ticks";
import { measure } from "./range";

const NAMES = { name: "Name", kind: "Kind", calls: "Calls", total_ns: "Total", mean_ns: "Mean", share_ratio: "Share", union_ns: "Union" };
const ROWS = { thread: "Thread", row: "Row", slices: "Slices", busy_ns: "Busy", busy_ratio: "Share" };
const HINTS = {
  calls: "That lie in the range, also in part",
  total_ns: "Sum of their times, as far as they lie in the range",
  share_ratio: "Of the range; above 100 % where several ran at once",
  union_ns: "Time in which at least one was open: less than the total where threads or tasks overlap",
  busy_ns: "Time in the range during which the row has a slice: in a row none overlap",
};

const count = (value: number): Cell => ({ unit: "count", value });
const time = (ns: number): Cell => ({ unit: "duration", value: Math.round(ns) });

export function RangeTable({ slices, from, to, title }: { slices: Slices; from: number; to: number; title: string }) {
  const [names, rows] = useMemo(() => {
    const sums = measure(slices, from, to);
    const length = Math.max(1, to - from);
    const share = (ns: number): Cell => ({ unit: "ratio", value: ns / length });
    const stretch = [from, to].map((at) => timeLabel(at, length / 1000)).join(" to ");
    const byName = sums.names.map(({ name, category, calls, total, union, isAbout }): Cell[] => {
      const about = (value: Cell): Cell => (isAbout ? { unit: "about", value } : value);
      const kind: Cell = { unit: "text", value: CATEGORIES[category] ?? "" };
      const mean: Cell = calls > 0 ? time(total / calls) : { unit: "absent" };
      return [{ unit: "name", value: name }, kind, about(count(calls)), about(time(total)), mean, share(total), about(time(union))];
    });
    const byRow = sums.rows.map(({ row, slices, busy }): Cell[] => {
      const name = row.kind === "nested" ? `depth ${row.depth}` : row.kind === "events" ? "events" : `beside ${row.depth}`;
      return [{ unit: "name", value: row.group.title }, { unit: "text", value: name }, count(slices), time(busy), share(busy)];
    });
    return [ownTable("range", `${title}: ${stretch}, ${duration(to - from)}`, NAMES, byName), ownTable("range-rows", "By row", ROWS, byRow)] as const;
  }, [slices, from, to, title]);
  return (
    <section class="timeline-range" aria-label={title}>
      <Table table={names} hints={HINTS} />
      <Table table={rows} hints={HINTS} />
    </section>
  );
}
