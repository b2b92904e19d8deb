// Each call path over ranks.

import { count, duration } from "../data/quantity";
import type { Job, SectionSpread } from "../data/ranks";
import { Path } from "../parts/name";
import { type Column, Table } from "../parts/table";
import { spreadColumns } from "./spread";

const SHOWN = 30;

export function SectionsPart({ job, leftOut }: { job: Job; leftOut: number }) {
  if (job.sections.length === 0) {
    return null;
  }
  return <Table id="sections" caption="Sections over ranks" columns={columns(job)} rows={job.sections} leftOut={leftOut} first={SHOWN} tools={<span class="muted">totals of ranks; calls of all ranks</span>} />;
}

function columns(job: Job): Column<SectionSpread>[] {
  const hasErrors = job.sections.some(({ errors }) => errors > 0);
  const hasOpen = job.sections.some(({ n_open }) => n_open > 0);
  const number = (id: string, title: string, hint: string, value: (row: SectionSpread) => number): Column<SectionSpread> => ({ id, title, hint, isNumber: true, value, show: (row) => count(value(row)) });
  return [
    { id: "path", title: "Section", value: ({ path }) => path.join(" › "), show: ({ path }) => <Path names={path} /> },
    number("ranks", "Ranks", "Ranks that have it", ({ totals }) => totals?.n_ranks ?? 0),
    number("count", "Calls", "Calls of all ranks", (row) => row.count),
    ...spreadColumns<SectionSpread>(job, ({ totals }) => totals),
    { id: "call_median_ns", title: "Call", hint: "Median of all calls of all ranks", isNumber: true, value: (row) => row.median_ns, show: (row) => duration(row.median_ns) },
    { id: "call_p95_ns", title: "p95", hint: "95 % of calls took no longer", isNumber: true, value: (row) => row.p95_ns, show: (row) => duration(row.p95_ns) },
    { id: "call_max_ns", title: "Longest", hint: "Longest call of all", isNumber: true, value: (row) => row.max_ns, show: (row) => duration(row.max_ns) },
    ...(hasErrors ? [number("errors", "Errors", "Calls that were left by an error", (row) => row.errors)] : []),
    ...(hasOpen ? [number("n_open", "Open", "Ranks in which it was open when they ended", (row) => row.n_open)] : []),
  ];
}
