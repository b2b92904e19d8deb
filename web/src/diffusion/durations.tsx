// Durations side by side: a row each, the columns that every table of durations has.

import { useMemo } from "preact/hooks";

import { count, duration } from "../data/quantity";
import type { Durations } from "../data/report";
import { type Column, Table } from "../parts/table";

/** One row; left out where the run has nothing for it. */
export type Named = { what: string; durations: Durations | null | undefined };

type Row = { what: string; durations: Durations };

const TIMES = [
  ["total_ns", "Total"],
  ["min_ns", "Min"],
  ["mean_ns", "Mean"],
  ["p50_ns", "p50"],
  ["p95_ns", "p95"],
  ["p99_ns", "p99"],
  ["max_ns", "Max"],
  ["std_dev_ns", "Deviation"],
] as const;

const COLUMNS: readonly Column<Row>[] = [
  { id: "what", title: "", value: ({ what }) => what },
  { id: "count", title: "Count", value: ({ durations }) => durations.count, show: ({ durations }) => count(durations.count), isNumber: true },
  ...TIMES.map(
    ([id, title]): Column<Row> => ({
      id,
      title,
      value: ({ durations }) => durations[id],
      show: ({ durations }) => duration(durations[id]),
      isNumber: true,
    }),
  ),
];

export function DurationsTable({ id, caption, rows }: { id: string; caption: string; rows: readonly Named[] }) {
  const known = useMemo(() => rows.filter((row): row is Row => Boolean(row.durations)), [rows]);
  return known.length > 0 ? <Table id={id} caption={caption} columns={COLUMNS} rows={known} /> : null;
}
