// Charts of denoising steps, blocks of frames and their delivery.

import { useMemo } from "preact/hooks";

import type { Delivery, Diffusion, StepPoint, Steps } from "../../model/page";
import type { RunModel } from "../data/page";
import { bytes, duration, moment, number, type Show } from "../data/quantity";
import { useAddress } from "../data/state";
import { Chart } from "../parts/chart";
import type { Band, Line } from "../parts/chart_drawing";
import { Choice } from "../parts/controls";
import type { Cell } from "../parts/heatmap";
import type { Colour } from "../parts/palette";
import { PhaseStrip, usePhases } from "../parts/phases";
import { kindsOf, StepMap } from "./step_map";
import type { Picture } from ".";

export const diffusion: Picture = {
  id: "diffusion",
  title: "Diffusion",
  isShown: ({ pictures: { diffusion } }) => Boolean(diffusion?.steps ?? diffusion?.blocks ?? diffusion?.delivery),
  Body,
};

function Body({ model }: { model: RunModel }) {
  const { diffusion, wall_ns: wall } = model.pictures;
  const { threads, bands } = usePhases(model);
  if (!diffusion) {
    return null;
  }
  const { steps, blocks, delivery } = diffusion;
  return (
    <>
      {(steps || delivery) && <PhaseStrip wall={wall} threads={threads} />}
      {steps && <StepChart steps={steps} wall={wall} bands={bands} />}
      {steps && <StepMap steps={steps} />}
      {blocks && <BlockCharts blocks={blocks} diffusion={diffusion} />}
      {delivery && <DeliveryChart delivery={delivery} wall={wall} />}
    </>
  );
}

/** What a step is, and the colour of its point. */
const LOOKS: readonly (readonly [label: string, kind: Cell["kind"], colour: Colour])[] = [
  ["computed", undefined, 0],
  ["cached", "cached", 2],
  ["warm-up", "warm_up", 8],
  ["outlier", "outlier", "warn"],
];

function StepChart({ steps, wall, bands }: { steps: Steps; wall: number; bands: readonly Band[] }) {
  const { by = "time", fit } = useAddress();
  const isByTime = by !== "number";
  const isFitted = fit === "steady";
  const lines = useMemo(() => stepLines(steps, isByTime), [steps, isByTime]);
  const last = Math.max(1, steps.each.length);
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
        lines={lines}
        show={duration}
        window={[-0.5, last - 0.5]}
        wall={isByTime ? wall : null}
        showX={(at) => (isByTime ? moment(at) : `step ${Math.round(at) + 1}`)}
        sync={isByTime ? "time" : "steps"}
        height={200}
        bands={isByTime ? bands : []}
        limit={isFitted && steps.steady ? steps.steady.max_ns * 1.08 : undefined}
      />
    </>
  );
}

function stepLines(steps: Steps, isByTime: boolean): Line[] {
  const kinds = kindsOf(steps);
  const points = (label: string, colour: Colour, of: (step: StepPoint, at: number) => number | null): Line[] => {
    const found = steps.each.map((step, at) => ({ at: isByTime ? step.end_ns : at, value: of(step, at) })).filter(({ value }) => value !== null);
    const line: Line = { label: `${label} (${found.length})`, colour, style: "points", at: found.map(({ at }) => at), values: found.map(({ value }) => value ?? NaN) };
    return found.length > 0 ? [line] : [];
  };
  const lines = LOOKS.flatMap(([label, kind, colour]) => points(label, colour, (step, at) => (kinds[at] === kind ? step.duration_ns : null)));
  return [...lines, ...points("on the GPU", 4, (step) => step.gpu_ns)];
}

/** Autoregressive blocks: each one, and how steps grow with the context. */
function BlockCharts({ blocks, diffusion }: { blocks: Steps; diffusion: Diffusion }) {
  const charts = useMemo(() => blockCharts(blocks, diffusion), [blocks, diffusion]);
  const shown = charts.filter(({ lines }) => lines.some(({ values }) => Array.from(values).some(Number.isFinite)));
  const showX = (at: number) => (blocks.each[Math.round(at)] ? `block ${blocks.each[Math.round(at)]?.step}` : "");
  const window = [-0.5, Math.max(0.5, blocks.each.length - 0.5)] as const;
  return <>{shown.map((chart) => <Chart key={chart.title} {...chart} window={window} wall={null} showX={showX} sync="blocks" height={120} />)}</>;
}

function blockCharts(blocks: Steps, diffusion: Diffusion): { title: string; lines: Line[]; show: Show; isSize?: boolean }[] {
  const { each, steady, memory_bytes: memory } = blocks;
  const at = each.map((_, place) => place);
  const figures = steady && { min: steady.min_ns, mean: steady.mean_ns, max: steady.max_ns };
  const block: Line = { label: "block", colour: 0, style: "bars", at, values: each.map((one) => one.duration_ns ?? NaN), figures };
  const inUse: Line = { label: "in use", colour: 2, at, values: each.map((one) => one.memory_bytes ?? NaN), figures: memory, isFilled: true };
  return [
    { title: "Duration of each block", lines: [block], show: duration },
    { title: "Steps by block", lines: growthLines(blocks, diffusion), show: duration },
    { title: "Memory after each block", lines: [inUse], show: bytes, isSize: true },
  ];
}

/** Computed steady steps over their blocks, and the straight line of the growth. */
function growthLines(blocks: Steps, { steps, growth }: Diffusion): Line[] {
  if (!steps) {
    return [];
  }
  const points = steps.each
    .filter((step) => !step.is_warm_up && !step.is_cached && step.duration_ns !== null && step.block_at !== null)
    .map((step) => ({ at: step.block_at as number, value: step.duration_ns as number }))
    .sort((a, b) => a.at - b.at);
  // Points of one block lie beside one another, so that their places ascend.
  const inBlock = new Map<number, number>();
  const spread = points.map(({ at, value }) => {
    const n = inBlock.get(at) ?? 0;
    inBlock.set(at, n + 1);
    return { at: at - 0.2 + Math.min(0.4, 0.12 * n) + n * 1e-6, value };
  });
  const computed: Line = { label: "computed step", colour: 0, style: "points", at: spread.map((p) => p.at), values: spread.map((p) => p.value) };
  if (!growth) {
    return [computed];
  }
  const [first, last] = growth.between;
  const number = (at: number): number => blocks.each[at]?.step ?? at;
  const grown = growth.per_block_ns * (number(last) - number(first));
  return [computed, { label: "growth", colour: "warn", isDashed: true, at: [first, last], values: [growth.first_ns, growth.first_ns + grown] }];
}

/** Frames that arrived against frames that are played, and when the viewer stood still. */
function DeliveryChart({ delivery, wall }: { delivery: Delivery; wall: number }) {
  const lines = useMemo(() => viewersLines(delivery, wall), [delivery, wall]);
  const stalls = useMemo(() => stallsOf(delivery), [delivery]);
  return (
    <Chart
      title="Frames delivered and played"
      summary={`${stalls.length} times the viewer stood still, ${duration(delivery.stalled_ns)} in all`}
      lines={lines}
      show={(frames) => number(Math.round(frames))}
      wall={wall}
      height={200}
      bands={stalls}
    >
      {stalls.length > 0 && (
        <p class="chart-note">
          <span class="band-mark stalled" /> the viewer stands still
        </p>
      )}
    </Chart>
  );
}

/** When the viewer had nothing to play: from the deadline that was missed to the delivery. */
function stallsOf({ each }: Delivery): Band[] {
  return each.flatMap(({ at_ns: to, deadline_ns: from, stalled_ns: stalled }) =>
    stalled > 0 && from !== null ? [{ from, to, colour: "bad" as const, isStrong: true }] : [],
  );
}

/** Each session has a viewer of its own; the lines of all have the same looks. */
function viewersLines({ each, playback_per_second: playback }: Delivery, wall: number): Line[] {
  const sessions = [...new Set(each.map(({ session }) => session))];
  return sessions.flatMap((own, at) => viewerLines(each.filter(({ session }) => session === own), playback, wall, at === 0));
}

function viewerLines(deliveries: Delivery["each"], playback: number, wall: number, isFirst: boolean): Line[] {
  const first = deliveries[0]?.at_ns ?? 0;
  const [at, sum] = [[first], [0]];
  const played: [number, number][] = [[first, 0]];
  let frames = 0;
  for (const delivery of deliveries) {
    if (delivery.stalled_ns > 0 && delivery.deadline_ns !== null) {
      played.push([delivery.deadline_ns, frames], [delivery.at_ns, frames]);
    }
    frames += delivery.frames;
    at.push(delivery.at_ns);
    sum.push(frames);
  }
  // The viewer goes on to play what it has, until the run ends.
  const [from, before] = played.at(-1) as [number, number];
  const end = Math.max(from, Math.min(from + ((frames - before) / playback) * 1e9, wall));
  played.push([end, before + ((end - from) / 1e9) * playback]);
  at.push(Math.max(end, at.at(-1) as number));
  sum.push(frames);
  return [
    { label: isFirst ? "delivered" : "", colour: 0, style: "steps", at, values: sum },
    { label: isFirst ? "played" : "", colour: 1, at: played.map(([t]) => t), values: played.map(([, n]) => n) },
  ];
}
