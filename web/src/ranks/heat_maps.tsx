// Rank by step (and by block): who was slow, and when.

import { useMemo } from "preact/hooks";

import type { JobPage } from "../../model/page";
import { change, count, counted, duration } from "../data/quantity";
import type { DrawnJob, MapCells } from "../data/ranks";
import { useAddress } from "../data/state";
import { Choice } from "../parts/controls";
import { type Cell, Heatmap, Notes, type Scales, scalesOf } from "../parts/heatmap";
import { rankOnHost } from "./strips";

type Time = "own" | "whole";
type Shown = "duration" | "difference";

const TIMES: readonly (readonly [Time, string])[] = [
  ["own", "without communication"],
  ["whole", "whole"],
];
const SHOWN: readonly (readonly [Shown, string])[] = [
  ["duration", "as it is"],
  ["difference", "above the median of ranks"],
];
/** Values that are looked at to find the scale. */
const LOOKED_AT = 50_000;

type HeatMapsProps = { drawn: DrawnJob; places: readonly number[] };

export function HeatMaps({ drawn, places }: HeatMapsProps) {
  const { job, step_map: steps, block_map: blocks } = drawn;
  const isThere = (cells: MapCells | null) => cells !== null && cells.n_cells > 0 && cells.places.length > 0;
  return (
    <>
      {isThere(steps) && <Map job={job} cells={steps as MapCells} places={places} one="step" several="steps" />}
      {isThere(blocks) && <Map job={job} cells={blocks as MapCells} places={places} one="block" several="blocks" />}
    </>
  );
}

type MapProps = { job: JobPage; cells: MapCells; places: readonly number[]; one: string; several: string };

function Map({ job, cells, places, one, several }: MapProps) {
  const { heat, time: chosen } = useAddress();
  const shown: Shown = heat === "difference" ? "difference" : "duration";
  const time: Time = cells.own && chosen !== "whole" ? "own" : "whole";
  const durations = (time === "own" && cells.own) || cells.durations;
  const rows = useMemo(() => rowsOf(cells, places), [cells, places]);
  const values = useMemo(() => valuesOf(cells, time, durations, shown), [cells, time, durations, shown]);
  const { scales, hasLonger } = useMemo(() => scalesOfCells(cells, values), [cells, values]);
  const labels = useMemo(() => rows.map((row) => job.ranks[cells.places[row] as number]?.label ?? "?"), [job, rows, cells]);
  const columns = useMemo(() => Array.from({ length: cells.n_cells }, (_, n) => String(cells.columns[n]?.first ?? n * cells.per_cell)), [cells]);
  const cellAt = (row: number, column: number): Cell | undefined => {
    const value = values[(rows[row] as number) * cells.n_cells + column] as number;
    return Number.isNaN(value) ? undefined : { row, column, value, kind: cells.columns[column]?.is_warm_up ? "warm_up" : undefined };
  };
  const show = shown === "duration" ? duration : (part: number) => change(part + 1);
  return (
    <section class="part" data-map={several}>
      <h2>
        Ranks and their {several}
        {cells.own && <Choice name="time" value={time} options={TIMES} label={`Time of ${several}`} />}
        <Choice name="heat" value={shown} options={SHOWN} label={`What cells of ${several} show`} />
      </h2>
      <Heatmap
        summary={`${time === "own" ? "Duration without communication" : "Duration"} of ${several}${shown === "duration" ? "" : " above the median of ranks"}, ${counted(rows.length, "rank", "ranks")} of up to ${count(cells.n_cells)}. Arrow keys go from cell to cell.`}
        cellAt={cellAt}
        has={{ longer: hasLonger }}
        rows={labels}
        columns={columns}
        rowTitle="rank"
        columnTitle={one}
        scales={scales}
        show={show}
        describe={({ row, column }) => described(job, cells, time, rows[row] as number, column, one)}
        isMarked={(row) => job.ranks[cells.places[rows[row] as number] as number]?.is_slow ?? false}
      />
      <Notes of={notesOf(cells, time, one, several)} />
    </section>
  );
}

function notesOf({ per_cell: perCell, counts_differ: differ, n_rows_left_out: leftOut }: MapCells, time: Time, one: string, several: string) {
  return [
    time === "own" && "Without communication: less all time in collectives, transfer as well as waiting.",
    perCell > 1 && `A cell is the mean of ${count(perCell)} ${several}.`,
    differ && `Ranks have from ${count(differ[0])} to ${counted(differ[1], one, several)}.`,
    leftOut > 0 && `${counted(leftOut, "rank is", "ranks are")} not drawn: those with the highest scores are, and others evenly.`,
  ];
}

/** Rows of the map in the order of ranks. */
function rowsOf(cells: MapCells, places: readonly number[]): number[] {
  const rows = new globalThis.Map(cells.places.map((place, row) => [place, row]));
  return places.map((place) => rows.get(place)).filter((row) => row !== undefined);
}

/** Times, or by how much they are above the median of their column. */
function valuesOf(cells: MapCells, time: Time, durations: Float64Array, shown: Shown): Float64Array {
  if (shown === "duration") {
    return durations;
  }
  const n = cells.n_cells;
  const medians = Array.from({ length: n }, (_, column) => medianOf(cells, time, column));
  return durations.map((duration, at) => {
    const median = medians[at % n] as number;
    return median > 0 ? duration / median - 1 : NaN;
  });
}

/** Of a column; 0 where there is none. */
function medianOf({ columns }: MapCells, time: Time, column: number): number {
  return columns[column]?.[time === "own" ? "own_median_ns" : "median_ns"] ?? 0;
}

/** The scale of steady iterations leaves out the most extreme values, 2 % at either end. */
function scalesOfCells({ columns, n_cells: n }: MapCells, values: Float64Array): { scales: Scales; hasLonger: boolean } {
  const found = { usual: [] as number[], warm_up: [] as number[], outlier: [] };
  const stride = Math.max(1, Math.floor(values.length / LOOKED_AT));
  let longest = -Infinity;
  for (const [at, value] of values.entries()) {
    const look = columns[at % n]?.is_warm_up ? "warm_up" : "usual";
    // Of the warm-up there is little, and all of it counts.
    if (!Number.isNaN(value) && (look === "warm_up" || stride === 1 || (at * 7919) % stride === 0)) {
      found[look].push(value);
    }
    longest = look === "usual" && value > longest ? value : longest;
  }
  const scales = scalesOf(found, 0.02) ?? { usual: [0, 0] };
  return { scales, hasLonger: longest > scales.usual[1] };
}

function described(job: JobPage, cells: MapCells, time: Time, row: number, column: number, one: string): string {
  const at = row * cells.n_cells + column;
  const [whole, own] = [cells.durations[at] as number, cells.own?.[at] ?? NaN];
  const ns = time === "own" ? own : whole;
  const spread = cells.columns[column];
  const first = spread?.first ?? column * cells.per_cell;
  const turn = cells.per_cell > 1 ? `${one}s ${count(first)} to ${count(first + cells.per_cell - 1)}, mean` : `${one} ${count(first)}`;
  const median = medianOf(cells, time, column);
  const difference = `${change(ns / median)} (${ns < median ? "\u2212" : "+"}${duration(Math.abs(ns - median))}) against the median of ranks`;
  const parts = [
    `${rankOnHost(job, cells.places[row] as number)}, ${turn}: ${time === "own" ? `${duration(own)} without communication, of ${duration(whole)}` : duration(whole)}`,
    median > 0 && difference,
    spread?.is_warm_up && "warm-up",
  ];
  return parts.filter(Boolean).join(" · ");
}
