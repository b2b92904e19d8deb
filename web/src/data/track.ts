// What was read over time, of one series.

import type { TrackKind } from "../../model/page";

/** Points by time; each holds from its start, a rate up to its end, everything else up to the next one's start. */
export type Track = {
  name: string;
  /** Of what; empty where there is only one. */
  subject: string;
  kind: TrackKind;
  unit: string;
  n: number;
  start: Float64Array;
  end: Float64Array;
  mean: Float32Array;
  min: Float32Array;
  max: Float32Array;
};
