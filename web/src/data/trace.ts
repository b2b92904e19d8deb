// What traces say: tables of values, as marey-report's html/trace serializes them.

/** One file. */
export type TraceFile = {
  file: string;
  /** Why it could not be read; null when it could. */
  problem: string | null;
  /** Those with work, in the order of the table of devices. */
  devices: TraceDevice[];
  /** What is known to be steps or calls of the denoiser, on each device. */
  steps: TraceSteps[];
  tables: TraceTable[];
};

export type TraceDevice = {
  name: string;
  span_ns: number;
  busy_ratio: number | null;
  /** What most of its idle time was for; null when it was never idle. */
  idle_cause: "launch_late" | "launched_before" | "not_known" | null;
  idle_cause_ratio: number | null;
};

export type TraceSteps = {
  /** `Steps` or `Denoiser calls`. */
  what: string;
  n_parts: number;
  /** How many the mean is of: without a warm-up. */
  n_counted: number;
  /** Busy time of the device for one; time on the host where there is no device. */
  mean_ns: number;
  is_of_device: boolean;
};

export type TraceTable = {
  key: string;
  title: string;
  columns: { key: string; title: string }[];
  /** The first rows: the most important. */
  rows: TraceCell[][];
  notes: string[];
  n_left_out: number;
};

/** A value with what it counts. */
export type TraceCell =
  | { unit: "absent" }
  | { unit: "text"; value: string }
  | { unit: "count" | "duration" | "mean" | "moment" | "bytes" | "bytes_per_second" | "ratio" | "number"; value: number | null };
