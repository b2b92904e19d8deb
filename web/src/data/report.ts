// The shape of a report, as marey-report's model serializes it. Times are nanoseconds since the start of the run, sizes
// bytes, ratios 0 to 1; what is not known is null. Names are as the user gave them: they are shown through `parts/name`.

import type { SnapshotFile } from "./snapshot";

export type Report = {
  run: RunFacts;
  status: RunStatus;
  sections: Sections;
  phases: Phases;
  /** Each loop. */
  iterations: Iterations[];
  memory: Memory | null;
  /** GPU time of sections; null when none was measured. */
  gpu_times: GpuTimes | null;
  /** Most that torch's allocator held during sections. */
  section_peaks: SectionPeak[];
  counters: Counter[];
  attributes: Attributed;
  activity: Activity;
  /** The session that the report is about; null when it is about the whole run. */
  session: SessionScope | null;
  sessions: SessionFacts[];
  under_no_section_ratio: number | null;
  /** Memory snapshots that lie beside the capture; absent when there are none. */
  snapshot_files?: SnapshotFile[];
  quality: Quality;
};

/** Index into the nodes of the run: a call path. `Places` gives its name. */
export type NodeId = number;

export type Interval = { start_ns: number; end_ns: number };

export type Value = null | boolean | number | string;

export type NamedValues = Record<string, Value>;

// --- run ---

export type RunFacts = {
  id: string;
  job_id: string | null;
  host: string | null;
  pid: number;
  rank: number | null;
  world_size: number | null;
  command: string[];
  /** Nanoseconds since 1970; rounded to what a float holds, which is a quarter of a microsecond. */
  start_unix_ns: number;
  wall_ns: number;
  clock: string | null;
  facts: [string, string][];
};

export type RunStatus = {
  kind: "running" | "finished" | "failed" | "killed" | "ended_without_closing";
  signal: number | null;
  reason: string | null;
};

// --- sections ---

export type Sections = {
  wall_ns: number;
  /** Parents before their children, children by inclusive time, longest first. */
  tree: SectionRow[];
  by_name: NameRow[];
  under_no_section: { known: number } | { unknown: { not_recorded_one_by_one: number } | { not_recorded: number } };
};

export type SectionRow = {
  node: NodeId;
  parent: NodeId | null;
  depth: number;
  name: string;
  kind: "section" | "iteration";
  is_detached: boolean;
  calls: CallStats;
  inclusive_ns: number;
  self_ns: number | null;
  share_of_wall_ratio: number | null;
  open: { count: number; so_far_ns: number } | null;
};

export type GpuTimes = {
  /** `CUDA events`; null when the capture does not say. */
  measured_by: string | null;
  n_calls: number;
  n_not_measured: number;
  sections: SectionGpuTime[];
  streams: { device: number; stream: number; n_spans: number; covered_ns: number | null }[];
};

export type SectionGpuTime = {
  node: NodeId;
  n_not_measured: number;
  gpu: { count: number; total_ns: number; mean_ns: number; p50_ns: number; p95_ns: number; max_ns: number };
  delay: { mean_ns: number; max_ns: number } | null;
  delay_error_ns: number | null;
  covered_ns: number | null;
  share_of_wall_ratio: number | null;
};

export type SectionPeak = {
  node: NodeId;
  device: number;
  n_calls: number;
  allocated_bytes: number;
  reserved_bytes: number;
  added_bytes: number;
  growth_bytes: number;
  fragmentation_ratio: number | null;
  inactive_split_bytes: number | null;
};

export type NameRow = {
  name: string;
  calls: CallStats;
  /** 0 also where it is not known: see `is_self_known`. */
  self_ns: number;
  is_self_known: boolean;
  share_of_wall_ratio: number | null;
};

export type CallStats = {
  count: number;
  errors: number;
  total_ns: number;
  mean_ns: number | null;
  min_ns: number | null;
  max_ns: number | null;
  first_ns: number | null;
  rest_mean_ns: number | null;
  last_ns: number | null;
  median_ns: number | null;
  percentiles: Percentiles | null;
  std_dev_ns: number | null;
};

export type Percentiles = {
  p50_ns: number;
  p95_ns: number;
  p99_ns: number;
  /** From every single call; otherwise within ±3.1 %. */
  is_exact: boolean;
};

export type Iterations = {
  name: string;
  calls: CallStats;
  per_second: number | null;
  series: { start_ns: number; duration_ns: number }[];
  /** Turns that are not in `series`, where the list was cut. */
  left_out?: number;
};

// --- phases ---

export type Phases = {
  /** Each row of `sections.tree`. */
  each: Phase[];
  purposes: { purpose: Purpose; covered_ns: number | null; ratio: number | null }[];
};

export type Purpose = "load" | "compile" | "warm_up" | "work";

export type Phase = {
  node: NodeId;
  purpose: Purpose;
  span: Interval | null;
  is_span_exact: boolean;
  /** Share of the span. */
  busy_ratio: number | null;
};

// --- memory, counters, attributes ---

export type Memory = {
  labelled: LabelledReading[];
  sources: SourceMemory[];
  sections: SectionMemory[];
};

export type LabelledReading = {
  at_ns: number;
  label: string;
  source: string;
  allocated_bytes: number;
  reserved_bytes: number | null;
  peak_bytes: number | null;
  fragmentation_ratio: number | null;
};

export type SourceMemory = {
  source: string;
  n_readings: number;
  peak: {
    at_ns: number;
    allocated_bytes: number;
    label: string | null;
    node: NodeId | null;
    fragmentation_ratio: number | null;
  };
  counted_peak_bytes: number | null;
};

export type SectionMemory = {
  node: NodeId;
  source: string;
  n_readings: number;
  peak_allocated_bytes: number;
  largest_growth_bytes: number | null;
  net_growth_bytes: number | null;
  n_calls_missing: number;
};

export type Counter = {
  name: string;
  count: number;
  min: number;
  mean: number;
  max: number;
  last: number;
  series: { start_ns: number; end_ns: number; count: number; min: number; mean: number; max: number }[];
  is_each_reading: boolean;
};

export type Attributed = {
  calls: { node: NodeId; start_ns: number; duration_ns: number; attributes: NamedValues }[];
  n_calls_left_out: number;
  by_section: { node: NodeId; name: string; n_calls: number; values: Value[]; has_more_values: boolean }[];
};

// --- activity ---

export type Activity = {
  start_unix_ns: number;
  stages: Stages;
  telemetry: Telemetry;
  streaming: Streaming | null;
  diffusion: Diffusion | null;
  caches: Caches | null;
  windows: Windows | null;
  cache_timeline: CacheMoment[];
  events: { at_ns: number; name: string; data: NamedValues }[];
  findings: Findings;
};

export type Stages = {
  wall_ns: number;
  covered_ns: number | null;
  /** Longest total first. */
  each: Stage[];
  /** Indices into `each`, largest own share first. */
  bottlenecks: number[];
};

export type Stage = {
  name: string;
  calls: CallStats;
  share_ratio: number | null;
  own_ns: number | null;
  own_ratio: number | null;
};

export type Streaming = {
  n_events: number;
  frames: number | null;
  dropped_frames: number;
  drop_ratio: number | null;
  frames_per_second: number | null;
  delivery_ns: number;
  encoding_mean_ns: number | null;
  latency_mean_ns: number | null;
  buffer: { min: number; mean: number; max: number; last: number } | null;
};

export type Caches = { all: CacheUse; each: CacheUse[] };

export type CacheUse = {
  name: string;
  lookups: number;
  hits: number;
  misses: number;
  evictions: number;
  hit_ratio: number | null;
  miss_ratio: number | null;
  peak_held_bytes: number | null;
};

export type CacheMoment = {
  at_ns: number;
  cache: string;
  outcome: "hit" | "miss" | "eviction" | "lookup";
  step: number | null;
  block: number | null;
  score: number | null;
  threshold: number | null;
  held_bytes: number | null;
  data: NamedValues;
};

export type SessionScope = { name: string; tags: NamedValues; has_ended: boolean; n_sections_missing: number };

export type SessionFacts = {
  name: string;
  start_ns: number;
  duration_ns: number | null;
  tags: NamedValues;
  /** Index into the sessions of the report. */
  parent: number | null;
  n_sections_missing: number;
  activity: Activity;
};

// --- findings ---

export type Findings = {
  /** Most severe first. */
  found: Finding[];
  passed: { rule: string; checks: string; what: string }[];
  unchecked: { rule: string; checks: string; why: string }[];
};

export type Grade = "low" | "medium" | "high";

export type Finding = {
  rule: string;
  category: "performance" | "memory" | "io" | "thermal" | "streaming" | "diffusion" | "cache" | "scaling";
  severity: Grade;
  issue: string;
  remedy: string;
  evidence: { what: string; figure: { value: number; unit: FigureUnit }; limit: number | null }[];
  intervals: Interval[];
  node: NodeId | null;
  saving: {
    estimate_ns: number | null;
    at_most_ns: number | null;
    at_most_bytes: number | null;
    how: string;
  } | null;
  confidence: Grade;
};

export type FigureUnit =
  | "count"
  | "ns"
  | "bytes"
  | "bytes_per_second"
  | "ratio"
  | "per_second"
  | "celsius"
  | "watts"
  | "joules"
  | "hertz"
  | "number";

// --- diffusion ---

export type Diffusion = {
  steps: Steps | null;
  blocks: Blocks | null;
  rates: FrameRate[];
  delivery: Delivery | null;
  caching: StepCaching | null;
  guidance: Guidance | null;
  growth: { n_blocks: number; first_ns: number; last_ns: number; per_block_ns: number } | null;
  clean_passes: { name: string; calls: Durations; share_ratio: number | null } | null;
  models: { each: DiffusionModel[]; parameters: number | null } | null;
};

export type StepSource = "reported" | { iterations: string } | { sections: string };

export type Durations = {
  count: number;
  total_ns: number;
  min_ns: number;
  mean_ns: number;
  max_ns: number;
  p50_ns: number;
  p95_ns: number;
  p99_ns: number;
  std_dev_ns: number | null;
};

export type Spread = { min: number; mean: number; max: number };

export type Steps = {
  source: StepSource;
  n_loops: number;
  per_loop_max: number;
  warm_up: Durations | null;
  steady: Durations | null;
  total_ns: number;
  each: StepPoint[];
  /** Steps that were counted and are not in `each`, because they were not recorded one by one. */
  not_recorded: number;
  /** Indices into `each`. */
  outliers: number[];
  timesteps: Spread | null;
  frames: Spread | null;
};

export type StepPoint = {
  end_ns: number;
  duration_ns: number | null;
  step: number;
  loop_number: number;
  block: number | null;
  timestep: number | null;
  frames: number | null;
  guidance_scale: number | null;
  is_cached: boolean | null;
  /** Time on the GPU; null when not measured. */
  gpu_ns: number | null;
  is_warm_up: boolean;
};

export type Blocks = {
  source: StepSource;
  warm_up: Durations | null;
  steady: Durations | null;
  per_second: number | null;
  each: BlockPoint[];
  /** As in `Steps`. */
  not_recorded: number;
  frames: Spread | null;
  memory_bytes: Spread | null;
  time_to_first_ns: number | null;
  between: Durations | null;
  jitter_ns: number | null;
};

export type BlockPoint = {
  end_ns: number;
  duration_ns: number | null;
  index: number;
  frames: number | null;
  memory_bytes: number | null;
  session: number | null;
};

export type FrameRate = {
  kind: "latent" | "pixel";
  frames: number;
  over_ns: number;
  per_second: number;
  includes_text_encoding: boolean | null;
  includes_vae: boolean | null;
  meaning: string;
};

export type Delivery = {
  playback_per_second: number;
  real_time_factor: number | null;
  time_to_first_ns: number;
  between: Durations | null;
  jitter_ns: number | null;
  each: { at_ns: number; frames: number; deadline_ns: number | null; stalled_ns: number; session: number | null }[];
  deadlines_met: number;
  deadlines_missed: number;
  stalled_ns: number;
  frames_ahead_needed: number;
};

export type StepCaching = {
  cached: Durations | null;
  computed: Durations | null;
  n_cached: number;
  n_computed: number;
  saved_ns: number | null;
};

export type Guidance = {
  guided: Durations | null;
  unguided: Durations | null;
  conditional_ns: number | null;
  unconditional_ns: number | null;
  unconditional_ratio: number | null;
};

export type DiffusionModel = {
  name: string;
  kind: string | null;
  parameters: number | null;
  flops_per_call: number | null;
  achieved_flops_per_second: number | null;
  peak: { flops_per_second: number; of: string } | null;
  utilization_ratio: number | null;
};

// --- the machine ---

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

// --- quality ---

export type Quality = {
  is_complete: boolean;
  /** Completed calls, and those that were recorded one by one. */
  n_calls: number;
  n_recorded: number;
  how_measured: string;
  synchronised: { node: NodeId; n_calls: number; is_at_least: boolean }[];
  losses: { kind: string; count: number; meaning: string; is_only_risk: boolean }[];
  warnings: string[];
  open: { node: NodeId; thread: string | null; start_ns: number; so_far_ns: number }[];
  unavailable: { what: string; why: string }[];
};

// --- windows of profilers ---

export type Windows = {
  each: WindowUse[];
  /** Time for which starting and stopping them held up the program. */
  own_ns: number | null;
};

export type WindowUse = {
  name: string;
  opened_ns: number;
  stopped_ns: number | null;
  stop_reason: string | null;
  is_cut_off: boolean;
  warm_up_steps: number;
  recorded_steps: number;
  recorded_mean_ns: number | null;
  outside_mean_ns: number | null;
  files: { path: string; bytes: number }[];
  failures: { during: string; error: string }[];
  remarks: string[];
};
