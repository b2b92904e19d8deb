// The shape of a report, as marey-report's model serializes it. Times are nanoseconds since the start of the run, sizes
// bytes, ratios 0 to 1; what is not known is null.

export type Report = {
  run: { id: string; host: string | null; command: string[]; start_unix_ns: number; wall_ns: number };
};
