// What the machine did meanwhile: GPUs, processors, memory, disks, network, pressure.

import { useMemo } from "preact/hooks";

import type { Figures, GpuUse, Telemetry } from "../../model/page";
import type { RunModel } from "../data/page";
import { duration, number, percent } from "../data/quantity";
import { setState, useAddress } from "../data/state";
import { useTimeline } from "../data/timeline";
import { heldUntil, type Track } from "../data/tracks";
import type { Band } from "../parts/chart_drawing";
import { cut, visible } from "../parts/name";
import type { Colour } from "../parts/palette";
import { type Panel, Panels, trackOf, wanted } from "../parts/panel";
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
  const host = useMemo(() => hostPanels(telemetry), [telemetry]);
  const ofGpu = useMemo(() => (gpu && tracks ? gpuPanels(gpu, tracks) : []), [gpu, tracks]);
  if (!tracks) {
    return null;
  }
  const shared = { wall, tracks, bands };
  return (
    <>
      <PhaseStrip wall={wall} threads={threads} />
      {gpu && (
        <Panels title={gpuTitle(gpu)} panels={ofGpu} {...shared}>
          {gpus.length > 1 && (
            <select aria-label="GPU" value={gpu.uuid} onChange={(event) => setState({ gpu: event.currentTarget.value })}>
              {gpus.map((each) => (
                <option key={each.uuid} value={each.uuid}>
                  {gpuTitle(each)}
                </option>
              ))}
            </select>
          )}
          <GpuFacts gpu={gpu} />
        </Panels>
      )}
      {Object.entries(host).map(([title, panels]) => (
        <Panels key={title} title={title} panels={panels} {...shared} />
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

/** A limit is dashed. */
const LIMIT = { isDashed: true };

function gpuPanels(gpu: GpuUse, tracks: readonly Track[]): Panel[] {
  const of = (series: string, colour: Colour, figures?: Figures | null, more = {}) => wanted(series, colour, figures, { subject: gpu.uuid, ...more });
  const other = (series: string, colour: Colour) => of(series, colour, gpu.others.find(({ name }) => name === series)?.figures);
  return [
    {
      title: "Utilisation",
      unit: "ratio",
      lines: [
        of("gpu.utilization", 0, gpu.utilization),
        other("gpu.sm.active", 2),
        other("gpu.tensor.active", 1),
        other("gpu.dram.active", 3),
        of("gpu.memory_controller.utilization", 4, gpu.memory_controller),
      ],
    },
    {
      title: "Memory",
      unit: "bytes",
      lines: [of("gpu.memory.used", 0, gpu.memory_used), of("gpu.memory.process", 2, gpu.memory_process), of("gpu.memory.total", "muted", gpu.memory_total, LIMIT)],
    },
    { title: "Power", unit: "watts", lines: [of("gpu.power", 1, gpu.power), of("gpu.power.limit", "muted", gpu.power_limit, LIMIT)] },
    {
      title: "Clocks",
      unit: "hertz",
      lines: [of("gpu.clock.sm", 6, gpu.clock_sm), of("gpu.clock.memory", 4, gpu.clock_memory)],
      held: { bands: heldDown(trackOf(tracks, "gpu.throttle", gpu.uuid)), what: "the driver held clocks down" },
    },
    { title: "Temperature", unit: "celsius", lines: [of("gpu.temperature", 5, gpu.temperature)] },
    { title: "PCIe", unit: "bytes_per_second", lines: [of("gpu.pcie.received", 0, gpu.pcie_received), of("gpu.pcie.sent", 1, gpu.pcie_sent)] },
  ];
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

function hostPanels({ cpu, memory, disk, pressure, network }: Telemetry): Record<string, Panel[]> {
  const ofAll = { factor: cpu?.n_cores ? 1 / cpu.n_cores : 1 };
  return {
    Processor: [
      {
        title: cpu?.n_cores ? `All ${cpu.n_cores} cores` : "Cores in use",
        unit: cpu?.n_cores ? "ratio" : "cores",
        lines: [
          wanted("host.cpu.busy", 0, cpu?.busy_ratio, ofAll),
          wanted("host.cpu.iowait", 1, cpu?.iowait_ratio, ofAll),
          wanted("host.cpu.steal", 5, cpu?.steal_ratio, ofAll),
        ],
      },
      {
        title: "This process, cores",
        unit: "cores",
        lines: [
          wanted("", "muted", cpu?.process?.cores, { label: "together" }),
          wanted("process.cpu.user", 0),
          wanted("process.cpu.system", 5),
          wanted("children.cpu.time", 2, cpu?.children_cores),
        ],
      },
      {
        title: "Load average",
        unit: "number",
        lines: (cpu?.load ?? []).map(({ minutes, load }, at) => wanted("host.load", at, load, { subject: minutes, label: `${visible(minutes)} min` })),
      },
    ],
    Memory: [
      {
        title: "Machine and process",
        unit: "bytes",
        lines: [
          wanted("host.memory.used", 0, memory?.used),
          wanted("process.memory.resident", 2, memory?.process_resident),
          wanted("children.memory.resident", 1, memory?.children_resident),
          wanted("cgroup.memory.used", 3, memory?.cgroup_used),
          wanted("cgroup.memory.limit", "muted", memory?.cgroup_limit, LIMIT),
        ],
      },
      { title: "Swap", unit: "bytes", lines: [wanted("host.swap.used", 3, memory?.swap_used), wanted("process.memory.swapped", 5, memory?.process_swapped)] },
      { title: "Swapping", unit: "bytes_per_second", lines: [wanted("host.swap.in", 0, memory?.swapped_in), wanted("host.swap.out", 1, memory?.swapped_out)] },
    ],
    Disks: [
      {
        title: "This process",
        unit: "bytes_per_second",
        lines: [
          wanted("process.disk.read", 0, disk?.process_read),
          wanted("process.disk.written", 1, disk?.process_written),
          wanted("process.io.read", 4, disk?.calls_read, { isDashed: true }),
        ],
      },
      ...(disk?.devices ?? []).flatMap(({ device: subject, read, written, busy_ratio }): Panel[] => [
        { title: subject, unit: "bytes_per_second", lines: [wanted("disk.read", 0, read, { subject }), wanted("disk.written", 1, written, { subject })] },
        { title: `${subject} busy`, unit: "ratio", lines: [wanted("disk.busy", 6, busy_ratio, { subject })] },
      ]),
    ],
    Network: network.map(({ interface: subject, received, sent }) => ({
      title: subject,
      unit: "bytes_per_second",
      lines: [wanted("host.network.received", 0, received, { subject }), wanted("host.network.sent", 1, sent, { subject })],
    })),
    "Waiting for the machine": [
      {
        title: "Some task waited",
        unit: "ratio",
        lines: [
          wanted("pressure.cpu.some", 0, pressure?.cpu_some),
          wanted("pressure.io.some", 1, pressure?.io_some),
          wanted("pressure.memory.some", 3, pressure?.memory_some),
        ],
      },
      { title: "All tasks waited", unit: "ratio", lines: [wanted("pressure.io.full", 1, pressure?.io_full), wanted("pressure.memory.full", 3, pressure?.memory_full)] },
    ],
  };
}
