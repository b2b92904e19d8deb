// What pictures of a run draw, as marey-report's html/pictures serializes it. Times are nanoseconds since the start of the run, sizes bytes, ratios
// 0 to 1; what is not known is null. Names are as the user gave them: they are shown through `parts/name`.

import type { Telemetry } from "./telemetry";

export type Pictures = {
  wall_ns: number;
  how_measured: string;
  /** What the timeline does not have. */
  not_drawn: string[];
  /** Parents before their children, children by inclusive time, longest first. */
  call_paths: CallPath[];
  events: { at_ns: number; name: string; data: NamedValues }[];
  sessions: { name: string; start_ns: number; tags: NamedValues }[];
  calls: { node: number; start_ns: number; duration_ns: number; attributes: NamedValues }[];
  diffusion: Diffusion | null;
  caches: { name: string; peak_held_bytes: number | null }[];
  cache_events: CacheMoment[];
  memory: Memory | null;
  telemetry: Telemetry;
  snapshots: SnapshotCurve[];
};

export type NamedValues = Record<string, Value>;

type Value = null | boolean | number | string | Value[];

export type CallPath = {
  node: number;
  parent: number | null;
  name: string;
  kind: "section" | "iteration";
  is_detached: boolean;
  inclusive_ns: number;
  self_ns: number | null;
  n_calls: number;
  n_open: number;
  mean_ns: number | null;
  max_ns: number | null;
};

export type Diffusion = {
  steps: Steps | null;
  blocks: Blocks | null;
  delivery: Delivery | null;
  /** `between`: the first and the last block, as indices into `Blocks.each`. */
  growth: { first_ns: number; between: [number, number]; per_block_ns: number } | null;
};

export type Durations = { min_ns: number; mean_ns: number; max_ns: number };

export type Steps = {
  warm_up: Durations | null;
  steady: Durations | null;
  each: StepPoint[];
  /** Indices into `each`. */
  outliers: number[];
};

export type StepPoint = {
  end_ns: number;
  duration_ns: number | null;
  step: number;
  loop_number: number;
  block: number | null;
  /** That block, as an index into `Blocks.each`; null when it is not there. */
  block_at: number | null;
  timestep: number | null;
  frames: number | null;
  guidance_scale: number | null;
  is_cached: boolean | null;
  /** Time on the GPU; null when not measured. */
  gpu_ns: number | null;
  is_warm_up: boolean;
};

export type Blocks = {
  steady: Durations | null;
  each: { end_ns: number; duration_ns: number | null; index: number; memory_bytes: number | null }[];
  memory_bytes: { min: number; mean: number; max: number } | null;
};

export type Delivery = {
  playback_per_second: number;
  each: { at_ns: number; frames: number; deadline_ns: number | null; stalled_ns: number; session: number | null }[];
  stalled_ns: number;
};

export type CacheMoment = {
  at_ns: number;
  cache: string;
  outcome: "hit" | "miss" | "eviction" | "lookup";
  score: number | null;
  threshold: number | null;
  held_bytes: number | null;
};

export type Memory = {
  labelled: { at_ns: number; source: string; fragmentation_ratio: number | null }[];
  sources: { source: string; peak: { at_ns: number; allocated_bytes: number } }[];
};

/** The allocator of a device over time. */
export type SnapshotCurve = {
  file: string;
  device: number;
  is_of_run: boolean;
  recorded_ns: number | null;
  peak: { at_ns: number | null; allocated_bytes: number; reserved_bytes: number } | null;
  curve: { at_ns: number | null; allocated_min_bytes: number; allocated_max_bytes: number; reserved_max_bytes: number }[];
};
