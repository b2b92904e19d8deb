// The shape of the answers about jobs of many ranks, as marey-analysis serializes them and marey-report's html/ranks puts them into the page. What is
// not known is null. Ranks are named by their place: an index into `members`.

import { Columns } from "./columns";
import type { Findings } from "./report";

export type RanksModel = {
  kind: "ranks";
  jobs: JobPage[];
  n_jobs_left_out: number;
  scaling: Scaling | null;
  unread: Unread[];
  n_unread_left_out: number;
  widths: number[];
};

export type Unread = { file: string; rank: number | null; why: string };

export type JobPage = {
  answers: Job;
  left_out: { sections: number; collectives: number; findings: number; missing: number; unread: number };
  strips: StripsModel;
  step_map: MapModel | null;
  block_map: MapModel | null;
};

export type StripsModel = {
  places: number[];
  n_pieces: number[];
  /** The longest first; pieces of all other names have the number after the last. */
  names: string[];
  /** Which of them are collectives, and waits for them. */
  communication: number[];
  unit_ns: number;
  n_merged: number;
  n_left_out: number;
};

export type MapModel = { places: number[]; n_cells: number; unit_ns: number; has_own: boolean; n_rows_left_out: number };

export type Job = {
  job_id: string;
  n_processes: number;
  world_size: number | null;
  missing: number[];
  unread: Unread[];
  other_world_sizes: number[];
  members: Member[];
  hosts: { host: string; places: number[] }[];
  versions: { marey: string | null; places: number[] }[];
  clocks: { each: PlacedClock[]; start_unix_ns: number | null; error_ns: number | null; note: string };
  span_ns: number;
  sections: SectionSpread[];
  steps: Turns | null;
  blocks: Turns | null;
  waiting: { ranks: RankWaiting[]; collectives: CollectiveWaiting[] } | null;
  stragglers: { basis: string; is_waiting_known: boolean; ranks: Straggler[] };
  resources: Resources;
  work: { pixel_frames_max: number | null; pixel_frames_sum: number | null; pixel_frames_per_second_min: number | null };
  findings: Findings;
  rank_findings: RankFindings[];
};

/** What a rule found in single ranks: as the most severe finding says it. */
export type RankFindings = { rule: string; severity: string; places: number[]; issue: string };

export type Member = {
  rank: number | null;
  host: string;
  local_rank: number | null;
  pid: number;
  file: string;
  source: "capture" | "trace" | "report";
  ended: "not_known" | "running" | "finished" | "without_closing" | { failed: string } | { killed: number };
  state: "whole" | "running" | "cut" | "damaged";
  wall_ns: number;
  n_lost: number;
  warnings: string[];
  n_others: number;
};

export type PlacedClock = {
  start_ns: number | null;
  correction_ns: number;
  error_ns: number | null;
  method: "wall_clock" | "same_clock" | "collectives" | "start_marks" | "not_known";
};

export type OverRanks = {
  n_ranks: number;
  min_ns: number;
  median_ns: number;
  mean_ns: number;
  max_ns: number;
  slowest: number;
  spread_ns: number;
  spread_ratio: number | null;
};

export type SectionSpread = {
  path: string[];
  is_iteration: boolean;
  count: number;
  errors: number;
  total_ns: number;
  totals: OverRanks | null;
  means: OverRanks | null;
  min_ns: number | null;
  max_ns: number | null;
  median_ns: number | null;
  p95_ns: number | null;
  n_open: number;
};

export type Turns = {
  count: number;
  counts_differ: [number, number] | null;
  /** Ranks of which turns are lost, by place: they have a median, and are not compared one by one. */
  out_of_step: number[];
  per_cell: number;
  medians: OverRanks | null;
  each: TurnSpread[];
};

export type TurnSpread = { first: number; is_warm_up: boolean; durations: OverRanks; own: OverRanks | null };

export type RankWaiting = {
  place: number;
  n_calls: number;
  total_ns: number;
  n_matched: number;
  transfer_ns: number;
  waiting_ns: number;
  waiting_ratio: number | null;
  n_last: number;
  caused_ns: number;
};

export type CollectiveWaiting = {
  group: string | null;
  name: string;
  is_device: boolean;
  /** It is how the ranks come together at first: in no rank's waiting. */
  is_start_up: boolean;
  n_ranks: number;
  /** Which ranks, where several groups have this name. */
  places: number[];
  /** Several groups have this name, and which of these ranks are one is not known: nothing is matched. */
  is_ambiguous: boolean;
  n_calls: number | null;
  transfer_ns: number | null;
  waiting_ns: number | null;
  bytes: number | null;
  /** Calls that were left by an error, and their time; in no other figure. */
  n_failed: number;
  failed_ns: number;
};

export type Straggler = { place: number; own_ns: number; waiting_ns: number | null; score: number; verdict: "even" | "slow" | "waits" | "unknown" };

export type Range = { min: number; mean: number; max: number };

export type RankGpu = { places: number[]; host: string; gpu: Gpu };

export type Resources = {
  gpus: RankGpu[];
  gpu_memory_bytes: Range | null;
  gpu_utilization_ratio: Range | null;
  power_watts: number | null;
  energy_joules: number | null;
  ranks: { place: number; machine: Machine }[];
};

export type Gpu = {
  uuid: string;
  name: string | null;
  memory_bytes: Range | null;
  memory_total_bytes: number | null;
  utilization_ratio: Range | null;
  temperature_celsius: Range | null;
  power_watts: Range | null;
  energy_joules: number | null;
  is_at_thermal_risk: boolean | null;
};

export type Machine = {
  process_cores: Range | null;
  host_cpu_ratio: Range | null;
  host_memory_bytes: Range | null;
  process_memory_peak_bytes: number | null;
  torch_allocated_peak_bytes: number | null;
  torch_reserved_peak_bytes: number | null;
};

export type Scaling = { measure: string; rows: ScalingRow[] };

export type ScalingRow = {
  world_size: number;
  n_jobs: number;
  duration_ns: number;
  speedup: number;
  shared_efficiency: number;
  own_efficiency: number;
  waiting_ratio: number | null;
  communication_ratio: number | null;
};

/** What a rank did when, on the common axis. */
export type Strip = {
  place: number;
  /** Number of each piece's name. */
  names: Uint32Array;
  start: Float64Array;
  end: Float64Array;
};

/** A heat map: NaN where nothing is known. */
export type MapCells = {
  places: readonly number[];
  n_cells: number;
  durations: Float64Array;
  /** Without the time in collectives; null when no rank recorded any. */
  own: Float64Array | null;
  n_rows_left_out: number;
};

/** A job with what was in columns. */
export type DrawnJob = {
  job: Job;
  left_out: JobPage["left_out"];
  strips: Strip[];
  stripNames: readonly string[];
  /** Which of these are collectives, and waits for them. */
  communication: readonly number[];
  n_merged: number;
  n_strips_left_out: number;
  step_map: MapCells | null;
  block_map: MapCells | null;
};

/** Reads the columns, which follow one another job by job. */
export function drawnJobs(model: RanksModel, bytes: Uint8Array): DrawnJob[] {
  const columns = new Columns(bytes, model.widths);
  return model.jobs.map((page) => ({
    job: page.answers,
    left_out: page.left_out,
    strips: strips(page, columns),
    stripNames: page.strips.names,
    communication: page.strips.communication,
    n_merged: page.strips.n_merged,
    n_strips_left_out: page.strips.n_left_out,
    step_map: cells(page.step_map, columns),
    block_map: cells(page.block_map, columns),
  }));
}

function strips({ answers, strips: { places, n_pieces, unit_ns: unit } }: JobPage, columns: Columns): Strip[] {
  const n = n_pieces.reduce((sum, pieces) => sum + pieces, 0);
  const [names, starts, lengths] = [columns.words(n), columns.numbers(n), columns.numbers(n)];
  let first = 0;
  return places.map((place, at) => {
    const last = first + (n_pieces[at] ?? 0);
    const strip = { place, names: names.subarray(first, last), start: starts.subarray(first, last), end: lengths.subarray(first, last) };
    // Where its clock is not known, it is drawn from the beginning.
    const begin = answers.clocks.each[place]?.start_ns ?? 0;
    let before = 0;
    for (let piece = 0; piece < strip.start.length; piece += 1) {
      before += strip.start[piece] as number;
      strip.start[piece] = begin + before * unit;
      strip.end[piece] = begin + (before + (strip.end[piece] as number)) * unit;
    }
    first = last;
    return strip;
  });
}

function cells(map: MapModel | null, columns: Columns): MapCells | null {
  if (!map) {
    return null;
  }
  const column = () => columns.numbers(map.places.length * map.n_cells).map((units) => (units === 0 ? NaN : (units - 1) * map.unit_ns));
  const { places, n_cells, n_rows_left_out } = map;
  return { places, n_cells, durations: column(), own: map.has_own ? column() : null, n_rows_left_out };
}
