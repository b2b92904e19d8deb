// What a page carries beside its columns. Made by types.mjs: `make web`.

/**
 * What a page carries beside its columns. `web/model` is made of it.
 */
export type Model =
  | {
      contents: Contents;
      kind: "run";
      pictures: Pictures;
      /**
       * Of a run that is one of several ranks: what all of them did.
       */
      ranks: RanksOfRun | null;
      timeline: Timeline;
    }
  | {
      comparison: DrawnComparison;
      contents: Contents;
      kind: "comparison";
    }
  | {
      contents: Contents;
      kind: "document";
      snapshots: DrawnSnapshot[];
    }
  | {
      /**
       * About all jobs.
       */
      contents: Contents;
      jobs: JobPage[];
      kind: "ranks";
      /**
       * Bytes a number, of each column.
       */
      widths: number[];
    };
/**
 * What a row is to the whole.
 */
export type Part = "work" | "waiting" | "other";
/**
 * How something is. Colours show it, but words say it.
 */
export type Mood = "good" | "plain" | "bad";
/**
 * A part of a document.
 */
export type Block =
  | {
      content: string;
      kind: "title";
    }
  | {
      content: Facts;
      kind: "facts";
    }
  | {
      content: ListedFindings;
      kind: "findings";
    }
  | {
      content: Table;
      kind: "table";
    }
  | {
      content: string;
      kind: "text";
    }
  | {
      content: string;
      kind: "verbatim";
    }
  | {
      /**
       * @minItems 2
       * @maxItems 2
       */
      content: [string, Block[]];
      kind: "aside";
    };
/**
 * A figure or a text.
 */
export type Cell =
  | {
      unit: "absent";
    }
  | {
      unit: "text";
      value: string;
    }
  | {
      unit: "name";
      value: string;
    }
  | {
      unit: "count";
      value: number;
    }
  | {
      unit: "duration";
      value: number;
    }
  | {
      unit: "mean";
      value: number;
    }
  | {
      unit: "moment";
      value: number;
    }
  | {
      unit: "bytes";
      value: number;
    }
  | {
      unit: "bytes_per_second";
      value: number;
    }
  | {
      unit: "ratio";
      value: number;
    }
  | {
      unit: "number";
      value: number;
    }
  | {
      unit: "parameters";
      value: number;
    }
  | {
      unit: "per_second";
      value: number;
    }
  | {
      unit: "flops";
      value: number;
    }
  | {
      unit: "flops_per_second";
      value: number;
    }
  | {
      unit: "figure";
      value: Figure;
    }
  | {
      unit: "growth";
      value: number;
    }
  | {
      unit: "difference";
      value: Figure;
    }
  | {
      unit: "change";
      value: number;
    }
  | {
      unit: "change_between";
      /**
       * @minItems 2
       * @maxItems 2
       */
      value: [number, number];
    }
  | {
      unit: "nested";
      /**
       * @minItems 2
       * @maxItems 2
       */
      value: [number, string];
    }
  | {
      unit: "path";
      value: string[];
    }
  | {
      unit: "about";
      value: Cell;
    }
  | {
      unit: "at_least";
      value: Cell;
    };
/**
 * What a figure counts.
 */
export type FigureUnit = "count" | "ns" | "bytes" | "bytes_per_second" | "ratio" | "per_second" | "celsius" | "watts" | "joules" | "hertz" | "number";
/**
 * One value; what is no finite number is absent.
 */
export type AttributeValue = null | boolean | number | string | AttributeValue[];
/**
 * What a row counts.
 */
export type Kind = "section" | "iteration";
/**
 * Where steps or blocks are known from.
 */
export type StepSource =
  | "reported"
  | {
      iterations: string;
    }
  | {
      sections: string;
    };
/**
 * Which frames a rate counts.
 */
export type FrameKind = "latent" | "pixel";
/**
 * How far the page cache served reads.
 */
export type PageCache =
  | {
      share: number;
    }
  | "mapped_files";
/**
 * How energy was measured.
 */
export type EnergySource = "counter" | "power";
/**
 * Whether a rank's figures are whole.
 */
export type MemberState = "whole" | "running" | "cut" | "damaged";
/**
 * What a group is of.
 */
export type GroupKind = "sessions" | "thread" | "device";
/**
 * What is in a row.
 */
export type RowKind = "nested" | "beside" | "events";
/**
 * Where readings come from.
 */
export type TrackKind = "gauge" | "rate" | "counter" | "memory";

/**
 * What is read of a page, before its pictures.
 */
export interface Contents {
  screen: DrawnScreen | null;
  tabs: Tab[];
  title: string;
}
/**
 * What a page has of a first screen. Texts are not safe to print.
 */
export interface DrawnScreen {
  /**
   * Behind the outcome.
   */
  after: string;
  /**
   * Where the time or the memory went, or by how much that differs.
   */
  bars: Bars[];
  closing: [Mood, string][];
  data: string | null;
  findings: DrawnFinding[];
  /**
   * A label and its text.
   */
  lines: [string, string][];
  mood: Mood;
  outcome: string;
  subject: string;
}
/**
 * Rows that add up.
 */
export interface Bars {
  /**
   * Above the figures; none where they say it themselves.
   */
  columns: string[];
  head: string | null;
  rows: BarRow[];
}
export interface BarRow {
  figures: string[];
  name: string;
  note: string | null;
  part: Part;
  /**
   * Of the whole, 0 to 1: one, or one of each of two sides. None of a total.
   */
  ratios: number[];
}
export interface DrawnFinding {
  evidence: string;
  rule: string;
  title: string;
  tries: string;
}
/**
 * Blocks that are shown together.
 */
export interface Tab {
  blocks: Block[];
  /**
   * In the address; a picture of the same tab stands below its blocks.
   */
  id: string;
  title: string;
}
/**
 * What is known of something, one sentence a label. Labels that repeat are shown once.
 */
export interface Facts {
  /**
   * Label and sentence. Not safe to print.
   */
  rows: [string, string][];
  /**
   * What they are about; null where a title stands above them.
   */
  title: string | null;
}
/**
 * What rules found, and how many of them there are.
 */
export interface ListedFindings {
  /**
   * How many checks passed, and how many could not be made; with the most common reason where nothing was found.
   */
  checks: string;
  /**
   * All of them, the most severe first.
   */
  found: ListedFinding[];
}
/**
 * One finding. Not safe to print.
 */
export interface ListedFinding {
  /**
   * Its figures; empty when there are none.
   */
  evidence: string;
  /**
   * The finding in one sentence.
   */
  issue: string;
  /**
   * When it was longest the matter, for formats that lead there; null when it is about all of the time.
   */
  longest: Interval | null;
  /**
   * The call path that the place names; null when it names none.
   */
  node: number | null;
  /**
   * Where and when; null when it is about all of the time.
   */
  place: string | null;
  /**
   * What could be done.
   */
  remedy: string;
  /**
   * What that saves, and how it was estimated.
   */
  saving: string | null;
  /**
   * `High`.
   */
  severity: string;
}
/**
 * From `start_ns` to `end_ns`, which is never before it.
 */
export interface Interval {
  /**
   * Where it ends.
   */
  end_ns: number;
  /**
   * Where it begins.
   */
  start_ns: number;
}
/**
 * Rows of figures under headers; every row has as many cells as there are columns. Every format shows the same cells.
 */
export interface Table {
  /**
   * Its columns.
   */
  columns: Column[];
  /**
   * The device that it is about, as people call it; null when it is about all or none. Not safe to print.
   */
  device: string | null;
  /**
   * What files and options call it: `kernels`.
   */
  key: string;
  /**
   * What is said below it. Not safe to print.
   */
  notes: string[];
  /**
   * Its rows, the most important first.
   */
  rows: Cell[][];
  /**
   * What people read: `Kernels · GPU 0`; empty where what it stands in says it. Not safe to print.
   */
  title: string;
}
/**
 * A column.
 */
export interface Column {
  /**
   * What programs read, with the unit: `total_ns`.
   */
  key: string;
  /**
   * What people read: `Total`.
   */
  title: string;
}
/**
 * A number with its unit.
 */
export interface Figure {
  /**
   * What it counts.
   */
  unit: FigureUnit;
  /**
   * The number, always finite.
   */
  value: number;
}
/**
 * What pictures of a run draw.
 */
export interface Pictures {
  cache_events: CacheMoment[];
  caches: CacheUse[];
  /**
   * Call paths, those above before those under them.
   */
  call_paths: CallPath[];
  calls: AttributedCallFacts[];
  diffusion: Diffusion | null;
  events: EventMoment[];
  how_measured: string;
  memory: Memory | null;
  /**
   * What the timeline does not have.
   */
  not_drawn: string[];
  sessions: Session[];
  snapshots: DrawnSnapshot[];
  telemetry: Telemetry;
  wall_ns: number;
}
/**
 * One decision of a cache.
 */
export interface CacheMoment {
  /**
   * When, since the start of the run.
   */
  at_ns: number;
  /**
   * Autoregressive block or chunk, when known.
   */
  block: number | null;
  /**
   * Which cache; not safe to print.
   */
  cache: string;
  /**
   * Anything else that the user gave.
   */
  data: NamedValues;
  /**
   * Bytes that the cache held afterwards.
   */
  held_bytes: number | null;
  /**
   * `hit`, `miss`, `eviction` or `lookup`.
   */
  outcome: string;
  /**
   * What was compared with the threshold; null also for NaN and infinity.
   */
  score: number | null;
  /**
   * Denoising step, when known.
   */
  step: number | null;
  /**
   * The limit that decided; null also for NaN and infinity.
   */
  threshold: number | null;
}
/**
 * Names and values in the order in which they were given; a name that was given twice keeps its last value.
 */
export interface NamedValues {
  [k: string]: AttributeValue;
}
/**
 * What one cache did.
 */
export interface CacheUse {
  /**
   * Entries thrown out.
   */
  evictions: number;
  /**
   * Hits over lookups, 0 to 1; null without lookups.
   */
  hit_ratio: number | null;
  /**
   * Lookups that found something.
   */
  hits: number;
  /**
   * Lookups that were recorded as such, and at least hits and misses together.
   */
  lookups: number;
  /**
   * Misses over lookups, 0 to 1; null without lookups.
   */
  miss_ratio: number | null;
  /**
   * Lookups that found nothing.
   */
  misses: number;
  /**
   * The cache's name as the user gave it; not safe to print.
   */
  name: string;
  /**
   * Most bytes that it held after any event; null when it never said. For all caches together it is not known.
   */
  peak_held_bytes: number | null;
}
export interface CallPath {
  inclusive_ns: number;
  is_detached: boolean;
  kind: Kind;
  max_ns: number | null;
  mean_ns: number | null;
  n_calls: number;
  n_open: number;
  name: string;
  node: number;
  parent: number | null;
  self_ns: number | null;
}
/**
 * One call with its attributes.
 */
export interface AttributedCallFacts {
  /**
   * All that was given to it.
   */
  attributes: NamedValues;
  /**
   * How long it took.
   */
  duration_ns: number;
  /**
   * Index into `Run::nodes`.
   */
  node: number;
  /**
   * When it was entered, since the start of the run.
   */
  start_ns: number;
}
/**
 * What is known of a diffusion pipeline's own work. Parts are absent when the run says nothing of them.
 */
export interface Diffusion {
  /**
   * Autoregressive blocks, or chunks of frames.
   */
  blocks: Steps | null;
  /**
   * Steps that a cache answered against steps that were computed.
   */
  caching: StepCaching | null;
  /**
   * Passes that only fill the KV cache with clean context.
   */
  clean_passes: CleanPasses | null;
  /**
   * Delivery to a viewer.
   */
  delivery: Delivery | null;
  /**
   * How step time grows with the length of the context.
   */
  growth: ContextGrowth | null;
  /**
   * Conditional against unconditional work.
   */
  guidance: Guidance | null;
  /**
   * Models, their size and what they compute.
   */
  models: Models | null;
  /**
   * Frames a second, each rate with what it counts and what it includes; only rates that are known.
   */
  rates: FrameRate[];
  /**
   * Denoising steps.
   */
  steps: Steps | null;
}
/**
 * Denoising steps, each with all of its passes, or blocks of frames. A loop begins where number or time step turn back.
 */
export interface Steps {
  /**
   * All of them, the first one too; null when no duration is known.
   */
  all: Durations | null;
  /**
   * Time between the ends of neighbours of one loop, so that the first one's own time is in none of them; null when no loop has two.
   */
  between: Durations | null;
  /**
   * Each one, in order of time.
   */
  each: StepPoint[];
  /**
   * Lowest, mean and highest number of latent frames that one worked on; null when none said.
   */
  frames: Spread | null;
  /**
   * `total_frames` in a second of their time, of loops or blocks of which both are known; what threads did at the same time counts once. null when there are none.
   */
  frames_per_second: number | null;
  /**
   * All others' time on the GPU; null when none was measured.
   */
  gpu_steady: Durations | null;
  /**
   * Their time on the GPU; null when it was not measured.
   */
  gpu_warm_up: Durations | null;
  /**
   * Mean of the absolute differences of neighbouring times between; null when no loop has three.
   */
  jitter_ns: number | null;
  /**
   * Loops of steps in a second of their time, of loops whose steps all have a known duration, or blocks, likewise; null when there are none.
   */
  loops_per_second: number | null;
  /**
   * Memory that the program said was in use, bytes; null when no block said.
   */
  memory_bytes: Spread | null;
  /**
   * Generations, or blocks of one, that steps were made for.
   */
  n_loops: number;
  /**
   * Those that were counted but not recorded one by one: they are in no other figure.
   */
  not_recorded: number;
  /**
   * Steady steps that took much longer than the others, as indices into `each`, the longest first: longer than the median by more than five times the median absolute deviation, and by more than a tenth. A step is compared with those like it in its loop where these are five or more, else with those of its pipeline, and then it is also a tenth longer than the median of its loop's, of three or more.
   */
  outliers: number[];
  /**
   * Most steps of one loop.
   */
  per_loop_max: number;
  /**
   * Where they are known from.
   */
  source: StepSource;
  /**
   * All others; null when there is none whose duration is known.
   */
  steady: Durations | null;
  /**
   * To the end of the first one, from the start of its outermost session, or of the run where it is of none.
   */
  time_to_first_ns: number | null;
  /**
   * Lowest, mean and highest time step; null when none was said.
   */
  timesteps: Spread | null;
  /**
   * Latent frames of all loops that said, those of a loop once and not for each step, and of all blocks; null when none did.
   */
  total_frames: number | null;
  /**
   * Sum of the durations of all whose duration is known.
   */
  total_ns: number;
  /**
   * The first step of each pipeline, or the first block, apart from the rest; null when no duration of one is known.
   */
  warm_up: Durations | null;
}
/**
 * Figures of durations.
 */
export interface Durations {
  /**
   * How many.
   */
  count: number;
  /**
   * Longest.
   */
  max_ns: number;
  /**
   * Mean.
   */
  mean_ns: number;
  /**
   * Shortest.
   */
  min_ns: number;
  /**
   * The median: of an even number the mean of the middle two.
   */
  p50_ns: number;
  /**
   * 95 % took no longer.
   */
  p95_ns: number;
  /**
   * 99 % took no longer.
   */
  p99_ns: number;
  /**
   * Sample standard deviation; null for fewer than two.
   */
  std_dev_ns: number | null;
  /**
   * Their sum.
   */
  total_ns: number;
}
/**
 * One denoising step, or one block of frames.
 */
export interface StepPoint {
  /**
   * Number of the block that a step belongs to; null when the run has no blocks, or that block had not ended.
   */
  block: number | null;
  /**
   * That block, as an index into the blocks of the run.
   */
  block_at: number | null;
  /**
   * How long all of its passes took; null when that of one is not known.
   */
  duration_ns: number | null;
  /**
   * When it ended, since the start of the run.
   */
  end_ns: number;
  /**
   * Latent frames that it worked on.
   */
  frames: number | null;
  /**
   * Time on the GPU between the events at both ends of its section; null when not measured, or when it was reported.
   */
  gpu_ns: number | null;
  /**
   * Scale of the guidance.
   */
  guidance_scale: number | null;
  /**
   * A cache answered (`true`) or was asked in vain (`false`); null when no cache said anything of it.
   */
  is_cached: boolean | null;
  /**
   * It is the first step of its pipeline, or the first block.
   */
  is_warm_up: boolean;
  /**
   * The loop: a generation, or a block of one; from 0. Another one begins in another session or thread, and where the number turns back.
   */
  loop_number: number;
  /**
   * Memory in use after a block, as the program read it.
   */
  memory_bytes?: number | null;
  /**
   * Passes through the network that were reported or recorded one by one: 2 where guidance or a second evaluation have their own.
   */
  n_passes: number;
  /**
   * Which of the run's pipelines made the step, in the order of their first calls; null when not known.
   */
  pipeline: number | null;
  /**
   * Index into `Run::sessions`.
   */
  session: number | null;
  /**
   * Number in its loop, from 0, as reported, otherwise counted.
   */
  step: number;
  /**
   * Index into `Run::threads`.
   */
  thread: number;
  /**
   * Time step of the schedule, in the program's own scale.
   */
  timestep: number | null;
  /**
   * Of an outlier the median that it was compared with; null of others.
   */
  usual_ns?: number | null;
}
/**
 * Lowest, mean and highest.
 */
export interface Spread {
  /**
   * Highest.
   */
  max: number;
  /**
   * Mean.
   */
  mean: number;
  /**
   * Lowest.
   */
  min: number;
}
/**
 * What caches did for steps.
 */
export interface StepCaching {
  /**
   * Steps that a cache answered.
   */
  cached: Durations | null;
  /**
   * Steps of which a cache was asked in vain, or not at all, warm-up apart.
   */
  computed: Durations | null;
  /**
   * How many steps a cache answered.
   */
  n_cached: number;
  /**
   * How many were computed, warm-up included.
   */
  n_computed: number;
  /**
   * Median computed step less median cached step of a pipeline, times its cached steps; of all pipelines together. null when a median is not known. Negative when cached steps took longer.
   */
  saved_ns: number | null;
}
/**
 * Passes over clean frames that only fill the KV cache.
 */
export interface CleanPasses {
  /**
   * How long they took.
   */
  calls: Durations;
  /**
   * Name of the sections, as the user gave it; the first of such names where there are several.
   */
  name: string;
  /**
   * Their share of the time of blocks and of those passes that lie in none, 0 to 1; of denoising steps where there are no blocks. null when neither is known.
   */
  share_ratio: number | null;
}
/**
 * Delivery of frames to a viewer who plays them at a fixed rate from the first delivery on.
 */
export interface Delivery {
  /**
   * Time between neighbouring deliveries of one session; null when none has two.
   */
  between: Durations | null;
  /**
   * Deliveries after the first that came before the viewer ran out.
   */
  deadlines_met: number;
  /**
   * Deliveries after the first that came too late, each of which is an underrun.
   */
  deadlines_missed: number;
  /**
   * Each delivery, in order of time.
   */
  each: DeliveryPoint[];
  /**
   * Frames that the viewer would have to hold before it begins, to never stand still.
   */
  frames_ahead_needed: number;
  /**
   * Mean of the absolute differences of neighbouring times between; null when no session has three deliveries.
   */
  jitter_ns: number | null;
  /**
   * Frames in a second at which the viewer plays.
   */
  playback_per_second: number;
  /**
   * Played time of the frames after the first delivery, over the time from the first to the last; above 1 is faster than real time. null unless two deliveries lie apart.
   */
  real_time_factor: number | null;
  /**
   * Time that the viewer stood still for lack of frames.
   */
  stalled_ns: number;
  /**
   * From the start of the session or the run to its first delivery; with several sessions, of the first one that has any.
   */
  time_to_first_ns: number;
}
/**
 * One delivery.
 */
export interface DeliveryPoint {
  /**
   * When.
   */
  at_ns: number;
  /**
   * When the viewer had played all frames that came before; null for the first delivery.
   */
  deadline_ns: number | null;
  /**
   * Frames.
   */
  frames: number;
  /**
   * Index into `Run::sessions`; each session has a viewer of its own.
   */
  session: number | null;
  /**
   * How long the viewer stood still before it.
   */
  stalled_ns: number;
}
/**
 * A straight line through step times over the context that they had.
 */
export interface ContextGrowth {
  /**
   * Those two blocks, as indices into the blocks of the run.
   *
   * @minItems 2
   * @maxItems 2
   */
  between: [number, number];
  /**
   * Median computed step of the first steady block.
   */
  first_ns: number;
  /**
   * Both ends of its interval, 95 %. 0 is not in it.
   *
   * @minItems 2
   * @maxItems 2
   */
  interval_ns: [number, number];
  /**
   * Median computed step of its last block.
   */
  last_ns: number;
  /**
   * Blocks that it is made of, all of one generation.
   */
  n_blocks: number;
  /**
   * Growth of a step with each block more of context (median of the slopes of all pairs of blocks). Negative when steps became shorter.
   */
  per_block_ns: number;
}
/**
 * Conditional against unconditional work.
 */
export interface Guidance {
  /**
   * Time of sections that are named as conditional passes, of all threads added up; null when there are none.
   */
  conditional_ns: number | null;
  /**
   * Steps with a guidance scale above 1, warm-up apart.
   */
  guided: Durations | null;
  /**
   * The same of unconditional passes.
   */
  unconditional_ns: number | null;
  /**
   * Unconditional share of both; null unless both are known.
   */
  unconditional_ratio: number | null;
  /**
   * Steps with a scale of at most 1, which need no unconditional pass, warm-up apart.
   */
  unguided: Durations | null;
  /**
   * How guidance was computed, as instrumented pipelines say, in the order in which they did.
   */
  ways: GuidanceWay[];
}
/**
 * One way of computing guidance, of the event `guidance`.
 */
export interface GuidanceWay {
  /**
   * How many times the batch of the latents the largest of these calls got; null when not known.
   */
  batch_factor: number | null;
  /**
   * Calls of the network for an evaluation.
   */
  calls_per_step: number | null;
  /**
   * In words: `separate calls`, `one call with a doubled batch`.
   */
  how: string;
  /**
   * Generations that said so.
   */
  n_generations: number;
}
/**
 * Models.
 */
export interface Models {
  /**
   * Each model that the program named, in the order of their first reports; of one name in one pipeline the last report counts. What several pipelines say alike is one model.
   */
  each: Model1[];
  /**
   * Parameters of all models; null unless the number of each is known.
   */
  parameters: number | null;
}
/**
 * One model.
 */
export interface Model1 {
  /**
   * Operations in a second, over the median steady step of its pipeline that no cache answered, with as many passes as the program said; null unless all is known.
   */
  achieved_flops_per_second: number | null;
  /**
   * Passes of a denoising step, as the program said.
   */
  calls_per_step: number | null;
  /**
   * Floating point operations of one pass, as the program said.
   */
  flops_per_call: number | null;
  /**
   * What it is: `transformer`, `vae`.
   */
  kind: string | null;
  /**
   * As the user gave it, with the pipeline in parentheses where several have one of that name.
   */
  name: string;
  /**
   * Number of its parameters.
   */
  parameters: number | null;
  /**
   * What the device can do in a second, with where that is from; null for a device that is not known, or without operations to compare with it.
   */
  peak: PeakFlops | null;
  /**
   * Achieved over peak: model FLOPs utilisation.
   */
  utilization_ratio: number | null;
}
/**
 * What a device can do.
 */
export interface PeakFlops {
  /**
   * Operations in a second.
   */
  flops_per_second: number;
  /**
   * The device and the number format: "NVIDIA H200, dense BF16".
   */
  of: string;
}
/**
 * Frames a second, and what that means.
 */
export interface FrameRate {
  /**
   * Frames that were counted, each once.
   */
  frames: number;
  /**
   * The time holds text encoding; null when no text encoding was recorded, or not each call of it.
   */
  includes_text_encoding: boolean | null;
  /**
   * The time holds VAE decoding; null when none was recorded, or not each call of it.
   */
  includes_vae: boolean | null;
  /**
   * Which frames.
   */
  kind: FrameKind;
  /**
   * All of it in words: "latent frames in a second of blocks, without text encoding and VAE decoding".
   */
  meaning: string;
  /**
   * The time that they are divided by.
   */
  over_ns: number;
  /**
   * `frames` in a second of it.
   */
  per_second: number;
}
/**
 * A point in time with a name.
 */
export interface EventMoment {
  /**
   * When, since the start of the run.
   */
  at_ns: number;
  /**
   * The user's data.
   */
  data: NamedValues;
  /**
   * As the user gave it; not safe to print.
   */
  name: string;
}
/**
 * What the memory readings of a run say.
 */
export interface Memory {
  /**
   * Readings that the user labelled, in order of time.
   */
  labelled: LabelledReading[];
  /**
   * Each source, process first, then devices.
   */
  sources: SourceMemory[];
}
/**
 * A reading that the user asked for.
 */
export interface LabelledReading {
  /**
   * In use: resident (process) or allocated to tensors (torch).
   */
  allocated_bytes: number;
  /**
   * When, since the start of the run.
   */
  at_ns: number;
  /**
   * Share of what the allocator holds that no tensor uses; null without `reserved_bytes`.
   */
  fragmentation_ratio: number | null;
  /**
   * As the user gave it; not safe to print.
   */
  label: string;
  /**
   * Highest so far, as the source counts it; null when not read.
   */
  peak_bytes: number | null;
  /**
   * Held by the allocator; null for the process.
   */
  reserved_bytes: number | null;
  /**
   * What was read.
   */
  source: string;
}
/**
 * One source of readings.
 */
export interface SourceMemory {
  /**
   * The most there was, which may lie between two readings: of the process by the kernel's count, of torch by its allocator's; null when neither was read.
   */
  counted_peak_bytes: number | null;
  /**
   * Readings, labelled or not.
   */
  n_readings: number;
  /**
   * The reading with the highest `allocated_bytes`, the earliest of equals.
   */
  peak: MemoryPeak;
  /**
   * What was read.
   */
  source: string;
}
/**
 * The highest reading.
 */
export interface MemoryPeak {
  /**
   * In use at that moment.
   */
  allocated_bytes: number;
  /**
   * When, since the start of the run.
   */
  at_ns: number;
  /**
   * Share of what the allocator holds that no tensor uses; null without reserved bytes.
   */
  fragmentation_ratio: number | null;
  /**
   * Its label, if it had one.
   */
  label: string | null;
  /**
   * The innermost section that was open then, on the main thread if there was one: an index into `Run::nodes`. null when no recorded section was.
   */
  node: number | null;
}
export interface Session {
  name: string;
  start_ns: number;
  tags: NamedValues;
}
/**
 * The allocator of a device over time, and what it was for when there was most.
 */
export interface DrawnSnapshot {
  curve: CurvePoint[];
  device: number;
  file: string;
  /**
   * Its times are those of the page's run.
   */
  is_of_run: boolean;
  peak: Level | null;
  /**
   * What the program had at its peak, or without a history at the end: by stack, the largest first.
   */
  stacks: DrawnStack[];
}
/**
 * A stretch of time, or of events where there are no times.
 */
export interface CurvePoint {
  /**
   * Highest in it.
   */
  allocated_max_bytes: number;
  /**
   * Lowest in it.
   */
  allocated_min_bytes: number;
  /**
   * When its first event was; null when not known.
   */
  at_ns: number | null;
  /**
   * Number of events before it.
   */
  event: number;
  /**
   * Highest in it.
   */
  reserved_max_bytes: number;
}
/**
 * What an allocator had at one moment.
 */
export interface Level {
  /**
   * What the program had.
   */
  allocated_bytes: number;
  /**
   * When; null when not known.
   */
  at_ns: number | null;
  /**
   * What the program had given back, but other streams still needed.
   */
  awaiting_free_bytes: number;
  /**
   * Number of events before it.
   */
  event: number;
  /**
   * `1 − allocated / reserved`, 0 to 1; null when nothing is reserved.
   */
  fragmentation_ratio: number | null;
  /**
   * The rest: free, in whatever pieces.
   */
  free_bytes: number;
  /**
   * The largest free piece. Within a segment of the large kind it may be up to 1 MiB too large: what lies behind an allocation and is too small to be split off belongs to that allocation.
   */
  largest_free_bytes: number;
  /**
   * Number of ranges of addresses that the allocator had.
   */
  n_ranges: number;
  /**
   * The part of `free_bytes` that lies in memory pools of CUDA graphs and of the program: no other request may use it.
   */
  other_pools_free_bytes: number;
  /**
   * What the allocator had from the driver.
   */
  reserved_bytes: number;
}
/**
 * Memory that was allocated in one place.
 */
export interface DrawnStack {
  bytes: number;
  /**
   * From the outermost inwards.
   */
  frames: string[];
}
/**
 * What samplers read of the machine.
 */
export interface Telemetry {
  /**
   * Processor time; null when none was read.
   */
  cpu: CpuUse | null;
  /**
   * The machine over time, a point a reading.
   */
  cpu_timeline: CpuPoint[];
  /**
   * Disks; null when none were read.
   */
  disk: DiskUse | null;
  /**
   * GPUs; null when none was read.
   */
  gpus: Gpus | null;
  /**
   * Memory of the machine and of the process; null when none was read.
   */
  memory: HostMemory | null;
  /**
   * Rounds in which the machine was read: readings of the series that has most of them.
   */
  n_host_readings: number;
  /**
   * Each network interface, by name.
   */
  network: InterfaceUse[];
  /**
   * Time that was lost to waiting for the machine; null when the kernel does not say.
   */
  pressure: Pressure | null;
  /**
   * Each sampler, by name.
   */
  samplers: SamplerUse[];
}
/**
 * Processor time. Ratios of the machine are of all its cores: 1 is all of them, all the time.
 */
export interface CpuUse {
  /**
   * Share of the machine's processor time that was spent working; null also when the number of cores is not known.
   */
  busy_ratio: Figures | null;
  /**
   * Cores that the processes below this one kept busy on average, and at most; 1 is one core.
   */
  children_cores: Figures | null;
  /**
   * Each core, by number.
   */
  cores: CoreUse[];
  /**
   * Context switches of the process because others were to run.
   */
  involuntary_switches: Growth | null;
  /**
   * Share in which cores had nothing to do but wait for a disk; absent as `busy_ratio`.
   */
  iowait_ratio: Figures | null;
  /**
   * Load averages.
   */
  load: LoadAverage[];
  /**
   * Cores of the machine; null when unknown.
   */
  n_cores: number | null;
  /**
   * This process.
   */
  process: CpuTime | null;
  /**
   * Share that a hypervisor gave to others; absent as `busy_ratio`.
   */
  steal_ratio: Figures | null;
  /**
   * Context switches of the machine.
   */
  switches: Growth | null;
  /**
   * Time in which the control group was not let run, in seconds.
   */
  throttled: Growth | null;
  /**
   * Context switches of the process because it waited.
   */
  voluntary_switches: Growth | null;
  /**
   * Seconds in which threads of the process could have run and had no processor, of all threads added up.
   */
  waited: Growth | null;
}
/**
 * Figures of readings, or of rates between them.
 */
export interface Figures {
  /**
   * The one that was taken last.
   */
  last: number;
  /**
   * Highest.
   */
  max: number;
  /**
   * Mean over the time.
   */
  mean: number;
  /**
   * Lowest.
   */
  min: number;
  /**
   * Readings that they come from.
   */
  n_readings: number;
  /**
   * When it was highest, the earliest of equals.
   */
  peak: Moment;
}
/**
 * When something was read, and what the program did then.
 */
export interface Moment {
  /**
   * Since the start of the run.
   */
  end_ns: number;
  /**
   * The innermost section that was open all that time, on the main thread if there was one: an index into `Run::nodes`. null when no recorded section was.
   */
  node: number | null;
  /**
   * Since the start of the run; earlier than `end_ns` for a rate, and for readings that were put together.
   */
  start_ns: number;
}
/**
 * One core.
 */
export interface CoreUse {
  /**
   * Share of the time in which it worked.
   */
  busy_ratio: Figures;
  /**
   * Its number.
   */
  core: string;
}
/**
 * What a counter grew by.
 */
export interface Growth {
  /**
   * Time that `total` is about.
   */
  over_ns: number;
  /**
   * Growth in a second; the mean is `total` over `over_ns`.
   */
  per_second: Figures;
  /**
   * Sum of its increases between the first and the last reading. Where it fell, it began anew: that counts as none.
   */
  total: number;
}
/**
 * The mean number of tasks that wanted to run.
 */
export interface LoadAverage {
  /**
   * The readings.
   */
  load: Figures;
  /**
   * Over how many minutes: `1`, `5`, `15`.
   */
  minutes: string;
}
/**
 * Processor time of a process.
 */
export interface CpuTime {
  /**
   * Cores that it kept busy, program and kernel together; null unless both were read twice.
   */
  cores: Figures | null;
  /**
   * Seconds in the kernel; null when not read twice.
   */
  system_s: number | null;
  /**
   * Seconds in the program; null when not read twice.
   */
  user_s: number | null;
}
/**
 * The machine at one reading; what was not read then is absent.
 */
export interface CpuPoint {
  /**
   * When, since the start of the run.
   */
  at_ns: number;
  /**
   * Share of the machine's processor time that was spent working since the reading before.
   */
  busy_ratio: number | null;
  /**
   * Memory in use on the machine.
   */
  memory_used_bytes: number | null;
}
/**
 * What was read from and written to disks, in bytes.
 */
export interface DiskUse {
  /**
   * Read by the process with calls of any kind: from the page cache, pipes and sockets, too, but not through mappings.
   */
  calls_read: Growth | null;
  /**
   * Written by the process with calls of any kind.
   */
  calls_written: Growth | null;
  /**
   * Each disk, by name.
   */
  devices: DeviceUse[];
  /**
   * Files that were asked for, by path.
   */
  files: FileCached[];
  /**
   * How far the page cache served reads; null unless both counts are known and something was read.
   */
  page_cache: PageCache | null;
  /**
   * Read by the process, from real disks.
   */
  process_read: Growth | null;
  /**
   * Written by the process, to real disks.
   */
  process_written: Growth | null;
}
/**
 * One disk.
 */
export interface DeviceUse {
  /**
   * Share of the time in which it had something to do.
   */
  busy_ratio: Figures | null;
  /**
   * Its name.
   */
  device: string;
  /**
   * Read from it, by anybody.
   */
  read: Growth | null;
  /**
   * Written to it, by anybody.
   */
  written: Growth | null;
}
/**
 * How much of a file lay in the page cache.
 */
export interface FileCached {
  /**
   * Share of it, 0 to 1.
   */
  cached_ratio: Figures;
  /**
   * Its path; not safe to print.
   */
  path: string;
}
/**
 * All GPUs that were sampled.
 */
export interface Gpus {
  /**
   * Each one, by UUID.
   */
  each: GpuUse[];
  /**
   * Rounds in which they were read.
   */
  n_readings: number;
  /**
   * `together` over time, a point a reading.
   */
  timeline: GpuPoint[];
  /**
   * All as one: memory and power added up, utilisation and temperature the highest of any at the same reading. With one GPU it is that one. `uuid` is empty, and what has no meaning for several is absent.
   */
  together: GpuUse;
}
/**
 * One GPU. Ratios are 0 to 1, sizes bytes.
 */
export interface GpuUse {
  /**
   * Hertz of its memory.
   */
  clock_memory: Figures | null;
  /**
   * Hertz of its processors.
   */
  clock_sm: Figures | null;
  /**
   * Memory errors that were put right.
   */
  ecc_corrected: Growth | null;
  /**
   * Memory errors that were not.
   */
  ecc_uncorrected: Growth | null;
  /**
   * What it took.
   */
  energy: Energy | null;
  /**
   * Its number among the machine's GPUs; null when unknown.
   */
  index: string | null;
  /**
   * Share of the time in which its memory was read or written.
   */
  memory_controller: Figures | null;
  /**
   * Memory in use by this process.
   */
  memory_process: Figures | null;
  /**
   * Memory that it has.
   */
  memory_total: Figures | null;
  /**
   * Memory in use, by anybody.
   */
  memory_used: Figures | null;
  /**
   * Its model; null when unknown.
   */
  name: string | null;
  /**
   * Everything else that was read of it.
   */
  others: GpuMetric[];
  /**
   * Bytes a second from the host.
   */
  pcie_received: Figures | null;
  /**
   * Bytes a second to the host.
   */
  pcie_sent: Figures | null;
  /**
   * Highest share of its memory that was in use, with what it may borrow if it shares the machine's; null where all of it is the machine's. Of several GPUs, that of the fullest.
   */
  peak_memory_ratio: number | null;
  /**
   * Watts.
   */
  power: Figures | null;
  /**
   * Watts that it may take.
   */
  power_limit: Figures | null;
  /**
   * It has no memory of its own, but for what the machine may have set aside for it: it takes the machine's.
   */
  shares_memory: boolean;
  /**
   * Degrees Celsius.
   */
  temperature: Figures | null;
  /**
   * Time in which its clocks were held down.
   */
  throttling: Throttling | null;
  /**
   * Share of the time in which a kernel ran, as the driver counts it.
   */
  utilization: Figures | null;
  /**
   * Which one.
   */
  uuid: string;
  /**
   * Share of the readings' time with a utilisation of at least one half.
   */
  well_used_ratio: number | null;
}
/**
 * Energy.
 */
export interface Energy {
  /**
   * Joules.
   */
  joules: number;
  /**
   * Time in which they were taken, in nanoseconds.
   */
  over_ns: number;
  /**
   * How it was measured.
   */
  source: EnergySource;
}
/**
 * A reading that not every GPU has.
 */
export interface GpuMetric {
  /**
   * The readings, in the unit of the series.
   */
  figures: Figures;
  /**
   * Name of the series.
   */
  name: string;
}
/**
 * Time in which the driver said that it held clocks down, in nanoseconds.
 */
export interface Throttling {
  /**
   * For any reason but idleness and clocks that the user chose.
   */
  any_ns: number;
  /**
   * Time that these are about: each reading stands for the time half way to its neighbours. Readings that differ and were put together are in none of them.
   */
  known_ns: number;
  /**
   * For power.
   */
  power_ns: number;
  /**
   * For heat.
   */
  thermal_ns: number;
  /**
   * Heat was a reason at one reading at least.
   */
  was_thermal: boolean;
}
/**
 * All GPUs at one reading; what was not read then is absent.
 */
export interface GpuPoint {
  /**
   * When, since the start of the run.
   */
  at_ns: number;
  /**
   * Memory that they have.
   */
  memory_total_bytes: number | null;
  /**
   * Memory in use.
   */
  memory_used_bytes: number | null;
  /**
   * Watts.
   */
  power: number | null;
  /**
   * The highest, in degrees Celsius.
   */
  temperature: number | null;
  /**
   * The highest utilisation.
   */
  utilization_ratio: number | null;
}
/**
 * Memory of the machine, the process and its control group, in bytes.
 */
export interface HostMemory {
  /**
   * What programs could still get without swapping.
   */
  available: Figures | null;
  /**
   * What the control group may use.
   */
  cgroup_limit: Figures | null;
  /**
   * Most that the control group ever used, as the kernel counts it.
   */
  cgroup_peak: Figures | null;
  /**
   * In use by the control group.
   */
  cgroup_used: Figures | null;
  /**
   * The same without file pages that the kernel would take back first.
   */
  cgroup_working_set: Figures | null;
  /**
   * Resident memory of the processes below this one.
   */
  children_resident: Figures | null;
  /**
   * The same, with pages that are shared counted by their share.
   */
  process_proportional: Figures | null;
  /**
   * Resident memory of the process. Its highest is the kernel's own count where that was read: then `peak` is the time between two readings of it.
   */
  process_resident: Figures | null;
  /**
   * Memory of the process that was swapped out.
   */
  process_swapped: Figures | null;
  /**
   * Swap in use.
   */
  swap_used: Figures | null;
  /**
   * Bytes that were read back from swap.
   */
  swapped_in: Growth | null;
  /**
   * Bytes that were written to swap.
   */
  swapped_out: Growth | null;
  /**
   * Memory of the machine; null when unknown.
   */
  total_bytes: number | null;
  /**
   * In use on the machine.
   */
  used: Figures | null;
}
/**
 * One network interface, in bytes.
 */
export interface InterfaceUse {
  /**
   * Its name.
   */
  interface: string;
  /**
   * Received through it, by anybody.
   */
  received: Growth | null;
  /**
   * Sent through it, by anybody.
   */
  sent: Growth | null;
}
/**
 * Shares of the time in which tasks of the machine waited for something (Linux: pressure stall information). *Some* is at least one task, *full* is all of them at once.
 */
export interface Pressure {
  /**
   * For a processor.
   */
  cpu_some: Figures | null;
  /**
   * For a disk, all of them.
   */
  io_full: Figures | null;
  /**
   * For a disk.
   */
  io_some: Figures | null;
  /**
   * For memory, all of them.
   */
  memory_full: Figures | null;
  /**
   * For memory.
   */
  memory_some: Figures | null;
}
/**
 * One sampler.
 */
export interface SamplerUse {
  /**
   * Processor time of its thread, in seconds; in a second it is the share of one core.
   */
  cpu: Growth | null;
  /**
   * How late its rounds began, in seconds.
   */
  late_s: Figures | null;
  /**
   * Rounds that it left out because it was late.
   */
  missed: number | null;
  /**
   * What it samples: `host`, `gpu`.
   */
  name: string;
}
/**
 * All ranks, in the page of one of them.
 */
export interface RanksOfRun {
  /**
   * Its columns begin there, behind those of the timeline.
   */
  first_byte: number;
  job: JobPage;
  /**
   * Bytes a number, of each of them.
   */
  widths: number[];
}
/**
 * One job.
 */
export interface JobPage {
  /**
   * Ranks of which nothing is known, by number, and whether there is a file that could not be read.
   */
  absent: [number, boolean][];
  block_map: DrawnMap | null;
  /**
   * Places of ranks, the slowest first, then those of which it is not known.
   */
  by_score: number[];
  /**
   * Above the pictures, then below them.
   */
  contents: Contents;
  ranks: Rank[];
  span_ns: number;
  step_map: DrawnMap | null;
  strips: Strips;
}
/**
 * A heat map but for its columns of `places.len() · n_cells` values: durations, then, where they are known, own times. 0 where nothing is known, else one more than the time in units.
 */
export interface DrawnMap {
  /**
   * What all ranks have of each column.
   */
  columns: MapColumn[];
  /**
   * Fewest and most iterations of a rank, where ranks differ.
   *
   * @minItems 2
   * @maxItems 2
   */
  counts_differ: [number, number] | null;
  has_own: boolean;
  n_cells: number;
  /**
   * Ranks that are not in it, for lack of room.
   */
  n_rows_left_out: number;
  /**
   * Iterations that a cell is the mean of.
   */
  per_cell: number;
  /**
   * Places of the ranks that are its rows.
   */
  places: number[];
  unit_ns: number;
}
/**
 * The ranks of a column together.
 */
export interface MapColumn {
  first: number;
  is_warm_up: boolean;
  median_ns: number;
  own_median_ns: number | null;
}
/**
 * What pictures need to know of a rank.
 */
export interface Rank {
  /**
   * Either way.
   */
  error_ns: number | null;
  host: string;
  is_slow: boolean;
  /**
   * `3`, or the process.
   */
  label: string;
  /**
   * On the axis of the job; null where that is not known.
   */
  start_ns: number | null;
  state: MemberState;
  wall_ns: number;
}
/**
 * Strips but for their columns: of all pieces the names, the starts on the rank's own clock, each as its distance from the one before, and the lengths, in units.
 */
export interface Strips {
  /**
   * Which of them are collectives, and waits for them.
   */
  communication: number[];
  /**
   * Ranks that have none, for lack of room.
   */
  n_left_out: number;
  /**
   * Pieces of each.
   */
  n_pieces: number[];
  /**
   * What pieces are called, the longest in all ranks first; one past the last are all others.
   */
  names: string[];
  /**
   * Places of the ranks that have one.
   */
  places: number[];
  unit_ns: number;
}
/**
 * The timeline but for its columns.
 */
export interface Timeline {
  /**
   * The last moment of anything.
   */
  end_ns: number;
  groups: GroupObject[];
  n_parts: number;
  n_slices: number;
  n_tracks_left_out: number;
  paths: Paths;
  /**
   * What slices were made of.
   */
  recorded: Recorded;
  /**
   * null when every slice stands for itself.
   */
  summarised: Summarised | null;
  tracks: TrackObject[];
  unit_ns: number;
  widths: number[];
}
/**
 * Rows that belong together: they are folded together.
 */
export interface GroupObject {
  kind: GroupKind;
  rows: RowObject[];
  title: string;
}
/**
 * Slices of which no two overlap, by time.
 */
export interface RowObject {
  depth: number;
  kind: RowKind;
  /**
   * How many; columns have the slices themselves.
   */
  n_slices: number;
}
/**
 * Call paths by number: those of the run first, with the same numbers, then names of sessions and events.
 */
export interface Paths {
  /**
   * One digit a path: see `Category`.
   */
  categories: string;
  /**
   * Sessions and events that stand under "(other names)", because there are too many names.
   */
  n_without_name: number;
  /**
   * As the user gave them, cut at 300 characters; not safe to print.
   */
  names: string[];
  /**
   * Number of the path around it; its own number where there is none.
   */
  parents: number[];
}
/**
 * What slices were made of: none is left out.
 */
export interface Recorded {
  events: number;
  open: number;
  sections: number;
  sessions: number;
}
/**
 * What was put together.
 */
export interface Summarised {
  /**
   * Slices that were put together.
   */
  n_slices: number;
  /**
   * What they were put into.
   */
  n_summaries: number;
  /**
   * Those that are shorter were put together with others that follow in the same row.
   */
  shorter_than_ns: number;
}
export interface TrackObject {
  /**
   * Every point is one reading, so its least and most are its mean.
   */
  is_each: boolean;
  kind: TrackKind;
  n_points: number;
  name: string;
  subject: string;
  unit: string;
}
/**
 * What pictures of a comparison draw.
 */
export interface DrawnComparison {
  /**
   * What there was no room for, as sentences.
   */
  not_drawn: string[];
  /**
   * What held the runs up, those above before those under them; empty where that is not known.
   */
  paths: ComparedPath[];
  /**
   * The runs of the baseline, then those of the candidate.
   *
   * @minItems 2
   * @maxItems 2
   */
  sides: [DrawnRun[], DrawnRun[]];
}
/**
 * A call path of both sides, in the baseline's words.
 */
export interface ComparedPath {
  /**
   * What it held a run of each side up, with all that is below it: the means.
   *
   * @minItems 2
   * @maxItems 2
   */
  held_ns: [number, number];
  name: string;
  /**
   * Place of the path around it in the list.
   */
  parent: number | null;
}
/**
 * One run of a side.
 */
export interface DrawnRun {
  /**
   * How long each of its denoising steps took, in order of time; null where that is not known of one.
   */
  step_ns: (number | null)[];
  wall_ns: number;
}
