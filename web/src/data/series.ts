// What series are called: the same words in the machine view and on the timeline.

import type { Track } from "./tracks";

/** Of which part of the machine a series is. On the timeline the parts stand in this order. */
export const PARTS = ["GPU", "Processor", "Memory", "Disks", "Network", "Waiting for the machine"] as const;

export type Part = (typeof PARTS)[number];

/** `panel`: what it is shown together with; `word`: what it is called there. */
export type Words = { part: Part; panel: string; word: string };

/** By the name of the series, see `docs/measurement.md`; in the order of the machine view. */
const SERIES = new Map<string, Words>([
  ...of("GPU", "Utilisation", {
    "gpu.utilization": "a kernel ran",
    "gpu.sm.active": "multiprocessors",
    "gpu.sm.occupancy": "warps",
    "gpu.tensor.active": "tensor cores",
    "gpu.dram.active": "memory bandwidth",
    "gpu.memory_controller.utilization": "memory controller busy",
    "gpu.fp16.active": "fp16 units",
    "gpu.fp32.active": "fp32 units",
    "gpu.fp64.active": "fp64 units",
  }),
  ...of("GPU", "Memory", {
    "gpu.memory.used": "used by all",
    "gpu.memory.process": "this process",
    "gpu.memory.total": "there is",
  }),
  ...of("GPU", "Power", { "gpu.power": "taken", "gpu.power.limit": "limit", "gpu.energy": "energy" }),
  ...of("GPU", "Clocks", { "gpu.clock.sm": "processors", "gpu.clock.memory": "memory", "gpu.throttle": "held down" }),
  ...of("GPU", "Temperature", { "gpu.temperature": "chip" }),
  ...of("GPU", "PCIe", { "gpu.pcie.received": "from the host", "gpu.pcie.sent": "to the host" }),
  ...of("GPU", "Memory errors", { "gpu.ecc.corrected": "corrected", "gpu.ecc.uncorrected": "not corrected" }),
  ...of("Processor", "All cores", {
    "host.cpu.busy": "busy",
    "host.cpu.iowait": "waits for disks",
    "host.cpu.steal": "taken by others",
    "host.context_switches": "switches of tasks",
  }),
  ...of("Processor", "This process", {
    "process.cpu.user": "program",
    "process.cpu.system": "kernel",
    "children.cpu.time": "children",
    "process.cpu.wait": "waited for a processor",
    "process.threads": "threads",
    "process.context_switches.voluntary": "waited",
    "process.context_switches.involuntary": "was put off",
  }),
  ...of("Processor", "Control group", { "cgroup.cpu.throttled": "held back" }),
  ...of("Processor", "Load average", { "host.load": "minutes" }),
  ...of("Memory", "Program", { "memory.allocated": "allocated", "memory.reserved": "reserved" }),
  ...of("Memory", "In use", {
    "host.memory.used": "machine",
    "host.memory.available": "available",
    "process.memory.resident": "process",
    "process.memory.peak": "process, its peak",
    "process.memory.proportional": "process, its share",
    "children.memory.resident": "children",
    "cgroup.memory.used": "control group",
    "cgroup.memory.peak": "its peak",
    "cgroup.memory.limit": "its limit",
  }),
  ...of("Memory", "Swap", { "host.swap.used": "in use", "process.memory.swapped": "of the process" }),
  ...of("Memory", "Swapping", { "host.swap.in": "read back", "host.swap.out": "written" }),
  ...of("Disks", "This process", {
    "process.disk.read": "read",
    "process.disk.written": "written",
    "process.io.read": "read, cache too",
    "process.io.written": "written, cache too",
  }),
  ...of("Disks", "Disk", { "disk.read": "read", "disk.written": "written", "disk.busy": "had work" }),
  ...of("Network", "Network", { "host.network.received": "received", "host.network.sent": "sent" }),
  ...of("Waiting for the machine", "Some waited", {
    "pressure.cpu.some": "for a processor",
    "pressure.io.some": "for a disk",
    "pressure.memory.some": "for memory",
  }),
  ...of("Waiting for the machine", "All waited", { "pressure.io.full": "for a disk", "pressure.memory.full": "for memory" }),
]);

const ORDER = new Map([...SERIES.keys()].map((name, at) => [name, at]));

function of(part: Part, panel: string, words: Record<string, string>): [string, Words][] {
  return Object.entries(words).map(([name, word]) => [name, { part, panel, word }]);
}

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
