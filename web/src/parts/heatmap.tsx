// A heat map: rows and columns of cells, coloured by one number in seven classes. Only the rows in view are drawn, so its
// canvas has the size of the view and not of the data.

import { useState } from "preact/hooks";

import { arrowOf, Canvas, drawRowNames, PLOT_LEFT, revealRow, type RowLayout, rowLayout, useView } from "./canvas";
import { cssColour, type Palette } from "./palette";

export type Cell = {
  row: number;
  column: number;
  value: number;
  /** Its own look: answered by a cache, part of the warm-up, much longer than the others. */
  kind?: "cached" | "warm_up" | "outlier" | undefined;
};

/** Where the lightest class begins and the darkest ends. */
type Scale = readonly [low: number, high: number];

/**
 * Which colours a cell has: those of the warm-up in grey, outliers in the colour of warnings, a class for each factor of the same size.
 * Either has a scale of its own, where there are any: one of them would leave a single colour for all others.
 */
type Look = "usual" | "warm_up" | "outlier";

export type Scales = { usual: Scale } & Partial<Record<Look, Scale>>;

export function lookOf(kind: Cell["kind"]): Look {
  return kind === "warm_up" || kind === "outlier" ? kind : "usual";
}

/** Of the values of each look; without a part of the usual ones at either end. */
export function scalesOf(values: Readonly<Record<Look, number[]>>, part = 0): Scales | undefined {
  const scaleOf = (of: number[], part: number): Scale[] => {
    of.sort((a, b) => a - b);
    const at = (place: number) => of[Math.floor(place * (of.length - 1))] as number;
    return of.length > 0 ? [[at(part), at(1 - part)]] : [];
  };
  const [[usual], [warm_up], [outlier]] = [scaleOf(values.usual, part), scaleOf(values.warm_up, 0), scaleOf(values.outlier, 0)] as const;
  const any = usual ?? warm_up ?? outlier;
  return any && { usual: any, ...(usual && warm_up && { warm_up }), ...(usual && outlier && { outlier }) };
}

/** What there is to say of a drawing; nothing where there is nothing. */
export function Notes({ of }: { of: readonly (string | false | null)[] }) {
  const notes = of.filter(Boolean);
  return notes.length > 0 ? <p class="muted heatmap-note">{notes.join(" ")}</p> : null;
}

type HeatmapProps = {
  summary: string;
  /** The cell at a place; nothing where there is none. */
  cellAt: (row: number, column: number) => Cell | undefined;
  /** What the legend has to say of cells. */
  has: { longer: boolean; cached?: boolean };
  rows: readonly string[];
  columns: readonly string[];
  rowTitle: string;
  columnTitle: string;
  scales: Scales;
  show: (value: number) => string;
  /** What is known of a cell. */
  describe: (cell: Cell) => string;
  onSelect?: (cell: Cell) => void;
  /** Rows that are marked. */
  isMarked?: (row: number) => boolean;
};

const CLASSES = 7;
const TOP = 22;

/** The class of a value, 0 to 6; 7 above the scale. */
function classOf(value: number, [low, high]: Scale): number {
  if (value > high) {
    return CLASSES;
  }
  return high > low ? Math.max(0, Math.min(CLASSES - 1, Math.floor(((value - low) / (high - low)) * CLASSES))) : 0;
}

/** As `classOf`, on a scale of factors: from 25 to 325, 90 is in the middle. A scale of one value has its darkest class only. */
function factorClassOf(value: number, [low, high]: Scale): number {
  return high > low && low > 0 ? classOf(Math.log(Math.min(value, high)), [Math.log(low), Math.log(high)]) : CLASSES - 1;
}

type Place = { row: number; column: number };

export function Heatmap(props: HeatmapProps) {
  const { rows, columns } = props;
  const view = useView();
  const [at, setAt] = useState<Place | null>(null);
  const layout = rowLayout(rows.length, TOP, 22, view);
  const cellWidth = Math.min(56, (view.width - PLOT_LEFT - 8) / columns.length);
  const cellAt = ({ row, column }: Place) => (row >= 0 && row < rows.length && column >= 0 && column < columns.length ? props.cellAt(row, column) : undefined);
  const found = at ? cellAt(at) : undefined;
  /** The next cell that there is in a direction; the same one at the edge. */
  const neighbour = (from: Place, [down, right]: readonly [number, number]) => {
    const next = { row: from.row + down, column: from.column + right };
    while (next.row >= 0 && next.row < rows.length && next.column >= 0 && next.column < columns.length) {
      if (cellAt(next)) {
        return next;
      }
      next.row += down;
      next.column += right;
    }
    return from;
  };
  const keyed = (key: string) => {
    const move = arrowOf(key);
    if (move) {
      const next = at ? neighbour(at, move) : { row: layout.first, column: 0 };
      setAt(next);
      revealRow(view, layout, next.row);
    } else if (key === "Enter" && found) {
      props.onSelect?.(found);
    } else {
      return false;
    }
    return true;
  };
  return (
    <div class="heatmap">
      <Canvas
        view={view}
        class="heatmap-scroll"
        label={props.summary}
        height={TOP + layout.seen}
        full={TOP + layout.full}
        draw={(ctx, palette) => draw(ctx, props, palette, layout, view.width, cellWidth, at)}
        onPoint={(point) => {
          const place = point && { row: Math.floor((point.y - TOP + layout.top) / layout.height), column: Math.floor((point.x - PLOT_LEFT) / cellWidth) };
          setAt(place && point.y >= TOP && cellAt(place) ? place : null);
        }}
        onClick={() => found && props.onSelect?.(found)}
        onKey={keyed}
      />
      <p class="heatmap-foot">
        <Legend {...props} />
        <output class="heatmap-cell" aria-live="polite">
          {found ? props.describe(found) : ""}
        </output>
      </p>
    </div>
  );
}

function Legend({ scales: { usual, warm_up: warmUp, outlier }, show, has }: HeatmapProps) {
  return (
    <span class="heatmap-legend">
      {show(usual[0])}
      <Classes of={usual} look="usual" lone={0} />
      {usual[0] < usual[1] ? show(usual[1]) : null}
      {has.longer && (
        <>
          <i style={{ background: classColour(cssColour, CLASSES) }} /> longer
        </>
      )}
      {has.cached && (
        <>
          <i class="heatmap-cached" /> answered by a cache
        </>
      )}
      {outlier && <Named look="outlier" name="outliers" of={outlier} show={show} />}
      {warmUp && <Named look="warm_up" name="warm-up" of={warmUp} show={show} />}
    </span>
  );
}

function Named({ look, name, of, of: [low, high], show }: { look: Look; name: string; of: Scale; show: HeatmapProps["show"] }) {
  return (
    <>
      <Classes of={of} look={look} lone={CLASSES - 1} />
      {name}, {show(low)}
      {low < high ? ` to ${show(high)}` : null}
    </>
  );
}

/** The classes of a scale; of one value that which is `lone`. */
function Classes({ of: [low, high], look, lone }: { of: Scale; look: Look; lone: number }) {
  const classes = low < high ? Array.from({ length: CLASSES }, (_, n) => n) : [lone];
  return (
    <span class="heatmap-classes">
      {classes.map((n) => (
        <i key={n} style={{ background: classColour(cssColour, n, look) }} />
      ))}
    </span>
  );
}

function classColour(colour: (name: "accent" | "muted" | "warn" | "panel") => string, n: number, look: Look = "usual"): string {
  if (n === CLASSES) {
    return colour("warn");
  }
  // Even the shortest outlier differs from all that is none.
  const [name, part] = ({ usual: ["accent", 12 + n * 13], warm_up: ["muted", 12 + n * 13], outlier: ["warn", 40 + n * 10] } as const)[look];
  return `color-mix(in srgb, ${colour(name)} ${part}%, ${colour("panel")})`;
}

function draw(ctx: CanvasRenderingContext2D, props: HeatmapProps, palette: Palette, layout: RowLayout, width: number, cellWidth: number, at: Place | null) {
  const { cellAt, columns, scales, isMarked } = props;
  const { height, top, first, last } = layout;
  const gap = Math.min(1, cellWidth / 4, height / 4);
  const coloursOf = (look: Look) => Array.from({ length: CLASSES + 1 }, (_, n) => classColour((name) => palette[name], n, look));
  const colours = { usual: coloursOf("usual"), warm_up: coloursOf("warm_up"), outlier: coloursOf("outlier") };
  const colourOf = ({ kind, value }: Cell) => {
    const look = scales[lookOf(kind)] ? lookOf(kind) : "usual";
    return colours[look][(look === "outlier" ? factorClassOf : classOf)(value, scales[look] ?? scales.usual)];
  };
  const x = (column: number) => PLOT_LEFT + column * cellWidth;
  const y = (row: number) => TOP + row * height - top;
  for (let row = first; row < last; row += 1) {
    for (let column = 0; column < columns.length; column += 1) {
      const cell = cellAt(row, column);
      if (!cell) {
        continue;
      }
      ctx.fillStyle = colourOf(cell) as string;
      ctx.fillRect(x(column), y(row), cellWidth - gap, height - gap);
      if (cell.kind === "cached") {
        ctx.fillStyle = palette.good;
        ctx.fillRect(x(column), y(row) + height - gap - 3, cellWidth - gap, 3);
      }
    }
  }
  if (at) {
    ctx.strokeStyle = palette.fg;
    ctx.strokeRect(x(at.column) + 0.5, y(at.row) + 0.5, cellWidth - gap - 1, height - gap - 1);
  }
  ctx.clearRect(0, 0, width, TOP);
  drawRowNames(ctx, layout, (row) => {
    const is = isMarked?.(row) ?? false;
    return { name: props.rows[row] ?? "", isMarked: is, colour: is ? palette.bad : palette.muted };
  });
  drawColumnNames(ctx, props, palette, cellWidth);
}

function drawColumnNames(ctx: CanvasRenderingContext2D, { columns, rowTitle, columnTitle }: HeatmapProps, palette: Palette, cellWidth: number) {
  ctx.fillStyle = palette.muted;
  ctx.textAlign = "right";
  ctx.fillText(rowTitle, PLOT_LEFT - 8, TOP / 2);
  ctx.textAlign = "left";
  const widest = ctx.measureText(columns.at(-1) ?? "").width + 12;
  const stride = Math.ceil(Math.max(26, widest) / cellWidth);
  const titled = `${columnTitle} ${columns[0]}`;
  for (let column = 0; column < columns.length; column += stride) {
    if (column === 0 || column * cellWidth > ctx.measureText(titled).width + 8) {
      ctx.fillText(column === 0 ? titled : (columns[column] ?? ""), PLOT_LEFT + column * cellWidth, TOP / 2);
    }
  }
}
