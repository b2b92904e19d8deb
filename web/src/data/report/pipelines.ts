import type { Diffusion, Durations, FrameRate } from "./diffusion";
import type { NameRow } from "./sections";

/** What one pipeline did: sessions with its name as the tag `pipeline`. */
export type Pipeline = {
  name: string;
  n_calls: number;
  n_failed: number;
  n_cut_off: number;
  calls_ns: number;
  n_steps: number;
  warm_up: Durations | null;
  steady: Durations | null;
  steps_per_second: number | null;
  rates: FrameRate[];
  models: Diffusion["models"];
  sections: NameRow[];
};
