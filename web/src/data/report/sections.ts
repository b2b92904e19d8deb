// Sections, their GPU times and loops.

import type { NodeId } from "./value";

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
  delay: { count: number; mean_ns: number; max_ns: number } | null;
  delay_error_ns: number | null;
  covered_ns: number | null;
  share_of_wall_ratio: number | null;
};

export type SectionPeak = {
  node: NodeId;
  device: number;
  n_measured: number;
  /** Calls that were made; where more than were measured, the peaks are what was held at least. */
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
