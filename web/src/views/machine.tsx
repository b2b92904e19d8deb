// What the machine did meanwhile: GPUs, processors, memory, disks, network, pressure.

import { useMemo } from "preact/hooks";

import type { GpuUse, Telemetry } from "../../model/page";
import type { RunModel } from "../data/page";
import { duration, number, percent } from "../data/quantity";
import { setState, useAddress } from "../data/state";
import type { Track } from "../data/track";
import { heldUntil } from "../data/tracks";
import { useTimeline } from "../data/use_timeline";
import { peakOf, trackLine, trackOf } from "../parts/track_line";
import { Chart } from "../parts/chart";
import { cut, visible } from "../parts/name";
import { PhaseStrip, phaseBands, usePhases } from "../parts/phases";
import type { Band, Line } from "../parts/plot";
import { useWindow } from "../parts/window";
import { gpuPanels, hostPanels, type Panel } from "./machine_panels";
import type { Picture } from "./view";

export const machine: Picture = {
  id: "machine",
  title: "Machine",
  isShown: ({ pictures }) => hasMachine(pictures.telemetry),
  Body,
};

function hasMachine({ cpu, memory, disk, pressure, network, gpus }: Telemetry): boolean {
  return [cpu, memory, disk, pressure, gpus].some((part) => part !== null) || network.length > 0;
}

function Body({ model }: { model: RunModel }) {
  const { telemetry, wall_ns: wall } = model.pictures;
  const threads = usePhases(model);
  const bands = useMemo(() => phaseBands(threads), [threads]);
  const tracks = useTimeline(model)?.tracks;
  const { gpu: chosen } = useAddress();
  const gpus = telemetry.gpus?.each ?? [];
  const gpu = gpus.find(({ uuid }) => uuid === chosen) ?? gpus[0];
  const host = useMemo(() => hostPanels(telemetry), [telemetry]);
  const ofGpu = useMemo(() => (gpu ? gpuPanels(gpu) : []), [gpu]);
  if (!tracks) {
    return null;
  }
  return (
    <>
      <PhaseStrip model={model} threads={threads} />
      {gpu ? (
        <Group title={gpuTitle(gpu)} panels={ofGpu} wall={wall} tracks={tracks} bands={bands}>
          {gpus.length > 1 ? (
            <select aria-label="GPU" value={gpu.uuid} onChange={(event) => setState({ gpu: event.currentTarget.value })}>
              {gpus.map((each) => (
                <option key={each.uuid} value={each.uuid}>
                  {gpuTitle(each)}
                </option>
              ))}
            </select>
          ) : null}
          <GpuFacts gpu={gpu} />
        </Group>
      ) : null}
      {host.map(({ title, panels }) => (
        <Group key={title} title={title} panels={panels} wall={wall} tracks={tracks} bands={bands} />
      ))}
    </>
  );
}

function gpuTitle({ index, name, uuid }: GpuUse): string {
  return `GPU ${index ?? ""} ${cut(name ?? uuid, 60)}`.replace("  ", " ");
}

/** What has no curve of its own. */
function GpuFacts({ gpu: { energy, throttling, well_used_ratio: wellUsed } }: { gpu: GpuUse }) {
  const facts = [
    wellUsed === null ? null : `at least half used ${percent(wellUsed)} of the time`,
    energy && `${number(Math.round(energy.joules))} J${energy.source === "power" ? " (from power over time)" : ""}`,
    throttling && throttling.any_ns > 0
      ? `clocks held down for ${duration(throttling.any_ns)} of ${duration(throttling.known_ns)} (heat ${duration(throttling.thermal_ns)}, power ${duration(throttling.power_ns)})`
      : throttling && "clocks never held down",
  ];
  return <span class="muted">{facts.filter(Boolean).join(" · ")}</span>;
}

type GroupProps = { title: string; panels: readonly Panel[]; wall: number; tracks: readonly Track[]; bands: readonly Band[]; children?: preact.ComponentChildren };

/** Something was read, and it was not all the time nothing; limits are no readings. */
function isSeen({ values, isDashed }: Line): boolean {
  return !isDashed && Array.from(values).some((value) => value > 0);
}

/** Panels of which the run has at least one line. */
function Group({ title, panels, wall, tracks, bands, children }: GroupProps) {
  const drawn = useMemo(
    () => panels.map((panel) => ({ panel, lines: linesOf(panel, tracks) })).filter(({ lines }) => lines.some(isSeen)),
    [panels, tracks],
  );
  if (drawn.length === 0) {
    return null;
  }
  return (
    <section class="group">
      <h2>
        {title} {children}
      </h2>
      {drawn.map(({ panel, lines }) => (
        <PanelChart key={panel.title} panel={panel} lines={lines} wall={wall} bands={bands} tracks={tracks} />
      ))}
    </section>
  );
}

function PanelChart({ panel, lines, wall, bands, tracks }: { panel: Panel; lines: Line[]; wall: number; bands: readonly Band[]; tracks: readonly Track[] }) {
  const { window } = useWindow(wall);
  const { zero } = useAddress();
  const held = useMemo(() => [...bands, ...heldDown(panel, tracks)], [bands, panel, tracks]);
  const summary = lines
    .map(({ label, figures }) => (figures ? `${label}: at most ${panel.show(figures.max)}` : label))
    .join(". ");
  return (
    <Chart
      title={visible(panel.title)}
      summary={summary}
      lines={lines}
      show={panel.show}
      window={window}
      wall={wall}
      sync="time"
      bands={held}
      limit={zero === "0" ? undefined : panel.limit}
      isFromZero={zero !== "0"}
      isSize={panel.isSize ?? false}
    >
      {held.length > bands.length ? (
        <p class="chart-note">
          <span class="band-mark held-down" /> the driver held clocks down
        </p>
      ) : null}
    </Chart>
  );
}

function linesOf(panel: Panel, tracks: readonly Track[]): Line[] {
  return panel.wanted.flatMap(({ series, subject = "", figures, label, colour, factor, isDashed }): Line[] => {
    const track = trackOf(tracks, series, subject);
    const isOnlyFigures = series === "" && figures;
    const look = { label, colour, figures, isDashed, peak: peakOf(figures), isFilled: panel.wanted.length === 1 };
    return track ? [trackLine(track, look, factor)] : isOnlyFigures ? [{ ...look, at: [], values: [] }] : [];
  });
}

/** Idleness, and clocks that the user chose, are no reason to speak of (see `throttling` in marey-analysis). */
const NO_REASON = 0x1 | 0x2 | 0x100;

/** When the driver said that it held clocks down. */
function heldDown(panel: Panel, tracks: readonly Track[]): Band[] {
  const track = panel.throttledGpu === undefined ? undefined : trackOf(tracks, "gpu.throttle", panel.throttledGpu);
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
