// What series are called, and what of them stands in one chart: the same words in the machine view and on the timeline.

import type { CpuUse, DeviceUse, DiskUse, GpuUse, HostMemory, InterfaceUse, Pressure } from "../../model/page";
import type { Colour } from "../parts/palette";
import type { Track } from "./timeline";

/** Of which part of the machine a series is. On the timeline the parts stand in this order. */
export const PARTS = ["GPU", "Processor", "Memory", "Disks", "Network", "Waiting for the machine"] as const;

export type Part = (typeof PARTS)[number];

/** What is read of the whole machine, or of each one of these. */
type Kind = "machine" | "gpu" | "disk" | "interface";

/** The figures of one of them by their keys in the model, or by the name of their series. */
export type Source = { kind: Kind; subject: string; figures: object };

type Key = keyof (CpuUse & DeviceUse & DiskUse & GpuUse & HostMemory & InterfaceUse & Pressure) | "process_cores";

/** What a series is called in its panel; how it is drawn in the machine view, if it is, and the key of its figures, where that is not its name. */
type Look = readonly [word: string, colour?: Colour, key?: Key | null, dashed?: "dashed"];

/** The unit of its series; its axis is of sizes, or ends at a whole. */
export type PanelUnit = "bytes" | "bytes_per_second" | "ratio" | "watts" | "hertz" | "celsius" | "cores" | "number";

/** Series that stand together. `chart`: what it is called in the machine view, where it differs; `%` is the subject. */
export type SeriesPanel = { part: Part; name: string; kind: Kind; unit: PanelUnit; chart?: string; series: Readonly<Record<string, Look>> };

type Series = SeriesPanel["series"];

function panel(part: Part, name: string, unit: PanelUnit, series: Series, chart = name, of?: Kind): SeriesPanel {
  const kind = of ?? (part === "GPU" ? "gpu" : "machine");
  return { part, name, kind, unit, chart, series };
}

/** Series by their names, see `docs/explanation/series.md`; in the order of the machine view. */
export const PANELS: readonly SeriesPanel[] = [
  panel("GPU", "Utilisation", "ratio", {
    "gpu.utilization": ["a kernel ran", 0, "utilization"],
    "gpu.sm.active": ["multiprocessors", 2],
    "gpu.sm.occupancy": ["warps"],
    "gpu.tensor.active": ["tensor cores", 1],
    "gpu.dram.active": ["memory bandwidth", 3],
    "gpu.memory_controller.utilization": ["memory controller busy", 4, "memory_controller"],
    "gpu.fp16.active": ["fp16 units"],
    "gpu.fp32.active": ["fp32 units"],
    "gpu.fp64.active": ["fp64 units"],
  }),
  panel("GPU", "Memory", "bytes", {
    "gpu.memory.used": ["used by all", 0, "memory_used"],
    "gpu.memory.process": ["this process", 2, "memory_process"],
    "gpu.memory.total": ["there is", "muted", "memory_total", "dashed"],
  }),
  panel("GPU", "Power", "watts", {
    "gpu.power": ["taken", 1, "power"],
    "gpu.power.limit": ["limit", "muted", "power_limit", "dashed"],
    "gpu.energy": ["energy"],
  }),
  panel("GPU", "Clocks", "hertz", {
    "gpu.clock.sm": ["processors", 6, "clock_sm"],
    "gpu.clock.memory": ["memory", 4, "clock_memory"],
    "gpu.throttle": ["held down"],
  }),
  panel("GPU", "Temperature", "celsius", { "gpu.temperature": ["chip", 5, "temperature"] }),
  panel("GPU", "PCIe", "bytes_per_second", {
    "gpu.pcie.received": ["from the host", 0, "pcie_received"],
    "gpu.pcie.sent": ["to the host", 1, "pcie_sent"],
  }),
  panel("GPU", "Memory errors", "number", { "gpu.ecc.corrected": ["corrected"], "gpu.ecc.uncorrected": ["not corrected"] }),
  panel("Processor", "All cores", "cores", {
    "host.cpu.busy": ["busy", 0, "busy_ratio"],
    "host.cpu.iowait": ["waits for disks", 1, "iowait_ratio"],
    "host.cpu.steal": ["taken by others", 5, "steal_ratio"],
    "host.context_switches": ["switches of tasks"],
  }, "Cores in use"),
  panel("Processor", "This process", "cores", {
    "": ["together", "muted", "process_cores"],
    "process.cpu.user": ["program", 0],
    "process.cpu.system": ["kernel", 5],
    "children.cpu.time": ["children", 2, "children_cores"],
    "process.cpu.wait": ["waited for a processor"],
    "process.threads": ["threads"],
    "process.context_switches.voluntary": ["waited"],
    "process.context_switches.involuntary": ["was put off"],
  }, "This process, cores"),
  panel("Processor", "Control group", "ratio", { "cgroup.cpu.throttled": ["held back"] }),
  panel("Processor", "Load average", "number", { "host.load": ["minutes"] }),
  panel("Memory", "Program", "bytes", { "memory.allocated": ["allocated"], "memory.reserved": ["reserved"] }),
  panel("Memory", "In use", "bytes", {
    "host.memory.used": ["machine", 0, "used"],
    "host.memory.available": ["available"],
    "process.memory.resident": ["process", 2, "process_resident"],
    "process.memory.peak": ["process, its peak"],
    "process.memory.proportional": ["process, its share"],
    "children.memory.resident": ["children", 1, "children_resident"],
    "cgroup.memory.used": ["control group", 3, "cgroup_used"],
    "cgroup.memory.peak": ["its peak"],
    "cgroup.memory.limit": ["its limit", "muted", "cgroup_limit", "dashed"],
  }, "Machine and process"),
  panel("Memory", "Swap", "bytes", {
    "host.swap.used": ["in use", 3, "swap_used"],
    "process.memory.swapped": ["of the process", 5, "process_swapped"],
  }),
  panel("Memory", "Swapping", "bytes_per_second", { "host.swap.in": ["read back", 0, "swapped_in"], "host.swap.out": ["written", 1, "swapped_out"] }),
  panel("Disks", "This process", "bytes_per_second", {
    "process.disk.read": ["read", 0, "process_read"],
    "process.disk.written": ["written", 1, "process_written"],
    "process.io.read": ["read, cache too", 4, "calls_read", "dashed"],
    "process.io.written": ["written, cache too"],
  }),
  panel("Disks", "Disk", "bytes_per_second", { "disk.read": ["read", 0, "read"], "disk.written": ["written", 1, "written"] }, "%", "disk"),
  panel("Disks", "Disk", "ratio", { "disk.busy": ["had work", 6, "busy_ratio"] }, "% busy", "disk"),
  panel("Network", "Network", "bytes_per_second", {
    "host.network.received": ["received", 0, "received"],
    "host.network.sent": ["sent", 1, "sent"],
  }, "%", "interface"),
  panel("Waiting for the machine", "Some waited", "ratio", {
    "pressure.cpu.some": ["for a processor", 0, "cpu_some"],
    "pressure.io.some": ["for a disk", 1, "io_some"],
    "pressure.memory.some": ["for memory", 3, "memory_some"],
  }, "Some task waited"),
  panel("Waiting for the machine", "All waited", "ratio", {
    "pressure.io.full": ["for a disk", 1, "io_full"],
    "pressure.memory.full": ["for memory", 3, "memory_full"],
  }, "All tasks waited"),
];

/** `panel`: what it is shown together with; `word`: what it is called there. */
const SERIES = new Map(
  PANELS.flatMap(({ part, name: panel, series }) => Object.entries(series).map(([name, [word]]) => [name, { part, panel, word }] as const)),
);

const ORDER = new Map([...SERIES.keys()].map((name, at) => [name, at]));

/** What a series is called beside others of its panel; its own name where there is no word for it. */
export function wordOf(series: string): string {
  return SERIES.get(series)?.word ?? series;
}

export function isCore({ kind, name }: Pick<Track, "kind" | "name">): boolean {
  return kind !== "counter" && name.startsWith("core.");
}

/** What a track stands under on the timeline; null where no part has it. Counters have the names that the user gave. */
export function partOf({ kind, name }: Pick<Track, "kind" | "name">): Part | null {
  return kind === "counter" ? null : (SERIES.get(name)?.part ?? (name.startsWith("gpu.") ? "GPU" : null));
}

/** What a track is called where it stands alone; `of` tells it from others of its name. */
export function titleOf({ kind, name, subject }: Pick<Track, "kind" | "name" | "subject">): { title: string; of: string } {
  if (isCore({ kind, name })) {
    return { title: `core ${subject}`, of: "" };
  }
  const words = kind === "counter" ? undefined : SERIES.get(name);
  return { title: words ? `${words.panel}: ${words.word}` : name, of: subject };
}

/** In the order of the machine view; the rest as it comes. */
export function inOrder(tracks: readonly Track[]): Track[] {
  const place = ({ kind, name }: Track) => (kind === "counter" ? undefined : ORDER.get(name)) ?? ORDER.size;
  return [...tracks].sort((a, b) => place(a) - place(b));
}
