// Columns of a figure over ranks.

import { duration, percent } from "../data/quantity";
import type { Job, OverRanks } from "../data/ranks";
import type { Column } from "../parts/table";
import { rankName } from "./words";

export function spreadColumns<Row>(job: Job, of: (row: Row) => OverRanks | null): Column<Row>[] {
  const time = (id: string, title: string, value: (over: OverRanks) => number | null): Column<Row> => ({
    id,
    title,
    isNumber: true,
    value: (row) => known(of(row), value),
    show: (row) => duration(known(of(row), value)),
  });
  return [
    time("min_ns", "Min", (over) => over.min_ns),
    time("median_ns", "Median", (over) => over.median_ns),
    time("max_ns", "Max", (over) => over.max_ns),
    time("spread_ns", "Spread", (over) => ofSeveral(over, over.spread_ns)),
    { id: "spread_ratio", title: "Of median", isNumber: true, value: (row) => known(of(row), ratio), show: (row) => percent(known(of(row), ratio)) },
    {
      id: "slowest",
      title: "Slowest",
      value: (row) => known(of(row), (over) => ofSeveral(over, job.members[over.slowest]?.rank ?? rankName(job, over.slowest))),
      // Where all are equal none is the slowest.
      show: (row) => known(of(row), (over) => (over.spread_ns === 0 ? null : ofSeveral(over, rankName(job, over.slowest)))) ?? "-",
    },
  ];
}

/** One rank has no spread, and is not the slowest. */
function ofSeveral<T>({ n_ranks }: OverRanks, value: T): T | null {
  return n_ranks < 2 ? null : value;
}

const ratio = (over: OverRanks) => ofSeveral(over, over.spread_ratio);

function known<T>(over: OverRanks | null, value: (over: OverRanks) => T): T | null {
  return over && value(over);
}
