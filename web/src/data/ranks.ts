// What the page of many ranks draws, decoded. Ranks are named by their place: an index into `ranks` of the job.

import type { DrawnMap, JobPage } from "../../model/page";
import { Columns } from "./columns";

/** What a rank did when, on the common axis. */
export type Strip = {
  place: number;
  /** Number of each piece's name. */
  names: Uint32Array;
  start: Float64Array;
  end: Float64Array;
};

/** A heat map: NaN where nothing is known. */
export type MapCells = DrawnMap & {
  durations: Float64Array;
  /** Without the time in collectives; null when no rank recorded any. */
  own: Float64Array | null;
};

/** A job with what was in columns. */
export type DrawnJob = {
  job: JobPage;
  strips: Strip[];
  step_map: MapCells | null;
  block_map: MapCells | null;
};

/** Reads the columns, which follow one another job by job. */
export function drawnJobs(jobs: readonly JobPage[], widths: readonly number[], bytes: Uint8Array): DrawnJob[] {
  const columns = new Columns(bytes, widths);
  return jobs.map((job) => ({
    job,
    strips: strips(job, columns),
    step_map: cells(job.step_map, columns),
    block_map: cells(job.block_map, columns),
  }));
}

function strips({ ranks, strips: { places, n_pieces, unit_ns } }: JobPage, columns: Columns): Strip[] {
  const names = columns.words(n_pieces.reduce((sum, pieces) => sum + pieces, 0));
  let first = 0;
  return columns.spans(n_pieces, unit_ns).map(({ start, end }, at) => {
    const place = places[at] as number;
    // Where its clock is not known, it is drawn from the beginning.
    const begin = ranks[place]?.start_ns ?? 0;
    for (let piece = 0; piece < start.length; piece += 1) {
      start[piece]! += begin;
      end[piece]! += begin;
    }
    return { place, names: names.subarray(first, (first += start.length)), start, end };
  });
}

function cells(map: DrawnMap | null, columns: Columns): MapCells | null {
  if (!map) {
    return null;
  }
  const column = () => columns.numbers(map.places.length * map.n_cells).map((units) => (units === 0 ? NaN : (units - 1) * map.unit_ns));
  return { ...map, durations: column(), own: map.has_own ? column() : null };
}
