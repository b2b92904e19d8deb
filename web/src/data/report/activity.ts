// What the run did when: stages, streaming, caches, sessions.

import type { Diffusion } from "./diffusion";
import type { Findings } from "./findings";
import type { Telemetry } from "./machine";
import type { Used } from "./readings";
import type { CallStats } from "./sections";
import type { NamedValues } from "./value";
import type { Windows } from "./windows";

export type Activity = {
  start_unix_ns: number;
  stages: Stages;
  telemetry: Telemetry;
  streaming: Streaming | null;
  diffusion: Diffusion | null;
  layers: Layers | null;
  allocations: Allocations | null;
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
  under_no_other_stage_ratio: number | null;
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
  /** As reported, in order of time. */
  each: Delivered[];
  drops: { at_ns: number; frames: number }[];
};

export type Delivered = {
  at_ns: number;
  frames: number | null;
  encoding_ns: number | null;
  network_latency_ns: number | null;
  buffer_occupancy: number | null;
};

/** Longest total first. */
export type Layers = { each: Layer[]; total_ns: number };

export type Layer = {
  name: string;
  n_calls: number;
  /** Those that the times are of. */
  n_timed: number;
  total_ns: number;
  mean_ns: number | null;
  min_ns: number | null;
  max_ns: number | null;
  /** Of the time of all layers. */
  share_ratio: number | null;
  parameters: number | null;
};

export type Allocations = {
  each: AllocationPoint[];
  /** Most bytes allocated first. */
  uses: { allocator: string | null; context: string | null; sums: Allocated }[];
  all: Allocated;
  peak_bytes: number;
  peak_at_ns: number;
};

export type AllocationPoint = { at_ns: number; is_release: boolean; bytes: number; allocator: string | null; context: string | null };

export type Allocated = { n_allocations: number; allocated_bytes: number; n_releases: number; released_bytes: number; held_bytes: number };

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
  outcome: "done" | "failed" | "cut_off";
  tags: NamedValues;
  /** What the process used from its begin to its end; `null` where that was not read. */
  used: { process: Used; growth_bytes: number | null } | null;
  /** Index into the sessions of the report. */
  parent: number | null;
  n_sections_missing: number;
  activity: Activity;
};
