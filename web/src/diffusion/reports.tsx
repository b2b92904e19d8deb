// Deliveries and dropped frames, each as the program reported it.

import { useMemo } from "preact/hooks";

import { count, duration, moment, number } from "../data/quantity";
import type { Delivered, Streaming } from "../data/report";
import { TimeLink } from "../parts/link";
import { type Column, Table } from "../parts/table";

type Row = Delivered & { dropped: number | null };

const COLUMNS: readonly Column<Row>[] = [
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
  { id: "frames", title: "Frames", value: (row) => row.frames, show: (row) => orDash(row.frames, count), isNumber: true },
  { id: "dropped", title: "Dropped", value: (row) => row.dropped, show: (row) => orDash(row.dropped, count), isNumber: true },
  { id: "encoding_ns", title: "Encoding", value: (row) => row.encoding_ns, show: (row) => duration(row.encoding_ns), isNumber: true },
  { id: "network_latency_ns", title: "Network", value: (row) => row.network_latency_ns, show: (row) => duration(row.network_latency_ns), isNumber: true },
  { id: "buffer_occupancy", title: "Viewer's buffer", value: (row) => row.buffer_occupancy, show: (row) => orDash(row.buffer_occupancy, number), isNumber: true },
];

function orDash(value: number | null, show: (value: number) => string): string {
  return value === null ? "-" : show(value);
}

export function ReportsPart({ streaming, leftOut }: { streaming: Streaming; leftOut: number | undefined }) {
  const rows = useMemo(() => rowsOf(streaming), [streaming]);
  const columns = useMemo(() => COLUMNS.filter(({ value }) => rows.some((row) => value(row) !== null)), [rows]);
  return <Table id="delivery-reports" caption="Deliveries as reported" columns={columns} rows={rows} leftOut={leftOut} first={50} />;
}

function rowsOf({ each, drops }: Streaming): Row[] {
  const nothing = { frames: null, encoding_ns: null, network_latency_ns: null, buffer_occupancy: null };
  const dropped = drops.map(({ at_ns, frames }) => ({ ...nothing, at_ns, dropped: frames }));
  const rows: Row[] = [...each.map((delivered) => ({ ...delivered, dropped: null })), ...dropped];
  return rows.sort((a, b) => a.at_ns - b.at_ns);
}
