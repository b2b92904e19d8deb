// What traces say: tables of values, as marey-report's html/trace serializes them.

/** One file. */
export type TraceFile = {
  file: string;
  /** Why it could not be read; null when it could. */
  problem: string | null;
  tables: TraceTable[];
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
