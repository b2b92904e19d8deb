// What the machine did meanwhile: GPUs, processors, memory, disks, network, pressure.

import { useMemo } from "preact/hooks";

import type { CpuUse, Figures, GpuUse, Growth, Telemetry } from "../../model/page";
import type { RunModel } from "../data/page";
import { duration, number, percent } from "../data/quantity";
import { type Part, PANELS, PARTS, type SeriesPanel, type Source } from "../data/series";
import { setState, useAddress } from "../data/state";
import { heldUntil, type Track, useTimeline } from "../data/timeline";
import type { Band } from "../parts/chart_drawing";
import { cut, visible } from "../parts/name";
import { lineOf, type Panel, Panels, trackOf } from "../parts/panel";
import { PhaseStrip, usePhases } from "../parts/phases";
import type { Picture } from ".";

export const machine: Picture = {
  id: "machine",
  title: "Machine",
  isShown: ({ pictures: { telemetry: { cpu, memory, disk, pressure, network, gpus } } }) =>
    [cpu, memory, disk, pressure, gpus].some((part) => part !== null) || network.length > 0,
  Body,
};

function Body({ model }: { model: RunModel }) {
  const { telemetry, wall_ns: wall } = model.pictures;
  const { threads, bands } = usePhases(model);
  const tracks = useTimeline(model)?.tracks;
  const { gpu: chosen } = useAddress();
  const gpus = telemetry.gpus?.each ?? [];
  const gpu = gpus.find(({ uuid }) => uuid === chosen) ?? gpus[0];
  const parts = useMemo(() => {
    const all = panelsOf(telemetry, gpu, tracks ?? []);
    return PARTS.map((part) => ({ part, panels: all.filter(([of]) => of === part).map(([, panel]) => panel) }));
  }, [telemetry, gpu, tracks]);
  if (!tracks) {
    return null;
  }
  const shared = { wall, bands };
  return (
    <>
      <PhaseStrip wall={wall} threads={threads} />
      {parts.map(({ part, panels }) => (
        <Panels key={part} title={part === "GPU" && gpu ? gpuTitle(gpu) : part} panels={panels} {...shared}>
          {part === "GPU" && gpu && <OfGpu gpu={gpu} all={gpus} />}
        </Panels>
      ))}
    </>
  );
}

function gpuTitle({ index, name, uuid }: GpuUse): string {
  return `GPU ${index ?? ""} ${cut(name ?? uuid, 60)}`.replace("  ", " ");
}

/** Which one it is, and what has no curve of its own. */
function OfGpu({ gpu, all }: { gpu: GpuUse; all: readonly GpuUse[] }) {
  return (
    <>
      {all.length > 1 && (
        <select aria-label="GPU" value={gpu.uuid} onChange={(event) => setState({ gpu: event.currentTarget.value })}>
          {all.map((each) => (
            <option key={each.uuid} value={each.uuid}>
              {gpuTitle(each)}
            </option>
          ))}
        </select>
      )}
      <span class="muted">{gpuFacts(gpu)}</span>
    </>
  );
}

function gpuFacts({ energy, throttling, well_used_ratio: wellUsed }: GpuUse): string {
  const facts = [
    wellUsed === null ? null : `at least half used ${percent(wellUsed)} of the time`,
    energy && `${number(Math.round(energy.joules))} J${energy.source === "power" ? " (from power over time)" : ""}`,
    throttling && throttling.any_ns > 0
      ? `clocks held down for ${duration(throttling.any_ns)} of ${duration(throttling.known_ns)} (heat ${duration(throttling.thermal_ns)}, power ${duration(throttling.power_ns)})`
      : throttling && "clocks never held down",
  ];
  return facts.filter(Boolean).join(" · ");
}

/** Idleness, and clocks that the user chose, are no reason to speak of (see `throttling` in marey-analysis). */
const NO_REASON = 0x1 | 0x2 | 0x100;

/** When the driver said that it held clocks down. */
function heldDown(track: Track | undefined): Band[] {
  const bands: Band[] = [];
  for (let n = 0; track && n < track.n; n += 1) {
    if (((track.max[n] as number) & ~NO_REASON) !== 0) {
      const [from, to] = [track.start[n] as number, heldUntil(track, n)];
      const last = bands.at(-1);
      last && last.to === from ? (last.to = to) : bands.push({ from, to, colour: "warn", isStrong: true });
    }
  }
  return bands;
}

/** All panels of the machine and of one of its GPUs. */
function panelsOf({ cpu, memory, disk, pressure, network }: Telemetry, gpu: GpuUse | undefined, tracks: readonly Track[]): [Part, Panel][] {
  const others = Object.fromEntries((gpu?.others ?? []).map(({ name, figures }) => [name, figures]));
  const sources: Source[] = [
    ...(gpu ? [{ kind: "gpu" as const, subject: gpu.uuid, figures: { ...gpu, ...others } }] : []),
    { kind: "machine", subject: "", figures: { ...cpu, process_cores: cpu?.process?.cores, ...memory, ...disk, ...pressure } },
    ...(disk?.devices ?? []).map((figures) => ({ kind: "disk" as const, subject: figures.device, figures })),
    ...network.map((figures) => ({ kind: "interface" as const, subject: figures.interface, figures })),
  ];
  const of = (source: Source) => PANELS.filter(({ kind }) => kind === source.kind);
  return sources.flatMap((source) => of(source).map((panel): [Part, Panel] => [panel.part, panelOf(panel, source, cpu, tracks)]));
}

function panelOf(panel: SeriesPanel, { subject, figures }: Source, cpu: CpuUse | null, tracks: readonly Track[]): Panel {
  const { name, unit, chart = name, series } = panel;
  const nCores = name === "All cores" ? cpu?.n_cores : null;
  const looks = Object.entries(series).filter(([, [, colour]]) => colour !== undefined);
  const lines = looks.flatMap(([series, [, colour = 0, key, dashed]]) => {
    const said = (figures as Record<string, Figures | Growth | null>)[key ?? series];
    return lineOf(tracks, series, colour, said, { subject, factor: 1 / (nCores ?? 1), isDashed: dashed !== undefined, isFilled: looks.length === 1 });
  });
  const drawn: Panel = { title: chart.replace("%", () => subject), unit, lines };
  switch (name) {
    case "All cores":
      return nCores ? { title: `All ${nCores} cores`, unit: "ratio", lines } : drawn;
    case "Load average": {
      const load = cpu?.load ?? [];
      const more = (minutes: string) => ({ subject: minutes, label: `${visible(minutes)} min`, isFilled: load.length === 1 });
      return { ...drawn, lines: load.flatMap(({ minutes, load }, at) => lineOf(tracks, "host.load", at, load, more(minutes))) };
    }
    case "Clocks":
      return { ...drawn, held: { bands: heldDown(trackOf(tracks, "gpu.throttle", subject)), what: "the driver held clocks down" } };
    default:
      return drawn;
  }
}
