// Labelled readings with their fragmentation.

import { useMemo } from "preact/hooks";

import { bytes, moment, percent } from "../data/quantity";
import type { LabelledReading, Memory, Report } from "../data/report";
import { useAddress } from "../data/state";
import { Chart } from "../parts/chart";
import { TimeLink } from "../parts/link";
import { cut, Name } from "../parts/name";
import type { Line } from "../parts/plot";
import { type Column, Table } from "../parts/table";
import { useWindow } from "../parts/window";

export function Fragmentation({ report, memory }: { report: Report; memory: Memory }) {
  const wall = report.run.wall_ns;
  const { window } = useWindow(wall);
  const { zero } = useAddress();
  const lines = useMemo(() => fragmentationLines(memory), [memory]);
  return lines.length > 0 ? (
    <Chart
      title="Fragmentation"
      summary={lines.map((line) => `${line.label}: ${line.at.length} readings`).join(", ")}
      lines={lines}
      show={percent}
      window={window}
      wall={wall}
      sync="time"
      isFromZero={zero !== "0"}
    />
  ) : null;
}

function fragmentationLines({ labelled, sources }: Memory): Line[] {
  return sources.flatMap(({ source }, at): Line[] => {
    const own = labelled.filter((reading) => reading.source === source && reading.fragmentation_ratio !== null);
    const places = { at: own.map((reading) => reading.at_ns), values: own.map((reading) => reading.fragmentation_ratio ?? NaN) };
    return own.length > 0
      ? [
          { label: cut(source, 30), colour: at, style: "points", ...places },
          { label: "", colour: at, ...places, isDashed: true },
        ]
      : [];
  });
}

const READINGS: readonly Column<LabelledReading>[] = [
  { id: "label", title: "Label", value: (row) => row.label, show: (row) => <Name text={row.label} limit={48} /> },
  { id: "source", title: "Source", value: (row) => row.source },
  {
    id: "at_ns",
    title: "At",
    value: (row) => row.at_ns,
    show: (row) => (
      <TimeLink from={Math.max(0, row.at_ns - 50e6)} to={row.at_ns + 50e6}>
        {moment(row.at_ns)}
      </TimeLink>
    ),
    isNumber: true,
  },
  { id: "allocated_bytes", title: "In use", value: (row) => row.allocated_bytes, show: (row) => bytes(row.allocated_bytes), isNumber: true },
  { id: "reserved_bytes", title: "Reserved", value: (row) => row.reserved_bytes, show: (row) => bytes(row.reserved_bytes), isNumber: true },
  { id: "peak_bytes", title: "Peak so far", value: (row) => row.peak_bytes, show: (row) => bytes(row.peak_bytes), isNumber: true },
  {
    id: "fragmentation_ratio",
    title: "Fragmented",
    hint: "Share of what the allocator holds that no tensor uses",
    value: (row) => row.fragmentation_ratio,
    show: (row) => percent(row.fragmentation_ratio),
    isNumber: true,
  },
];

export function Readings({ memory }: { memory: Memory }) {
  return memory.labelled.length > 0 ? <Table id="memory-readings" caption="Labelled readings" columns={READINGS} rows={memory.labelled} /> : null;
}
