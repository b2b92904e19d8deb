// What the run did when: stages, streaming, caches, sessions.

import type { Diffusion } from "./diffusion";
import type { Findings } from "./findings";
import type { Telemetry } from "./machine";
import type { CallStats } from "./sections";
import type { NamedValues } from "./value";
import type { Windows } from "./windows";

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
