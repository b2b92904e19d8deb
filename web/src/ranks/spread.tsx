// Columns of a figure over ranks.

import { duration, percent } from "../data/quantity";
import type { Job, OverRanks } from "../data/ranks";
import type { Column } from "../parts/table";
import { rankName } from "./words";

export function spreadColumns<Row>(job: Job, of: (row: Row) => OverRanks): Column<Row>[] {
  const time = (id: string, title: string, value: (over: OverRanks) => number): Column<Row> => ({
    id,
    title,
    isNumber: true,
    value: (row) => value(of(row)),
    show: (row) => duration(value(of(row))),
  });
  return [
    time("min_ns", "Min", (over) => over.min_ns),
    time("median_ns", "Median", (over) => over.median_ns),
    time("max_ns", "Max", (over) => over.max_ns),
    time("spread_ns", "Spread", (over) => over.spread_ns),
    { id: "spread_ratio", title: "Of median", isNumber: true, value: (row) => of(row).spread_ratio, show: (row) => percent(of(row).spread_ratio) },
    {
      id: "slowest",
      title: "Slowest",
      value: (row) => job.members[of(row).slowest]?.rank ?? rankName(job, of(row).slowest),
      // Where all are equal none is the slowest.
      show: (row) => (of(row).spread_ns === 0 ? "-" : rankName(job, of(row).slowest)),
    },
  ];
}
