// The figures that a run is judged by; only those that are known.

import { bytes, count, duration, number, percent, rate } from "../data/quantity";
import { type Model, isOfTrace } from "../data/page";
import type { GpuUse, Iterations, Report, StepSource } from "../data/report";
import { type Fact, known } from "../parts/facts";
import { cut } from "../parts/name";

export function keyFigures(model: Model): Fact[] {
  const { report } = model;
  return known([
    { what: "Wall time", value: duration(report.run.wall_ns) },
    ...(isOfTrace(model) ? stepsOfTraces(model) : steps(report)),
    ...frames(report),
    ...blocks(report),
    ...memory(report),
    ...machine(report),
    ...caches(report),
  ]);
}

/** Most cards of steps: a trace may have many devices. */
const STEP_CARDS = 4;

function stepsOfTraces({ traces }: Model): Fact[] {
  const cards = traces.flatMap(({ file, steps }) => steps.map((step) => ({ file, step })));
  return cards.slice(0, STEP_CARDS).map(({ file, step: { what, n_parts, n_counted, mean_ns, is_of_device } }) => {
    const where = is_of_device ? "busy on the device" : "on the host";
    const which = n_counted < n_parts ? `, of the ${count(n_counted)} after the warm-up` : "";
    return {
      what: cut(traces.length > 1 ? `${what}, ${file}` : what, 80),
      value: `${count(n_parts)}, ${duration(mean_ns)} each`,
      note: `${where}, on average${which}`,
    };
  });
}

function steps({ activity: { diffusion }, iterations }: Report): (Fact | false)[] {
  const steps = diffusion?.steps;
  const turns = loopOf(iterations, steps?.source);
  const name = turns && cut(turns.name, 28);
  const perSecond: Fact | false = !!turns && {
    what: "Speed",
    value: rate(turns.per_second, "it"),
    note: `turns of ${name} in a second of them`,
  };
  if (steps) {
    const { steady, warm_up } = steps;
    return [
      !!steady && {
        what: "Step p50 / p95",
        value: `${duration(steady.p50_ns)} / ${duration(steady.p95_ns)}`,
        note: `${count(steady.count)} steady steps`,
      },
      !!warm_up && { what: "First step", value: duration(warm_up.max_ns), note: "often loads and compiles" },
      perSecond,
    ];
  }
  const percentiles = turns?.calls.percentiles;
  return [
    !!percentiles && {
      what: "Turn p50 / p95",
      value: `${duration(percentiles.p50_ns)} / ${duration(percentiles.p95_ns)}`,
      note: `${count(turns.calls.count)} turns of ${name}`,
    },
    perSecond,
  ];
}

/** The loop that steps are, else the one with most turns. */
function loopOf(loops: readonly Iterations[], source: StepSource | undefined): Iterations | undefined {
  if (source !== undefined) {
    const name = typeof source === "object" && "iterations" in source ? source.iterations : undefined;
    return loops.find((turns) => turns.name === name);
  }
  return [...loops].sort((a, b) => b.calls.count - a.calls.count)[0];
}

function framesPerSecond(rate: number): string {
  return `${rate.toFixed(2)} FPS`;
}

/** One rate of each kind, the one that leaves least out; the diffusion view has them all. */
function frames({ activity: { diffusion, streaming } }: Report): (Fact | false)[] {
  const all = diffusion?.rates ?? [];
  const last = (wanted: string) => all.findLast(({ kind }) => kind === wanted);
  const rates = [last("latent"), last("pixel")].flatMap((rate) =>
    rate ? [{ what: rate.kind === "latent" ? "Latent frames" : "Pixel frames", value: framesPerSecond(rate.per_second), note: cut(rate.meaning, 200) }] : [],
  );
  if (rates.length === 0 && streaming) {
    rates.push({
      what: "Frames delivered",
      value: streaming.frames_per_second === null ? "-" : framesPerSecond(streaming.frames_per_second),
      note: "from the first delivery to the last",
    });
  }
  const delivery = diffusion?.delivery;
  return [
    ...rates,
    !!delivery && { what: "Real-time factor", value: delivery.real_time_factor === null ? "-" : delivery.real_time_factor.toFixed(2), note: "above 1 is faster than playback" },
    !!delivery && {
      what: "Deadlines missed",
      value: `${count(delivery.deadlines_missed)} of ${count(delivery.deadlines_missed + delivery.deadlines_met)}`,
      note: `a viewer at ${number(delivery.playback_per_second)} FPS stood still for ${duration(delivery.stalled_ns)}`,
    },
  ];
}

function blocks({ activity: { diffusion } }: Report): (Fact | false)[] {
  const blocks = diffusion?.blocks;
  return [
    !!blocks && { what: "Time to first block", value: duration(blocks.time_to_first_ns) },
    !!blocks && { what: "Blocks", value: rate(blocks.per_second, "block") },
  ];
}

function memory({ memory, activity: { telemetry } }: Report): (Fact | false)[] {
  const gpu = telemetry.gpus?.together;
  const n = telemetry.gpus?.each.length ?? 0;
  const resident = telemetry.memory?.process_resident;
  const sources = (memory?.sources ?? []).map(({ source, peak, counted_peak_bytes }) => ({
    what: `Peak memory, ${source}`,
    value: bytes(counted_peak_bytes ?? peak.allocated_bytes),
    note: counted_peak_bytes === null ? "highest reading" : "as the source counts it",
  }));
  return [
    ...sources,
    !!gpu?.memory_used && {
      what: n > 1 ? `Peak memory, ${count(n)} GPUs` : "Peak memory, GPU",
      value: bytes(gpu.memory_used.max),
      note: peakNote(gpu.peak_memory_ratio, n),
    },
    !!resident && !sources.some(({ what }) => what.endsWith("process")) && {
      what: "Peak memory, process",
      value: bytes(resident.max),
      note: "resident; sampled",
    },
  ];
}

/** Of several GPUs the memory is added up, and the ratio is that of the fullest. */
function peakNote(ratio: number | null, n: number): string {
  if (n > 1) {
    return ratio === null ? "added up; sampled, by anybody" : `added up; ${percent(ratio)} of the fullest; sampled`;
  }
  return ratio === null ? "sampled, by anybody" : `${percent(ratio)} of what it has; sampled`;
}

/** Most GPUs with a card each. */
const GPU_CARDS = 8;

/** How busy each GPU was: the busiest says nothing of the others. */
function busyGpus(gpus: readonly GpuUse[]): Fact[] {
  const busy = gpus.flatMap(({ index, uuid, utilization }) => (utilization ? [{ name: cut(index ?? uuid, 20), mean: utilization.mean }] : []));
  if (busy.length > GPU_CARDS) {
    const means = busy.map(({ mean }) => mean).sort((a, b) => a - b);
    return [{ what: "GPUs busy", value: `${percent(means[0])} to ${percent(means.at(-1))}`, note: `lowest and highest mean of ${count(busy.length)} GPUs` }];
  }
  const title = (name: string) => (gpus.length > 1 ? `GPU ${name} busy` : "GPU busy");
  return busy.map(({ name, mean }) => ({ what: title(name), value: percent(mean), note: "mean; a kernel ran, as the driver counts" }));
}

function machine({ activity: { telemetry } }: Report): (Fact | false)[] {
  const gpu = telemetry.gpus?.together;
  const energy = gpu?.energy;
  return [
    ...busyGpus(telemetry.gpus?.each ?? []),
    !!energy && {
      what: "GPU energy",
      value: energy.joules < 1000 ? `${number(Math.round(energy.joules))} J` : `${(energy.joules / 1000).toFixed(2)} kJ`,
      note: energy.source === "counter" ? "the GPU counts it" : "power over time",
    },
    !!telemetry.cpu?.busy_ratio && { what: "Processor busy", value: percent(telemetry.cpu.busy_ratio.mean), note: "mean over all cores" },
  ];
}

function caches({ activity: { caches, diffusion } }: Report): (Fact | false)[] {
  const caching = diffusion?.caching;
  return [
    !!caches && { what: "Cache hits", value: percent(caches.all.hit_ratio), note: `${count(caches.all.hits)} of ${count(caches.all.lookups)} lookups` },
    !!caching && { what: "Saved by caches", value: duration(caching.saved_ns), note: `${count(caching.n_cached)} steps were not computed` },
  ];
}
