// Steps as a heat map: a row a block (or a loop), a column a step of it. The first step is grey, and steps that took much longer
// than the others have a scale of their own: one of them would leave a single colour for all others.

import { useMemo } from "preact/hooks";

import type { StepPoint, Steps } from "../../model/page";
import { duration, number } from "../data/quantity";
import { showInTimeline } from "../data/state";
import { type Cell, Heatmap, lookOf, type Scales, scalesOf } from "../parts/heatmap";

type StepCell = Cell & { point: StepPoint };

/** What each step is; nothing of one that was computed as usual. */
export function kindsOf({ each, outliers }: Steps): Cell["kind"][] {
  const isOutlier = new Set(outliers);
  return each.map((step, at) => (step.is_warm_up ? "warm_up" : isOutlier.has(at) ? "outlier" : step.is_cached ? "cached" : undefined));
}

export function StepMap({ steps }: { steps: Steps }) {
  const { cells, rows, columns, rowTitle } = useMemo(() => cellsOf(steps), [steps]);
  const byPlace = useMemo(() => new Map(cells.map((cell) => [cell.row * columns.length + cell.column, cell])), [cells, columns]);
  const scales = useMemo(() => scalesOfCells(cells), [cells]);
  if (rows.length < 2 || columns.length < 2 || !scales) {
    return null;
  }
  return (
    <section class="part">
      <h2>{rowTitle === "block" ? "Blocks and their steps" : "Loops and their steps"}</h2>
      <Heatmap
        summary={`Duration of ${cells.length} steps, ${rows.length} rows of up to ${columns.length} steps. Arrow keys go from cell to cell.`}
        cellAt={(row, column) => byPlace.get(row * columns.length + column)}
        has={{ longer: false, cached: cells.some(({ kind }) => kind === "cached") }}
        rows={rows}
        columns={columns}
        rowTitle={rowTitle}
        columnTitle="step"
        scales={scales}
        show={duration}
        describe={(cell) => described(cell as StepCell, rowTitle)}
        onSelect={(cell) => {
          const { end_ns: end, duration_ns: length } = (cell as StepCell).point;
          showInTimeline(end - (length ?? 0), end);
        }}
      />
    </section>
  );
}

function scalesOfCells(cells: readonly StepCell[]): Scales | undefined {
  const of = (look: string) => cells.filter(({ kind }) => lookOf(kind) === look).map(({ value }) => value);
  return scalesOf({ usual: of("usual"), warm_up: of("warm_up"), outlier: of("outlier") });
}

function cellsOf(steps: Steps): { cells: StepCell[]; rows: string[]; columns: string[]; rowTitle: string } {
  const hasBlocks = steps.each.some((point) => point.block !== null);
  const places = new Map<number, number>();
  const rows: string[] = [];
  const cells: StepCell[] = [];
  let most = 0;
  const kinds = kindsOf(steps);
  for (const [at, point] of steps.each.entries()) {
    if (point.duration_ns === null) {
      continue;
    }
    let row = places.get(point.loop_number);
    if (row === undefined) {
      row = rows.push(String(point.block ?? point.loop_number)) - 1;
      places.set(point.loop_number, row);
    }
    most = Math.max(most, point.step + 1);
    cells.push({ row, column: point.step, value: point.duration_ns, kind: kinds[at], point });
  }
  // A step's number is what the program said: far beyond the steps that there are, it is no column.
  const columns = Array.from({ length: most <= 100_000 ? most : 0 }, (_, step) => String(step));
  return { cells, rows, columns, rowTitle: hasBlocks ? "block" : "loop" };
}

function described({ point, kind }: StepCell, rowTitle: string): string {
  const parts = [
    `${rowTitle} ${point.block ?? point.loop_number}, step ${point.step}: ${duration(point.duration_ns)}`,
    kind === "outlier" ? "much longer than the others" : null,
    point.is_warm_up ? "warm-up" : point.is_cached ? "answered by a cache" : point.is_cached === false ? "computed, a cache was asked" : null,
    point.timestep === null ? null : `timestep ${number(point.timestep)}`,
    point.frames === null ? null : `${number(point.frames)} latent frames`,
    point.guidance_scale === null ? null : `guidance ${number(point.guidance_scale)}`,
  ];
  return parts.filter((part) => part !== null).join(" · ");
}
