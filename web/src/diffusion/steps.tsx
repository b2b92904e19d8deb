// Denoising steps: each one, warm-up against steady, and those that took much longer.

import { useMemo } from "preact/hooks";

import { count, duration, moment, number } from "../data/quantity";
import type { Diffusion, StepPoint, StepSource, Steps } from "../data/report";
import { useAddress } from "../data/state";
import { Chart } from "../parts/chart";
import { Choice } from "../parts/choice";
import { TimeLink } from "../parts/link";
import { Name } from "../parts/name";
import type { Colour } from "../parts/palette";
import type { Band, Line } from "../parts/plot";
import { type Column, Table } from "../parts/table";
import { useWindow } from "../parts/window";
import { DurationsTable } from "./durations";
import { Facts } from "./facts";

type StepsProps = { diffusion: Diffusion; steps: Steps; wall: number; bands: readonly Band[]; leftOut: number | undefined };

export function StepsPart({ diffusion, steps, wall, bands, leftOut = 0 }: StepsProps) {
  const { warm_up: warmUp, steady, gpu_warm_up: gpuWarmUp, gpu_steady: gpuSteady, n_loops: loops, per_loop_max: perLoop, timesteps, frames } = steps;
  const caching = diffusion.caching;
  const rows = useMemo(
    () => [
      { what: "warm-up", durations: warmUp },
      { what: "steady", durations: steady },
      { what: "steady, computed", durations: caching?.cached ? caching.computed : null },
      { what: "answered by a cache", durations: caching?.cached },
      { what: "warm-up, on the GPU", durations: gpuWarmUp },
      { what: "steady, on the GPU", durations: gpuSteady },
    ],
    [warmUp, steady, gpuWarmUp, gpuSteady, caching],
  );
  return (
    <section class="part">
      <h2>
        Steps <Source source={steps.source} />
      </h2>
      <Facts
        facts={[
          ["steps", count(steps.each.length + leftOut + steps.not_recorded)],
          ["loops", loops > 1 ? `${count(loops)} of up to ${count(perLoop)}` : null],
          ["all steps", duration(steps.total_ns)],
          ["timesteps", timesteps && `${number(timesteps.max)} to ${number(timesteps.min)}`],
          ["latent frames", frames && (frames.min === frames.max ? number(frames.min) : `${number(frames.min)} to ${number(frames.max)}`)],
          ["cached", caching && caching.n_cached > 0 ? `${count(caching.n_cached)} of ${count(caching.n_cached + caching.n_computed)}` : null],
          ["saved by caches", caching && caching.n_cached > 0 && caching.saved_ns !== null ? duration(caching.saved_ns) : null],
        ]}
      />
      <StepChart steps={steps} wall={wall} bands={bands} />
      {leftOut > 0 ? <p class="muted">{count(leftOut)} more steps are not in this page; figures are of all.</p> : null}
      <DurationsTable id="steps" caption="Warm-up and steady steps" rows={rows} />
      <Outliers steps={steps} />
    </section>
  );
}

/** Where steps or blocks are known from. */
export function Source({ source }: { source: StepSource }) {
  if (source === "reported") {
    return <span class="muted">as the program reported them</span>;
  }
  return (
    <span class="muted">
      {"iterations" in source ? "turns of " : "calls of "}
      <Name text={"iterations" in source ? source.iterations : source.sections} />
    </span>
  );
}

/** What a step is: the look of its point. */
type Look = "computed" | "cached" | "warm-up" | "outlier";

const LOOKS: readonly (readonly [Look, Colour])[] = [
  ["computed", 0],
  ["cached", 2],
  ["warm-up", 8],
  ["outlier", "warn"],
];

function StepChart({ steps, wall, bands }: { steps: Steps; wall: number; bands: readonly Band[] }) {
  const { by = "time", zero, fit } = useAddress();
  const { window } = useWindow(wall);
  const isByTime = by !== "number";
  const isFitted = fit === "steady";
  const lines = useMemo(() => linesOf(steps, isByTime), [steps, isByTime]);
  const last = Math.max(1, steps.each.length);
  const summary = lines.map((line) => `${line.at.length} ${line.label}`).join(", ");
  return (
    <>
      <div class="controls">
        <Choice name="by" value={isByTime ? "time" : "number"} options={[["time", "Over time"], ["number", "One after the other"]]} />
        {steps.steady && steps.warm_up && steps.warm_up.max_ns > steps.steady.max_ns ? (
          <Choice name="fit" value={isFitted ? "steady" : "all"} options={[["all", "All"], ["steady", "Steady steps"]]} />
        ) : null}
      </div>
      <Chart
        title="Duration of each step"
        summary={summary}
        lines={lines}
        show={duration}
        window={isByTime ? window : [-0.5, last - 0.5]}
        wall={isByTime ? wall : null}
        showX={(at) => (isByTime ? moment(at) : `step ${Math.round(at) + 1}`)}
        sync={isByTime ? "time" : "steps"}
        height={200}
        bands={isByTime ? bands : []}
        isFromZero={zero !== "0"}
        limit={isFitted && steps.steady ? steps.steady.max_ns * 1.08 : undefined}
      />
    </>
  );
}

function linesOf(steps: Steps, isByTime: boolean): Line[] {
  const outliers = new Set(steps.outliers);
  const look = (step: StepPoint, at: number): Look =>
    step.is_warm_up ? "warm-up" : outliers.has(at) ? "outlier" : step.is_cached ? "cached" : "computed";
  const measured = steps.each.map((step, at) => ({ step, at })).filter(({ step }) => step.gpu_ns !== null);
  const onGpu: Line = {
    label: `on the GPU (${measured.length})`,
    colour: 4,
    style: "points",
    at: measured.map(({ step, at }) => (isByTime ? step.end_ns : at)),
    values: measured.map(({ step }) => step.gpu_ns ?? NaN),
  };
  const lines = LOOKS.flatMap(([label, colour]) => {
    const of = steps.each.map((step, at) => ({ step, at })).filter(({ step, at }) => step.duration_ns !== null && look(step, at) === label);
    const line: Line = {
      label: `${label} (${of.length})`,
      colour,
      style: "points",
      at: of.map(({ step, at }) => (isByTime ? step.end_ns : at)),
      values: of.map(({ step }) => step.duration_ns ?? NaN),
    };
    return of.length > 0 ? [line] : [];
  });
  return measured.length > 0 ? [...lines, onGpu] : lines;
}

function Outliers({ steps }: { steps: Steps }) {
  const rows = useMemo(() => steps.outliers.flatMap((at) => steps.each[at] ?? []), [steps]);
  const columns = useMemo(() => outlierColumns(rows.some((row) => row.block !== null)), [rows]);
  return rows.length > 0 ? <Table id="outliers" caption="Steady steps that took much longer" columns={columns} rows={rows} /> : null;
}

function outlierColumns(hasBlocks: boolean): Column<StepPoint>[] {
  return [
    { id: "step", title: "Step", value: (row) => row.step, isNumber: true },
    hasBlocks
      ? { id: "block", title: "Block", value: (row) => row.block, isNumber: true }
      : { id: "loop", title: "Loop", value: (row) => row.loop_number, isNumber: true },
    { id: "duration_ns", title: "Took", value: (row) => row.duration_ns, show: (row) => duration(row.duration_ns), isNumber: true },
    { id: "usual_ns", title: "Median of its like", value: (row) => row.usual_ns ?? null, show: (row) => duration(row.usual_ns ?? null), isNumber: true },
    {
      id: "end_ns",
      title: "Ended at",
      value: (row) => row.end_ns,
      show: (row) => (
        <TimeLink from={row.end_ns - (row.duration_ns ?? 0)} to={row.end_ns}>
          {moment(row.end_ns)}
        </TimeLink>
      ),
      isNumber: true,
    },
  ];
}
