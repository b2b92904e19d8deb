// What outer sections used, read at both ends.

import { placesOf } from "../data/places";
import { bytes, count, duration, growth } from "../data/quantity";
import type { Report, UsedResources } from "../data/report";
import { Path } from "../parts/name";
import { type Column, Table } from "../parts/table";

const isWhole = (row: UsedResources) => row.n_measured === row.n_calls;

export function Resources({ report }: { report: Report }) {
  const rows = [...report.used_resources].sort((a, b) => b.process.cpu_ns - a.process.cpu_ns);
  if (rows.length === 0) {
    return null;
  }
  const places = placesOf(report);
  const figure = (
    id: string,
    title: string,
    hint: string,
    value: (row: UsedResources) => number | null,
    show: (value: number | null) => string,
  ): Column<UsedResources> => ({ id, title, hint, isNumber: true, value, show: (row) => show(value(row)) });
  const columns: Column<UsedResources>[] = [
    {
      id: "section",
      title: "Section",
      value: (row) => places.path(row.node).join(" / "),
      show: (row) => <Path names={places.path(row.node)} limit={36} />,
    },
    {
      ...figure("n_measured", "Calls", "Calls that were read, of all that were made", (row) => row.n_measured, count),
      show: (row) => (isWhole(row) ? count(row.n_calls) : `${count(row.n_measured)} of ${count(row.n_calls)}`),
    },
    figure("cpu_ns", "CPU", "Processor time of the process meanwhile", (row) => row.process.cpu_ns, duration),
    figure("thread_cpu_ns", "Own thread", "Processor time of the section's own thread", (row) => row.thread?.cpu_ns ?? null, duration),
    figure("read_bytes", "Read", "Fetched from storage by the process meanwhile", (row) => row.process.read_bytes, bytes),
    figure("written_bytes", "Written", "Made to be written to storage meanwhile", (row) => row.process.written_bytes, bytes),
    figure("growth_bytes", "Memory grew", "Resident memory after less before, over all calls", (row) => row.growth_bytes, growth),
    figure("largest_growth_bytes", "At most", "The largest of these differences", (row) => row.largest_growth_bytes, growth),
  ];
  return (
    <>
      <Table id="section-resources" caption="What outer sections used" columns={columns} rows={rows} />
      <p class="muted">
        Of the whole process while the section was open, read at both ends.
        {!rows.every(isWhole) && " Calls that were read, of all: the others were beyond the budget of readings, and nothing is estimated for them."}
      </p>
    </>
  );
}
