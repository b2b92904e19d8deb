// What sampling read of the processor, memory, disks and GPUs: figures beside the curves.

export type Telemetry = {
  cpu: CpuUse | null;
  memory: HostMemory | null;
  disk: DiskUse | null;
  pressure: Pressure | null;
  network: { interface: string; received: Growth | null; sent: Growth | null }[];
  gpus: { each: GpuUse[] } | null;
};

/** When something was read. */
export type Moment = { start_ns: number; end_ns: number };

export type Figures = { n_readings: number; min: number; mean: number; max: number; last: number; peak: Moment };

/** What a counter grew by, and its growth in a second. */
export type Growth = { total: number; over_ns: number; per_second: Figures };

export type CpuUse = {
  n_cores: number | null;
  busy_ratio: Figures | null;
  iowait_ratio: Figures | null;
  steal_ratio: Figures | null;
  process: { cores: Figures | null } | null;
  children_cores: Figures | null;
  load: { minutes: string; load: Figures }[];
};

export type HostMemory = {
  used: Figures | null;
  process_resident: Figures | null;
  process_swapped: Figures | null;
  children_resident: Figures | null;
  cgroup_used: Figures | null;
  cgroup_limit: Figures | null;
  swap_used: Figures | null;
  swapped_in: Growth | null;
  swapped_out: Growth | null;
};

export type DiskUse = {
  process_read: Growth | null;
  process_written: Growth | null;
  calls_read: Growth | null;
  devices: { device: string; read: Growth | null; written: Growth | null; busy_ratio: Figures | null }[];
};

export type Pressure = {
  cpu_some: Figures | null;
  memory_some: Figures | null;
  memory_full: Figures | null;
  io_some: Figures | null;
  io_full: Figures | null;
};

export type GpuUse = {
  uuid: string;
  index: string | null;
  name: string | null;
  memory_used: Figures | null;
  memory_total: Figures | null;
  memory_process: Figures | null;
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
  } | null;
  pcie_sent: Figures | null;
  pcie_received: Figures | null;
  others: { name: string; figures: Figures }[];
};
