// Most that torch's allocator held during each call path.

import { bytes, count, percent } from "../data/quantity";
import { placesOf } from "../data/places";
import type { Report, SectionPeak } from "../data/report";
import { Path } from "../parts/name";
import { type Column, Table } from "../parts/table";

export function SectionPeaks({ report }: { report: Report }) {
  const rows = [...report.section_peaks].sort((a, b) => b.allocated_bytes - a.allocated_bytes);
  if (rows.length === 0) {
    return null;
  }
  const places = placesOf(report);
  const signed = (size: number | null) => (size !== null && size > 0 ? `+${bytes(size)}` : bytes(size));
  const figure = (
    id: keyof SectionPeak,
    title: string,
    hint: string,
    show: (value: number | null) => string,
  ): Column<SectionPeak> => ({ id, title, hint, isNumber: true, value: (row) => row[id], show: (row) => show(row[id]) });
  const columns: Column<SectionPeak>[] = [
    {
      id: "section",
      title: "Section",
      value: (row) => places.path(row.node).join(" / "),
      show: (row) => <Path names={places.path(row.node)} limit={36} />,
    },
    { id: "device", title: "GPU", isNumber: true, value: (row) => row.device },
    figure("n_calls", "Calls", "Calls that were measured", count),
    figure("allocated_bytes", "Allocated", "Most in tensors during one call", bytes),
    figure("reserved_bytes", "Reserved", "Most held by the allocator during one call", bytes),
    figure("added_bytes", "Added", "Most in tensors above what was at the begin of the call", bytes),
    figure("growth_bytes", "Growth", "After minus before a call, at most", signed),
    figure("fragmentation_ratio", "Unused", "Part of what was held that no tensor used even at the peak", percent),
    figure("inactive_split_bytes", "Cut up", "Held after a call, and too cut up to be given back", bytes),
  ];
  return (
    <>
      <Table id="section_peaks" caption="Peak memory by section" columns={columns} rows={rows} />
      <p class="muted">By torch's allocator, of the whole process: what other threads allocated meanwhile counts, too.</p>
    </>
  );
}
