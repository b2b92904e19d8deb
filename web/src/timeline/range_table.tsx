// What happened in a chosen stretch of time, as tables: also what those read who cannot see the drawing.

import { useMemo } from "preact/hooks";

import { CATEGORIES } from "../data/slices";
import type { Slices } from "../data/slices";
import { count, duration, percent } from "../data/quantity";
import { Name } from "../parts/name";
import { Table } from "../parts/table";
import { momentText } from "./axis";
import { measure } from "./range";
import type { NameSum, RowSum } from "./range";

export function RangeTable({ slices, from, to, title }: { slices: Slices; from: number; to: number; title: string }) {
  const sums = useMemo(() => measure(slices, from, to), [slices, from, to]);
  const length = Math.max(1, to - from);
  const about = (sum: NameSum, text: string) => (sum.isAbout ? `≈ ${text}` : text);
  const rowName = ({ row }: RowSum) => (row.kind === "nested" ? `depth ${row.depth}` : row.kind === "events" ? "events" : `beside ${row.depth}`);
  return (
    <section class="timeline-range" aria-label={title}>
      <Table
        id="range"
        caption={`${title}: ${momentText(from, length / 1000, to)} to ${momentText(to, length / 1000, to)}, ${duration(to - from)}`}
        rows={sums.names}
        columns={[
          { id: "name", title: "Name", value: (sum) => sum.name, show: (sum) => <Name text={sum.name} /> },
          { id: "kind", title: "Kind", value: (sum) => CATEGORIES[sum.category] ?? "" },
          {
            id: "calls",
            title: "Calls",
            hint: "That lie in the range, also in part",
            isNumber: true,
            value: (sum) => sum.calls,
            show: (sum) => about(sum, count(sum.calls)),
          },
          {
            id: "total_ns",
            title: "Total",
            hint: "Sum of their times, as far as they lie in the range",
            isNumber: true,
            value: (sum) => Math.round(sum.total),
            show: (sum) => about(sum, duration(sum.total)),
          },
          {
            id: "mean_ns",
            title: "Mean",
            isNumber: true,
            value: (sum) => (sum.calls > 0 ? Math.round(sum.total / sum.calls) : null),
            show: (sum) => duration(sum.calls > 0 ? sum.total / sum.calls : null),
          },
          {
            id: "share_ratio",
            title: "Share",
            hint: "Of the range; above 100 % where several ran at once",
            isNumber: true,
            value: (sum) => sum.total / length,
            show: (sum) => percent(sum.total / length),
          },
          {
            id: "union_ns",
            title: "Union",
            hint: "Time in which at least one was open: less than the total where threads or tasks overlap",
            isNumber: true,
            value: (sum) => Math.round(sum.union),
            show: (sum) => about(sum, duration(sum.union)),
          },
        ]}
      />
      <Table
        id="range-rows"
        caption="By row"
        rows={sums.rows}
        columns={[
          { id: "thread", title: "Thread", value: ({ row }) => row.group.title, show: ({ row }) => <Name text={row.group.title} /> },
          { id: "row", title: "Row", value: rowName },
          { id: "slices", title: "Slices", isNumber: true, value: (sum) => sum.slices, show: (sum) => count(sum.slices) },
          {
            id: "busy_ns",
            title: "Busy",
            hint: "Time in the range during which the row has a slice: in a row none overlap",
            isNumber: true,
            value: (sum) => Math.round(sum.busy),
            show: (sum) => duration(sum.busy),
          },
          {
            id: "busy_ratio",
            title: "Share",
            isNumber: true,
            value: (sum) => sum.busy / length,
            show: (sum) => percent(sum.busy / length),
          },
        ]}
      />
    </section>
  );
}
