// Layers that the program measured.

import { count, duration, percent, short } from "../data/quantity";
import type { Layer, Layers } from "../data/report";
import { Name } from "../parts/name";
import { type Column, Table } from "../parts/table";

const time = (id: "mean_ns" | "min_ns" | "max_ns", title: string): Column<Layer> => ({
  id,
  title,
  value: (row) => row[id],
  show: (row) => duration(row[id]),
  isNumber: true,
});

const total = (row: Layer) => (row.n_timed > 0 ? row.total_ns : null);

const COLUMNS: readonly Column<Layer>[] = [
  { id: "layer", title: "Layer", value: (row) => row.name, show: (row) => <Name text={row.name} /> },
  {
    id: "calls",
    title: "Calls",
    hint: "Reports; times are of those that have one",
    value: (row) => row.n_calls,
    show: (row) => (row.n_timed < row.n_calls ? `${count(row.n_timed)} of ${count(row.n_calls)}` : count(row.n_calls)),
    isNumber: true,
  },
  { id: "total_ns", title: "Total", value: total, show: (row) => duration(total(row)), isNumber: true },
  time("mean_ns", "Mean"),
  time("min_ns", "Min"),
  time("max_ns", "Max"),
  {
    id: "share",
    title: "Share",
    hint: "Of the time of all layers; layers within one another both count",
    value: (row) => row.share_ratio,
    show: (row) => percent(row.share_ratio),
    isNumber: true,
  },
  { id: "parameters", title: "Parameters", value: (row) => row.parameters, show: (row) => short(row.parameters), isNumber: true },
];

export function LayersPart({ layers, leftOut }: { layers: Layers; leftOut: number | undefined }) {
  return <Table id="layers" caption="Layers" columns={COLUMNS} rows={layers.each} leftOut={leftOut} first={50} />;
}
