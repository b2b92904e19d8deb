// Frames a second with what they mean, models, and what guidance costs.

import { useMemo } from "preact/hooks";

import { count, duration, number, percent, rate, short } from "../data/quantity";
import type { Diffusion, DiffusionModel, FrameRate, Guidance } from "../data/report";
import { Name, cut } from "../parts/name";
import { type Column, Table } from "../parts/table";
import { DurationsTable } from "./durations";
import { Facts } from "./facts";

const RATES: readonly Column<FrameRate>[] = [
  { id: "per_second", title: "Rate", value: (row) => row.per_second, show: (row) => rate(row.per_second, "frames"), isNumber: true },
  { id: "kind", title: "Frames", value: (row) => row.kind },
  { id: "frames", title: "Counted", value: (row) => row.frames, show: (row) => count(row.frames), isNumber: true },
  { id: "over_ns", title: "Over", value: (row) => row.over_ns, show: (row) => duration(row.over_ns), isNumber: true },
  { id: "text_encoding", title: "With text encoding", value: (row) => yesOrNo(row.includes_text_encoding) },
  { id: "vae", title: "With VAE", value: (row) => yesOrNo(row.includes_vae) },
  { id: "meaning", title: "In words", value: (row) => row.meaning, show: (row) => <Name text={row.meaning} limit={200} /> },
];

function yesOrNo(value: boolean | null): string {
  return value === null ? "none recorded" : value ? "yes" : "no";
}

export function RatesPart({ rates }: { rates: readonly FrameRate[] }) {
  return <Table id="rates" caption="Frames a second" columns={RATES} rows={rates} />;
}

export function GuidancePart({ guidance }: { guidance: Guidance }) {
  const rows = useMemo(
    () => [
      { what: "guided steps", durations: guidance.guided },
      { what: "steps without guidance", durations: guidance.unguided },
    ],
    [guidance],
  );
  const { conditional_ns: conditional, unconditional_ns: unconditional } = guidance;
  return (
    <section class="part">
      <h2>Guidance</h2>
      <Facts
        facts={[
          ["conditional passes", conditional === null ? null : duration(conditional)],
          ["unconditional passes", unconditional === null ? null : duration(unconditional)],
          ["unconditional share", guidance.unconditional_ratio === null ? null : percent(guidance.unconditional_ratio)],
          ...guidance.ways.map(({ how, n_generations }) => [cut(how, 80), `${count(n_generations)} generations`] as const),
        ]}
      />
      {conditional !== null && unconditional !== null && conditional + unconditional > 0 ? (
        <div class="split" role="img" aria-label={`${percent(guidance.unconditional_ratio)} of both are unconditional passes`}>
          <span style={{ flexGrow: conditional, background: "var(--c0)" }} />
          <span style={{ flexGrow: unconditional, background: "var(--c1)" }} />
        </div>
      ) : null}
      <DurationsTable id="guidance" caption="Steps with and without guidance" rows={rows} />
    </section>
  );
}

const MODELS: readonly Column<DiffusionModel>[] = [
  { id: "model", title: "Model", value: (row) => row.name, show: (row) => <Name text={row.name} /> },
  { id: "kind", title: "Kind", value: (row) => row.kind, show: (row) => (row.kind === null ? "-" : <Name text={row.kind} limit={40} />) },
  { id: "parameters", title: "Parameters", value: (row) => row.parameters, show: (row) => short(row.parameters), isNumber: true },
  { id: "flops_per_call", title: "FLOP a pass", value: (row) => row.flops_per_call, show: (row) => short(row.flops_per_call), isNumber: true },
  {
    id: "achieved_flops_per_second",
    title: "Achieved FLOP/s",
    value: (row) => row.achieved_flops_per_second,
    show: (row) => short(row.achieved_flops_per_second),
    isNumber: true,
  },
  {
    id: "peak_flops_per_second",
    title: "Peak FLOP/s",
    value: (row) => row.peak?.flops_per_second ?? null,
    show: (row) => short(row.peak?.flops_per_second),
    isNumber: true,
  },
  { id: "peak_of", title: "Peak of", value: (row) => row.peak?.of ?? null, show: (row) => (row.peak ? <Name text={row.peak.of} /> : "-") },
  { id: "mfu", title: "MFU", hint: "Model FLOPs utilisation: achieved over peak", value: (row) => row.utilization_ratio, show: (row) => percent(row.utilization_ratio), isNumber: true },
];

/** Columns of which a model has something. */
export function ModelsPart({ models }: { models: NonNullable<Diffusion["models"]> }) {
  const columns = useMemo(() => MODELS.filter(({ value }, at) => at === 0 || models.each.some((model) => value(model) !== null)), [models]);
  return (
    <>
      <Table id="models" caption="Models" columns={columns} rows={models.each} />
      {models.each.length > 1 && models.parameters !== null ? <p class="muted">{number(models.each.length)} models, {short(models.parameters)} parameters</p> : null}
    </>
  );
}
