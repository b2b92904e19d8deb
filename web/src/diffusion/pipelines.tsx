// Pipelines beside each other: what a single one did is what the run did.

import type { Pipeline } from "../data/report";
import { duration, number, short } from "../data/quantity";
import { Name } from "../parts/name";
import { type Column, Table } from "../parts/table";

const COLUMNS: readonly Column<Pipeline>[] = [
  { id: "pipeline", title: "Pipeline", value: ({ name }) => name, show: ({ name }) => <Name text={name} /> },
  { id: "calls", title: "Calls", value: ({ n_calls }) => n_calls, show: ({ n_calls }) => number(n_calls), isNumber: true },
  { id: "failed", title: "Failed", value: ({ n_failed }) => n_failed, show: ({ n_failed }) => number(n_failed), isNumber: true },
  { id: "cut_off", title: "Cut off", value: ({ n_cut_off }) => n_cut_off, show: ({ n_cut_off }) => number(n_cut_off), isNumber: true },
  { id: "calls_ns", title: "Time", hint: "At least one of its calls went on", value: ({ calls_ns }) => calls_ns, show: ({ calls_ns }) => duration(calls_ns), isNumber: true },
  { id: "parameters", title: "Parameters", value: ({ models }) => models?.parameters ?? null, show: ({ models }) => short(models?.parameters), isNumber: true },
  { id: "steps", title: "Steps", value: ({ n_steps }) => n_steps, show: ({ n_steps }) => number(n_steps), isNumber: true },
  { id: "first", title: "First step", value: ({ warm_up }) => warm_up?.max_ns ?? null, show: ({ warm_up }) => (warm_up ? duration(warm_up.max_ns) : "-"), isNumber: true },
  { id: "p50", title: "Other steps, p50", value: ({ steady }) => steady?.p50_ns ?? null, show: ({ steady }) => (steady ? duration(steady.p50_ns) : "-"), isNumber: true },
  { id: "steps_per_second", title: "Steps a second", value: (row) => row.steps_per_second, show: (row) => short(row.steps_per_second), isNumber: true },
];

export function PipelinesPart({ pipelines }: { pipelines: readonly Pipeline[] }) {
  return <Table id="pipelines" caption="Pipelines" columns={COLUMNS} rows={[...pipelines]} />;
}
