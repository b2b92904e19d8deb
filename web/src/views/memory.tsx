// Memory over time, under the phases: what is held, how fragmented that is, and what snapshots say of the allocator.

import { useMemo } from "preact/hooks";

import type { GpuUse, Memory, Telemetry } from "../../model/page";
import type { RunModel } from "../data/page";
import { bytes, moment, percent } from "../data/quantity";
import { type Track, useTimeline } from "../data/timeline";
import { Chart } from "../parts/chart";
import type { Line } from "../parts/chart_drawing";
import { cut } from "../parts/name";
import { lineOf, type Panel, Panels } from "../parts/panel";
import { PhaseStrip, usePhases } from "../parts/phases";
import { Snapshots } from "./snapshots";
import type { Picture } from ".";

export const memory: Picture = {
  id: "memory",
  title: "Memory",
  isShown: ({ pictures: { memory: readings, telemetry, snapshots } }) => {
    const { memory: host, gpus } = telemetry;
    return readings !== null || host !== null || snapshots.length > 0 || (gpus?.each.some((gpu) => gpu.memory_used !== null) ?? false);
  },
  Body,
};

function Body({ model }: { model: RunModel }) {
  const { memory, telemetry, snapshots, wall_ns: wall } = model.pictures;
  const { threads, bands } = usePhases(model);
  const tracks = useTimeline(model)?.tracks;
  const panels = useMemo(() => panelsOf(memory, telemetry, tracks ?? []), [memory, telemetry, tracks]);
  const fragmentation = useMemo(() => (memory ? fragmentationLines(memory) : []), [memory]);
  return (
    <>
      <PhaseStrip wall={wall} threads={threads} />
      <Panels panels={panels} wall={wall} bands={bands} />
      {fragmentation.length > 0 && <Chart title="Fragmentation" lines={fragmentation} show={percent} wall={wall} />}
      <Snapshots snapshots={snapshots} wall={wall} bands={bands} />
    </>
  );
}

const PROCESS = "process";

/** A panel for each place where memory is: each device, and the process with its machine. */
function panelsOf(memory: Memory | null, { memory: host, gpus }: Telemetry, tracks: readonly Track[]): Panel[] {
  const line = lineOf.bind(null, tracks);
  const peakOf = (source: string) => memory?.sources.find((each) => each.source === source)?.peak;
  const read = (source: string): Line[] => {
    const peak = peakOf(source);
    // Only the highest reading is a figure of the report.
    const figures = peak && { min: null, mean: null, max: peak.allocated_bytes, peak: { start_ns: peak.at_ns, end_ns: peak.at_ns } };
    return [
      ...line("memory.allocated", 0, figures, { subject: source, label: source === PROCESS ? "read" : "allocated" }),
      ...line("memory.reserved", 6, null, { subject: source }),
    ];
  };
  const panel = (title: string, source: string, lines: Line[]): Panel => {
    const peak = peakOf(source);
    const marks = peak ? [{ at: peak.at_ns, label: `peak ${bytes(peak.allocated_bytes)} at ${moment(peak.at_ns)}`, colour: "bad" as const }] : [];
    return { title, unit: "bytes", lines, height: 180, marks };
  };
  const devices = (memory?.sources ?? []).map(({ source }) => source).filter((source) => source !== PROCESS);
  const each = gpus?.each ?? [];
  // With one device and one GPU they are the same; with several nobody said which is which.
  const onlyGpu = each.length === 1 && devices.length === 1 ? each[0] : undefined;
  const ofGpu = (gpu: GpuUse): Line[] => [
    ...line("gpu.memory.used", 1, gpu.memory_used, { subject: gpu.uuid, label: "device" }),
    ...line("gpu.memory.process", 4, gpu.memory_process, { subject: gpu.uuid, label: "ours on it" }),
    ...line("gpu.memory.total", "muted", gpu.memory_total, { subject: gpu.uuid, isDashed: true }),
  ];
  return [
    ...devices.map((source) => panel(cut(source, 40), source, [...read(source), ...(onlyGpu ? ofGpu(onlyGpu) : [])])),
    ...each.filter((gpu) => gpu !== onlyGpu).map((gpu) => panel(`GPU ${cut(gpu.index ?? gpu.uuid, 40)}`, "", ofGpu(gpu))),
    panel("Process and machine", PROCESS, [
      ...read(PROCESS),
      ...line("process.memory.resident", 2, host?.process_resident, { label: "resident" }),
      ...line("children.memory.resident", 1, host?.children_resident),
      ...line("host.memory.used", 3, host?.used),
      ...line("cgroup.memory.used", 6, host?.cgroup_used),
    ]),
  ];
}

/** At labelled readings. */
function fragmentationLines({ labelled, sources }: Memory): Line[] {
  return sources.flatMap(({ source }, at): Line[] => {
    const own = labelled.filter((reading) => reading.source === source && reading.fragmentation_ratio !== null);
    const places = { at: own.map((reading) => reading.at_ns), values: own.map((reading) => reading.fragmentation_ratio ?? NaN) };
    return own.length > 0
      ? [
          { label: cut(source, 30), colour: at, style: "points", ...places },
          { label: "", colour: at, ...places, isDashed: true },
        ]
      : [];
  });
}
