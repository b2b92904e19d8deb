// What sampling read of the processor, memory, disks and GPUs.

import type { Interval, NodeId } from "./value";

export type Telemetry = {
  cpu: CpuUse | null;
  memory: HostMemory | null;
  disk: DiskUse | null;
  pressure: Pressure | null;
  network: { interface: string; received: Growth | null; sent: Growth | null }[];
  gpus: Gpus | null;
  samplers: SamplerUse[];
  n_host_readings: number;
  cpu_timeline: { at_ns: number; busy_ratio: number | null; memory_used_bytes: number | null }[];
};

/** When something was read, and the section that was open all that time. */
export type Moment = Interval & { node: NodeId | null };

export type Figures = { n_readings: number; min: number; mean: number; max: number; last: number; peak: Moment };

/** What a counter grew by, and its growth in a second. */
export type Growth = { total: number; over_ns: number; per_second: Figures };

export type SamplerUse = { name: string; late_s: Figures | null; missed: number | null; cpu: Growth | null };

export type CpuUse = {
  n_cores: number | null;
  busy_ratio: Figures | null;
  iowait_ratio: Figures | null;
  steal_ratio: Figures | null;
  cores: { core: string; busy_ratio: Figures }[];
  process: { user_s: number | null; system_s: number | null; cores: Figures | null } | null;
  children_cores: Figures | null;
  throttled: Growth | null;
  load: { minutes: string; load: Figures }[];
  switches: Growth | null;
  voluntary_switches: Growth | null;
  involuntary_switches: Growth | null;
};

export type HostMemory = {
  total_bytes: number | null;
  used: Figures | null;
  available: Figures | null;
  process_resident: Figures | null;
  process_proportional: Figures | null;
  process_swapped: Figures | null;
  children_resident: Figures | null;
  cgroup_used: Figures | null;
  cgroup_limit: Figures | null;
  cgroup_peak: Figures | null;
  swap_used: Figures | null;
  swapped_in: Growth | null;
  swapped_out: Growth | null;
};

export type DiskUse = {
  process_read: Growth | null;
  process_written: Growth | null;
  calls_read: Growth | null;
  calls_written: Growth | null;
  page_cache: { share: number } | "mapped_files" | null;
  devices: { device: string; read: Growth | null; written: Growth | null; busy_ratio: Figures | null }[];
  files: { path: string; cached_ratio: Figures }[];
};

export type Pressure = {
  cpu_some: Figures | null;
  memory_some: Figures | null;
  memory_full: Figures | null;
  io_some: Figures | null;
  io_full: Figures | null;
};

export type Gpus = {
  each: GpuUse[];
  /** All as one. */
  together: GpuUse;
  n_readings: number;
  timeline: GpuPoint[];
};

export type GpuPoint = {
  at_ns: number;
  memory_used_bytes: number | null;
  memory_total_bytes: number | null;
  utilization_ratio: number | null;
  temperature: number | null;
  power: number | null;
};

export type GpuUse = {
  uuid: string;
  index: string | null;
  name: string | null;
  memory_used: Figures | null;
  memory_total: Figures | null;
  memory_process: Figures | null;
  peak_memory_ratio: number | null;
  utilization: Figures | null;
  well_used_ratio: number | null;
  memory_controller: Figures | null;
  temperature: Figures | null;
  power: Figures | null;
  power_limit: Figures | null;
  energy: { joules: number; over_ns: number; source: "counter" | "power" } | null;
  clock_sm: Figures | null;
  clock_memory: Figures | null;
  throttling: {
    thermal_ns: number;
    power_ns: number;
    any_ns: number;
    known_ns: number;
    was_thermal: boolean;
  } | null;
  pcie_sent: Figures | null;
  pcie_received: Figures | null;
  ecc_corrected: Growth | null;
  ecc_uncorrected: Growth | null;
  others: { name: string; figures: Figures }[];
};
