// Windows of profilers.

export type Windows = {
  each: WindowUse[];
  /** Time for which starting and stopping them held up the program. */
  own_ns: number | null;
};

export type WindowUse = {
  name: string;
  opened_ns: number;
  stopped_ns: number | null;
  stop_reason: string | null;
  is_cut_off: boolean;
  /** `null`, like the next, when the run has no denoising steps of its own. */
  warm_up_steps: number | null;
  recorded_steps: number | null;
  recorded_mean_ns: number | null;
  outside_mean_ns: number | null;
  files: { path: string; bytes: number }[];
  failures: { during: string; error: string }[];
  remarks: string[];
};
