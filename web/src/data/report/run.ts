// Which program ran where, and how it ended.

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
  /** How old the process was at the start, to 10 ms; `null` where that is not known. */
  before_recording_ns: number | null;
  clock: string | null;
  facts: [string, string][];
};

export type RunStatus = {
  kind: "running" | "finished" | "failed" | "killed" | "out_of_memory" | "ended_without_closing";
  signal: number | null;
  reason: string | null;
};
