// Allocations and releases that the program reported.

import { bytes, count, moment } from "../data/quantity";
import type { Allocated, AllocationPoint, Allocations } from "../data/report";
import { TimeLink } from "../parts/link";
import { Name } from "../parts/name";
import { type Column, Table } from "../parts/table";

type Use = Allocations["uses"][number];

const named = (text: string | null) => (text === null ? "-" : <Name text={text} limit={40} />);
const signed = (size: number) => (size > 0 ? `+${bytes(size)}` : size < 0 ? `-${bytes(-size)}` : bytes(size));
const sum = (id: keyof Allocated, title: string, show: (value: number) => string): Column<Use> => ({
  id,
  title,
  value: (row) => row.sums[id],
  show: (row) => show(row.sums[id]),
  isNumber: true,
});

const USES: readonly Column<Use>[] = [
  { id: "allocator", title: "Allocator", value: (row) => row.allocator, show: (row) => named(row.allocator) },
  { id: "context", title: "Context", value: (row) => row.context, show: (row) => named(row.context) },
  sum("n_allocations", "Allocations", count),
  sum("allocated_bytes", "Allocated", bytes),
  sum("n_releases", "Releases", count),
  sum("released_bytes", "Released", bytes),
  { ...sum("held_bytes", "Held", signed), hint: "Allocated less released" },
];

const EVENTS: readonly Column<AllocationPoint>[] = [
  {
    id: "at_ns",
    title: "At",
    value: (row) => row.at_ns,
    show: ({ at_ns: at }) => (
      <TimeLink from={at - 50e6} to={at + 50e6}>
        {moment(at)}
      </TimeLink>
    ),
    isNumber: true,
  },
  { id: "event", title: "Event", value: (row) => (row.is_release ? "release" : "allocation") },
  { id: "bytes", title: "Size", value: (row) => row.bytes, show: (row) => bytes(row.bytes), isNumber: true },
  { id: "allocator", title: "Allocator", value: (row) => row.allocator, show: (row) => named(row.allocator) },
  { id: "context", title: "Context", value: (row) => row.context, show: (row) => named(row.context) },
];

type AllocationsProps = { allocations: Allocations; leftOut: (list: "each" | "uses") => number | undefined };

export function AllocationsPart({ allocations, leftOut }: AllocationsProps) {
  const { all, uses, each, peak_bytes: peak, peak_at_ns: at } = allocations;
  return (
    <section class="part">
      <h2>Memory events</h2>
      <p class="muted">
        As the program reported them. Allocations: {count(all.n_allocations)}. Releases: {count(all.n_releases)}. Peak held: {bytes(peak)} at {moment(at)}.
      </p>
      <Table id="memory-uses" caption="By allocator and context" columns={USES} rows={uses} leftOut={leftOut("uses")} />
      <Table id="memory-events" caption="Memory events" columns={EVENTS} rows={each} leftOut={leftOut("each")} first={50} />
    </section>
  );
}
