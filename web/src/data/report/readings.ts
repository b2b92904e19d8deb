// Memory, counters and attributes.

import type { NamedValues, NodeId, Value } from "./value";

export type Memory = {
  labelled: LabelledReading[];
  sources: SourceMemory[];
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

export type UsedResources = {
  node: NodeId;
  n_measured: number;
  n_calls: number;
  process: Used;
  thread: Used | null;
  growth_bytes: number | null;
  largest_growth_bytes: number | null;
};

export type Used = { cpu_ns: number; read_bytes: number | null; written_bytes: number | null };

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
