// Memory snapshots of torch, as the report has them: the model of `SnapshotFile` in marey-report.

import type { NodeId } from "./report/value";

export type SnapshotFile = { file: string; answers: SnapshotAnswers | null; problem: string | null };

export type SnapshotAnswers = { time_origin: "run" | "first_event"; is_outside_of_run: boolean | null; devices: DeviceMemory[]; warnings: [string, number][] };

export type DeviceMemory = {
  device: number;
  n_events: number;
  recorded_ns: number | null;
  start: Level;
  peak: Level | null;
  reserved_peak: Level | null;
  end: Level;
  alive: Alive;
  pools: PoolUse[];
  curve: CurvePoint[];
  growth: { of: "steps" | "snapshots"; points: GrowthPoint[]; n_grew: number; n_compared: number; total_bytes: number | null } | null;
  out_of_memory: OutOfMemory[];
  n_contradictions: number;
};

export type Level = {
  at_ns: number | null;
  allocated_bytes: number;
  reserved_bytes: number;
  awaiting_free_bytes: number;
  free_bytes: number;
  largest_free_bytes: number;
  fragmentation_ratio: number | null;
};

export type Alive = {
  bytes: number;
  before_recording_bytes: number;
  by_stack: AliveRow[];
  other_stacks_bytes: number;
  by_section: AliveInSection[] | null;
};

export type AliveRow = { bytes: number; share: number | null; count: number; largest_bytes: number; is_before_recording: boolean; stack: Stack | null };

export type AliveInSection = { node: NodeId | null; path: string[]; is_before_recording: boolean; bytes: number; share: number | null; count: number };

export type Stack = { frames: Frame[]; n_left_out: number; user_frame: number | null; caller_frame: number | null };

export type Frame = { name: string; file: string; line: number | null };

export type PoolUse = {
  kind: string;
  pool: [number, number] | null;
  stream: number | null;
  n_segments: number;
  reserved_bytes: number;
  allocated_bytes: number;
  free_bytes: number;
  n_free: number;
  largest_free_bytes: number;
};

export type CurvePoint = { at_ns: number | null; allocated_min_bytes: number; allocated_max_bytes: number; reserved_max_bytes: number };

export type GrowthPoint = { at_ns: number | null; loop_number: number; number: number; allocated_bytes: number; growth_bytes: number | null };

export type OutOfMemory = {
  at_ns: number | null;
  asked_bytes: number;
  device_free_bytes: number | null;
  level: Level;
  cause: "fragmentation" | "awaiting_free" | "limit" | "too_large" | "unknown";
  stack: Stack | null;
  section: string[];
};
