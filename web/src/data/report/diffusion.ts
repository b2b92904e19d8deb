// Denoising steps, blocks, and what was made of them.

export type Diffusion = {
  steps: Steps | null;
  blocks: Blocks | null;
  rates: FrameRate[];
  delivery: Delivery | null;
  caching: StepCaching | null;
  guidance: Guidance | null;
  /** `between`: the first and the last block, as indices into `Blocks.each`. */
  growth: { n_blocks: number; first_ns: number; last_ns: number; between: [number, number]; per_block_ns: number; interval_ns: [number, number] } | null;
  clean_passes: { name: string; calls: Durations; share_ratio: number | null } | null;
  models: { each: DiffusionModel[]; parameters: number | null } | null;
};

export type StepSource = "reported" | { iterations: string } | { sections: string };

export type Durations = {
  count: number;
  total_ns: number;
  min_ns: number;
  mean_ns: number;
  max_ns: number;
  p50_ns: number;
  p95_ns: number;
  p99_ns: number;
  std_dev_ns: number | null;
};

export type Spread = { min: number; mean: number; max: number };

export type Steps = {
  source: StepSource;
  n_loops: number;
  per_loop_max: number;
  warm_up: Durations | null;
  steady: Durations | null;
  /** Of the steps that were measured on the GPU. */
  gpu_warm_up: Durations | null;
  gpu_steady: Durations | null;
  total_ns: number;
  each: StepPoint[];
  /** Steps that were counted and are not in `each`, because they were not recorded one by one. */
  not_recorded: number;
  /** Indices into `each`. */
  outliers: number[];
  timesteps: Spread | null;
  frames: Spread | null;
};

export type StepPoint = {
  end_ns: number;
  duration_ns: number | null;
  /** Passes of the network in it. */
  n_passes: number;
  step: number;
  loop_number: number;
  block: number | null;
  /** That block, as an index into `Blocks.each`; null when it is not there. */
  block_at: number | null;
  timestep: number | null;
  frames: number | null;
  guidance_scale: number | null;
  is_cached: boolean | null;
  /** Of an outlier the median that it was compared with. */
  usual_ns?: number;
  /** Time on the GPU; null when not measured. */
  gpu_ns: number | null;
  is_warm_up: boolean;
};

export type Blocks = {
  source: StepSource;
  warm_up: Durations | null;
  steady: Durations | null;
  per_second: number | null;
  each: BlockPoint[];
  /** As in `Steps`. */
  not_recorded: number;
  frames: Spread | null;
  memory_bytes: Spread | null;
  time_to_first_ns: number | null;
  between: Durations | null;
  jitter_ns: number | null;
};

export type BlockPoint = {
  end_ns: number;
  duration_ns: number | null;
  index: number;
  frames: number | null;
  memory_bytes: number | null;
  session: number | null;
};

export type FrameRate = {
  kind: "latent" | "pixel";
  frames: number;
  over_ns: number;
  per_second: number;
  includes_text_encoding: boolean | null;
  includes_vae: boolean | null;
  meaning: string;
};

export type Delivery = {
  playback_per_second: number;
  real_time_factor: number | null;
  time_to_first_ns: number;
  between: Durations | null;
  jitter_ns: number | null;
  each: { at_ns: number; frames: number; deadline_ns: number | null; stalled_ns: number; session: number | null }[];
  deadlines_met: number;
  deadlines_missed: number;
  stalled_ns: number;
  frames_ahead_needed: number;
};

export type StepCaching = {
  cached: Durations | null;
  computed: Durations | null;
  n_cached: number;
  n_computed: number;
  saved_ns: number | null;
};

export type Guidance = {
  guided: Durations | null;
  unguided: Durations | null;
  conditional_ns: number | null;
  unconditional_ns: number | null;
  unconditional_ratio: number | null;
  /** As instrumented pipelines say. */
  ways: { how: string; calls_per_step: number | null; batch_factor: number | null; n_generations: number }[];
};

export type DiffusionModel = {
  name: string;
  kind: string | null;
  parameters: number | null;
  flops_per_call: number | null;
  achieved_flops_per_second: number | null;
  peak: { flops_per_second: number; of: string } | null;
  utilization_ratio: number | null;
};
