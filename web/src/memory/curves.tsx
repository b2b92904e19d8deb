// Memory over time: what the program and its allocators hold, and what the machine and its GPUs have in use.

import { useMemo } from "preact/hooks";

import type { Memory, Telemetry } from "../../model/page";
import type { RunModel } from "../data/page";
import { bytes, moment } from "../data/quantity";
import { useAddress } from "../data/state";
import type { Track } from "../data/track";
import { Chart } from "../parts/chart";
import { cut } from "../parts/name";
import type { Band, Line, Mark } from "../parts/plot";
import { AROUND_NS, type Look, peakOf, trackLine, trackOf } from "../parts/track_line";
import { useWindow } from "../parts/window";

/** One place where memory is: the process with its machine, or a device. */
type PlaceOfMemory = { title: string; lines: Line[]; marks: Mark[] };

export function MemoryCurves({ model, tracks, bands }: { model: RunModel; tracks: readonly Track[]; bands: readonly Band[] }) {
  const { memory, telemetry, wall_ns: wall } = model.pictures;
  const { window } = useWindow(wall);
  const { zero } = useAddress();
  const places = useMemo(() => placesOfMemory(memory, telemetry, tracks), [memory, telemetry, tracks]);
  return (
    <>
      {places.map(({ title, lines, marks }) => (
        <Chart
          key={title}
          title={title}
          summary={lines.map((line) => (line.figures ? `${line.label}: at most ${bytes(line.figures.max)}` : line.label)).join(". ")}
          lines={lines}
          show={bytes}
          isSize
          window={window}
          wall={wall}
          sync="time"
          height={180}
          bands={bands}
          marks={marks}
          isFromZero={zero !== "0"}
        />
      ))}
    </>
  );
}

function placesOfMemory(memory: Memory | null, { memory: host, gpus }: Telemetry, tracks: readonly Track[]): PlaceOfMemory[] {
  const line = (series: string, subject: string, look: Look): Line[] => {
    const track = trackOf(tracks, series, subject);
    return track ? [trackLine(track, look)] : [];
  };
  const read = (source: string): Line[] => [
    ...line("memory.allocated", source, { label: source === process ? "read" : "allocated", colour: 0, ...highest(memory, source) }),
    ...line("memory.reserved", source, { label: "reserved", colour: 6 }),
  ];
  const process = "process";
  const devices = (memory?.sources ?? []).map(({ source }) => source).filter((source) => source !== process);
  const each = gpus?.each ?? [];
  // With one device and one GPU they are the same; with several nobody said which is which.
  const onlyGpu = each.length === 1 && devices.length === 1 ? each[0] : undefined;
  const ofGpu = (gpu: (typeof each)[number]): Line[] => [
    ...line("gpu.memory.used", gpu.uuid, { label: "device", colour: 1, figures: gpu.memory_used, peak: peakOf(gpu.memory_used) }),
    ...line("gpu.memory.process", gpu.uuid, { label: "ours on it", colour: 4, figures: gpu.memory_process, peak: peakOf(gpu.memory_process) }),
    ...line("gpu.memory.total", gpu.uuid, { label: "there is", colour: "muted", figures: gpu.memory_total, isDashed: true }),
  ];
  const places = [
    ...devices.map((source) => ({ title: cut(source, 40), source, lines: [...read(source), ...(onlyGpu ? ofGpu(onlyGpu) : [])] })),
    ...each.filter((gpu) => gpu !== onlyGpu).map((gpu) => ({ title: `GPU ${cut(gpu.index ?? gpu.uuid, 40)}`, source: null, lines: ofGpu(gpu) })),
    {
      title: "Process and machine",
      source: process,
      lines: [
        ...read(process),
        ...line("process.memory.resident", "", { label: "resident", colour: 2, figures: host?.process_resident, peak: peakOf(host?.process_resident) }),
        ...line("children.memory.resident", "", { label: "children", colour: 1, figures: host?.children_resident, peak: peakOf(host?.children_resident) }),
        ...line("host.memory.used", "", { label: "machine", colour: 3, figures: host?.used, peak: peakOf(host?.used) }),
        ...line("cgroup.memory.used", "", { label: "control group", colour: 6, figures: host?.cgroup_used, peak: peakOf(host?.cgroup_used) }),
      ],
    },
  ];
  return places.filter(({ lines }) => lines.length > 0).map((place) => ({ ...place, marks: marksOf(memory, place.source) }));
}

/** Only the highest reading is a figure of the report. */
function highest(memory: Memory | null, source: string): Pick<Look, "figures" | "peak"> {
  const peak = memory?.sources.find((each) => each.source === source)?.peak;
  return peak
    ? { figures: { min: null, mean: null, max: peak.allocated_bytes }, peak: [Math.max(0, peak.at_ns - AROUND_NS), peak.at_ns + AROUND_NS] }
    : {};
}

function marksOf(memory: Memory | null, source: string | null): Mark[] {
  const peak = memory?.sources.find((each) => each.source === source)?.peak;
  return peak ? [{ at: peak.at_ns, label: `peak ${bytes(peak.allocated_bytes)} at ${moment(peak.at_ns)}`, colour: "bad" }] : [];
}
