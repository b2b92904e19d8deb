// Rank by step (and by block): who was slow, and when.

import { useMemo } from "preact/hooks";

import { count, counted, duration } from "../data/quantity";
import type { DrawnJob, Job, MapCells, Turns } from "../data/ranks";
import { useAddress } from "../data/state";
import { Choice } from "../parts/choice";
import { type Cell, Heatmap } from "../parts/heatmap";
import { signed } from "./stragglers";
import { rankLabel, rankOnHost } from "./words";

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
  const hasSteps = job.steps && steps && steps.n_cells > 0 && steps.places.length > 0;
  const hasBlocks = job.blocks && blocks && blocks.n_cells > 0 && blocks.places.length > 0;
  if (!hasSteps && !hasBlocks) {
    return (
      <section class="part">
        <h2>Ranks and their steps</h2>
        <p class="muted">No rank recorded steps or blocks.</p>
      </section>
    );
  }
  return (
    <>
      {hasSteps && <Map job={job} turns={job.steps as Turns} cells={steps} places={places} one="step" several="steps" />}
      {hasBlocks && <Map job={job} turns={job.blocks as Turns} cells={blocks} places={places} one="block" several="blocks" />}
    </>
  );
}

type MapProps = { job: Job; turns: Turns; cells: MapCells; places: readonly number[]; one: string; several: string };

function Map({ job, turns, cells, places, one, several }: MapProps) {
  const { heat, time: chosen } = useAddress();
  const shown: Shown = heat === "difference" ? "difference" : "duration";
  const time: Time = cells.own && chosen !== "whole" ? "own" : "whole";
  const durations = (time === "own" && cells.own) || cells.durations;
  const rows = useMemo(() => rowsOf(cells, places), [cells, places]);
  const values = useMemo(() => valuesOf(turns, cells, time, durations, shown), [turns, cells, time, durations, shown]);
  const { usual, warmUp, hasLonger } = useMemo(() => scalesOf(turns, cells, values), [turns, cells, values]);
  const slow = useMemo(() => new Set(job.stragglers.ranks.filter(({ verdict }) => verdict === "slow").map(({ place }) => place)), [job]);
  const labels = useMemo(() => rows.map((row) => rankLabel(job, cells.places[row] as number)), [job, rows, cells]);
  const columns = useMemo(() => Array.from({ length: cells.n_cells }, (_, n) => String(turns.each[n]?.first ?? n * turns.per_cell)), [turns, cells]);
  const cellAt = (row: number, column: number): Cell | undefined => {
    const value = values[(rows[row] as number) * cells.n_cells + column] as number;
    return Number.isNaN(value) ? undefined : { row, column, value, kind: turns.each[column]?.is_warm_up ? "warm_up" : undefined };
  };
  const show = shown === "duration" ? duration : signed;
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
        scale={usual ?? warmUp ?? [0, 0]}
        warmUpScale={usual ? warmUp : undefined}
        show={show}
        describe={({ row, column }) => described(job, turns, cells, time, rows[row] as number, column, one)}
        isMarked={(row) => slow.has(cells.places[rows[row] as number] as number)}
      />
      <Notes turns={turns} time={time} leftOut={cells.n_rows_left_out} one={one} several={several} />
    </section>
  );
}

function Notes({ turns, time, leftOut, one, several }: { turns: Turns; time: Time; leftOut: number; one: string; several: string }) {
  const notes = [
    time === "own" && "Without communication: less all time in collectives, transfer as well as waiting.",
    turns.per_cell > 1 && `A cell is the mean of ${count(turns.per_cell)} ${several}.`,
    turns.counts_differ && `Ranks have from ${count(turns.counts_differ[0])} to ${counted(turns.counts_differ[1], one, several)}.`,
    leftOut > 0 && `${counted(leftOut, "rank is", "ranks are")} not drawn: those with the highest scores are, and others evenly.`,
  ].filter(Boolean);
  return notes.length > 0 ? <p class="muted heatmap-note">{notes.join(" ")}</p> : null;
}

/** Rows of the map in the order of ranks. */
function rowsOf(cells: MapCells, places: readonly number[]): number[] {
  const rows = new globalThis.Map(cells.places.map((place, row) => [place, row]));
  return places.map((place) => rows.get(place)).filter((row) => row !== undefined);
}

/** Times, or by how much they are above the median of their column. */
function valuesOf(turns: Turns, { n_cells: n }: MapCells, time: Time, durations: Float64Array, shown: Shown): Float64Array {
  if (shown === "duration") {
    return durations;
  }
  const medians = Array.from({ length: n }, (_, column) => medianOf(turns, time, column));
  return durations.map((duration, at) => {
    const median = medians[at % n] as number;
    return median > 0 ? duration / median - 1 : NaN;
  });
}

/** Of a column; 0 where there is none. */
function medianOf({ each }: Turns, time: Time, column: number): number {
  const spread = each[column];
  return (time === "own" ? spread?.own : spread?.durations)?.median_ns ?? 0;
}

type Scale = readonly [number, number];

/** The scale of steady turns leaves out the most extreme values, 2 % at either end. The warm-up has one of its own. */
function scalesOf({ each }: Turns, { n_cells: n }: MapCells, values: Float64Array): { usual: Scale | undefined; warmUp: Scale | undefined; hasLonger: boolean } {
  const isWarmUp = Array.from({ length: n }, (_, column) => each[column]?.is_warm_up === true);
  const found: [number[], number[]] = [[], []];
  const stride = Math.max(1, Math.floor(values.length / LOOKED_AT));
  let longest = -Infinity;
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at] as number;
    const isOfWarmUp = isWarmUp[at % n] as boolean;
    if (Number.isNaN(value)) {
      continue;
    }
    // Of the warm-up there is little, and all of it counts.
    if (isOfWarmUp || stride === 1 || (at * 7919) % stride === 0) {
      found[isOfWarmUp ? 1 : 0].push(value);
    }
    longest = isOfWarmUp ? longest : Math.max(longest, value);
  }
  const [usual, warmUp] = [scaleOf(found[0], 0.02), scaleOf(found[1], 0)];
  return { usual, warmUp, hasLonger: usual !== undefined && longest > usual[1] };
}

/** Without a part of the values at either end. */
function scaleOf(values: number[], part: number): Scale | undefined {
  values.sort((a, b) => a - b);
  const at = (place: number) => values[Math.floor(place * (values.length - 1))] as number;
  return values.length > 0 ? [at(part), at(1 - part)] : undefined;
}

function described(job: Job, turns: Turns, cells: MapCells, time: Time, row: number, column: number, one: string): string {
  const at = row * cells.n_cells + column;
  const [whole, own] = [cells.durations[at] as number, cells.own?.[at] ?? NaN];
  const ns = time === "own" ? own : whole;
  const spread = turns.each[column];
  const first = spread?.first ?? column * turns.per_cell;
  const turn = turns.per_cell > 1 ? `${one}s ${count(first)} to ${count(first + turns.per_cell - 1)}, mean` : `${one} ${count(first)}`;
  const median = medianOf(turns, time, column);
  const difference = `${signed(ns / median - 1)} (${ns < median ? "\u2212" : "+"}${duration(Math.abs(ns - median))}) against the median of ranks`;
  const parts = [
    `${rankOnHost(job, cells.places[row] as number)}, ${turn}: ${time === "own" ? `${duration(own)} without communication, of ${duration(whole)}` : duration(whole)}`,
    median > 0 && difference,
    spread?.is_warm_up && "warm-up",
  ];
  return parts.filter(Boolean).join(" · ");
}
