// What the page of many ranks draws, as marey-report's html/ranks serializes it. Ranks are named by their place: an index into `ranks`.

import { Columns } from "./columns";
import type { Contents } from "./document";

export type RanksModel = {
  kind: "ranks";
  /** About all jobs. */
  contents: Contents;
  jobs: JobPage[];
  widths: number[];
};

export type JobPage = Job & { strips: StripsModel; step_map: MapModel | null; block_map: MapModel | null };

/** What pictures need to know of a job. */
export type Job = {
  /** Above the pictures, then below them. */
  contents: Contents;
  span_ns: number;
  ranks: Rank[];
  /** Ranks of which nothing is known, by number, and whether there is a file that could not be read. */
  absent: [rank: number, isUnread: boolean][];
  /** Places, the slowest first. */
  by_score: number[];
};

export type Rank = {
  /** `3`, or the process. */
  label: string;
  host: string;
  state: "whole" | "running" | "cut" | "damaged";
  is_slow: boolean;
  wall_ns: number;
  start_ns: number | null;
  error_ns: number | null;
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

export type MapModel = {
  places: number[];
  n_cells: number;
  unit_ns: number;
  has_own: boolean;
  n_rows_left_out: number;
  /** Turns that a cell is the mean of. */
  per_cell: number;
  /** Fewest and most turns of a rank, where ranks differ. */
  counts_differ: [number, number] | null;
  columns: MapColumn[];
};

/** What all ranks have of a column. */
export type MapColumn = { first: number; is_warm_up: boolean; median_ns: number; own_median_ns: number | null };

/** What a rank did when, on the common axis. */
export type Strip = {
  place: number;
  /** Number of each piece's name. */
  names: Uint32Array;
  start: Float64Array;
  end: Float64Array;
};

/** A heat map: NaN where nothing is known. */
export type MapCells = MapModel & {
  durations: Float64Array;
  /** Without the time in collectives; null when no rank recorded any. */
  own: Float64Array | null;
};

/** A job with what was in columns. */
export type DrawnJob = {
  job: Job;
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
  return model.jobs.map((job) => ({
    job,
    strips: strips(job, columns),
    stripNames: job.strips.names,
    communication: job.strips.communication,
    n_merged: job.strips.n_merged,
    n_strips_left_out: job.strips.n_left_out,
    step_map: cells(job.step_map, columns),
    block_map: cells(job.block_map, columns),
  }));
}

function strips({ ranks, strips: { places, n_pieces, unit_ns: unit } }: JobPage, columns: Columns): Strip[] {
  const n = n_pieces.reduce((sum, pieces) => sum + pieces, 0);
  const [names, starts, lengths] = [columns.words(n), columns.numbers(n), columns.numbers(n)];
  let first = 0;
  return places.map((place, at) => {
    const last = first + (n_pieces[at] ?? 0);
    const strip = { place, names: names.subarray(first, last), start: starts.subarray(first, last), end: lengths.subarray(first, last) };
    // Where its clock is not known, it is drawn from the beginning.
    const begin = ranks[place]?.start_ns ?? 0;
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
  return { ...map, durations: column(), own: map.has_own ? column() : null };
}
