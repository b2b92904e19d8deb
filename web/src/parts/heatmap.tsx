// A heat map: rows and columns of cells, coloured by one number in seven classes. Only the rows in view are drawn, so its
// canvas has the size of the view and not of the data.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { cleared, pointIn, useWidth } from "./canvas";
import { type Palette, usePalette } from "./palette";

export type Cell = {
  row: number;
  column: number;
  value: number;
  /** Its own look: answered by a cache, part of the warm-up, out of the scale. */
  kind?: "cached" | "warm_up" | undefined;
};

export type HeatmapProps = {
  summary: string;
  cells: readonly Cell[];
  rows: readonly string[];
  columns: readonly string[];
  rowTitle: string;
  columnTitle: string;
  /** Where the lightest class begins and the darkest ends. */
  scale: readonly [number, number];
  show: (value: number) => string;
  /** What is known of a cell. */
  describe: (cell: Cell) => string;
  onSelect: (cell: Cell) => void;
};

const CLASSES = 7;
const LEFT = 64;
const TOP = 22;
const MOST_HEIGHT = 420;

/** The class of a value, 0 to 6; 7 above the scale. */
export function classOf(value: number, [low, high]: readonly [number, number]): number {
  if (value > high) {
    return CLASSES;
  }
  return high > low ? Math.max(0, Math.min(CLASSES - 1, Math.floor(((value - low) / (high - low)) * CLASSES))) : 0;
}

export function Heatmap(props: HeatmapProps) {
  const { cells, rows, columns, scale, show } = props;
  const palette = usePalette();
  const [scroller, width] = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [top, setTop] = useState(0);
  const [at, setAt] = useState<{ row: number; column: number } | null>(null);
  const byPlace = useMemo(() => new Map(cells.map((cell) => [place(cell.row, cell.column), cell])), [cells]);
  const cellHeight = Math.max(4, Math.min(22, Math.floor((MOST_HEIGHT - TOP) / rows.length)));
  const cellWidth = Math.min(56, (width - LEFT - 8) / columns.length);
  const full = rows.length * cellHeight;
  const seen = Math.min(full, MOST_HEIGHT - TOP);

  useLayoutEffect(() => {
    if (canvas.current && width > LEFT) {
      draw(cleared(canvas.current, width, TOP + seen), props, palette, byPlace, { width, height: TOP + seen, cellWidth, cellHeight, top }, at);
    }
  }, [props, palette, byPlace, width, seen, cellWidth, cellHeight, top, at]);

  const under = (event: MouseEvent) => {
    const { x, y } = pointIn(canvas.current as Element, event);
    const row = Math.floor((y - TOP + top) / cellHeight);
    const column = Math.floor((x - LEFT) / cellWidth);
    setAt(byPlace.has(place(row, column)) && y >= TOP ? { row, column } : null);
  };
  const found = at ? byPlace.get(place(at.row, at.column)) : undefined;
  const keyed = (event: KeyboardEvent) => {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (move) {
      const from = at ?? { row: 0, column: 0 };
      const next = at ? { row: from.row + (move[0] as number), column: from.column + (move[1] as number) } : from;
      if (byPlace.has(place(next.row, next.column))) {
        setAt(next);
      }
    } else if (event.key === "Enter" && found) {
      props.onSelect(found);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="heatmap">
      <div
        ref={scroller}
        class="heatmap-scroll"
        style={{ height: `${TOP + seen}px` }}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      >
        <div style={{ height: `${TOP + full}px` }}>
          <canvas
            ref={canvas}
            tabIndex={0}
            role="img"
            aria-label={props.summary}
            onMouseMove={under}
            onMouseLeave={() => setAt(null)}
            onClick={() => found && props.onSelect(found)}
            onKeyDown={keyed}
          />
        </div>
      </div>
      <p class="heatmap-foot">
        <Legend {...props} palette={palette} />
        <output class="heatmap-cell" aria-live="polite">
          {found ? props.describe(found) : ""}
        </output>
      </p>
    </div>
  );

  function Legend({ palette }: { palette: Palette }) {
    return (
      <span class="heatmap-legend">
        {show(scale[0])}
        <span class="heatmap-classes">
          {Array.from({ length: CLASSES }, (_, n) => (
            <i style={{ background: classColour(palette, n) }} />
          ))}
        </span>
        {show(scale[1])}
        {cells.some((cell) => classOf(cell.value, scale) === CLASSES) ? (
          <>
            <i style={{ background: classColour(palette, CLASSES) }} /> longer
          </>
        ) : null}
        {cells.some((cell) => cell.kind === "cached") ? (
          <>
            <i class="heatmap-cached" /> answered by a cache
          </>
        ) : null}
      </span>
    );
  }
}

function place(row: number, column: number): string {
  return `${row}:${column}`;
}

function classColour(palette: Palette, n: number): string {
  return n === CLASSES ? palette.warn : `color-mix(in srgb, ${palette.accent} ${12 + n * 13}%, ${palette.panel})`;
}

type Layout = { width: number; height: number; cellWidth: number; cellHeight: number; top: number };

function draw(
  ctx: CanvasRenderingContext2D,
  { rows, columns, scale, rowTitle, columnTitle }: HeatmapProps,
  palette: Palette,
  cells: ReadonlyMap<string, Cell>,
  { width, height, cellWidth, cellHeight, top }: Layout,
  at: { row: number; column: number } | null,
) {
  const first = Math.floor(top / cellHeight);
  const last = Math.min(rows.length, Math.ceil((top + height - TOP) / cellHeight));
  const gap = Math.min(1, cellWidth / 4, cellHeight / 4);
  for (let row = first; row < last; row += 1) {
    const y = TOP + row * cellHeight - top;
    for (let column = 0; column < columns.length; column += 1) {
      const cell = cells.get(place(row, column));
      if (!cell) {
        continue;
      }
      const x = LEFT + column * cellWidth;
      ctx.fillStyle = classColour(palette, classOf(cell.value, scale));
      ctx.fillRect(x, y, cellWidth - gap, cellHeight - gap);
      if (cell.kind === "cached") {
        ctx.fillStyle = palette.good;
        ctx.fillRect(x, y + cellHeight - gap - 3, cellWidth - gap, 3);
      }
    }
  }
  if (at) {
    ctx.strokeStyle = palette.fg;
    ctx.strokeRect(LEFT + at.column * cellWidth + 0.5, TOP + at.row * cellHeight - top + 0.5, cellWidth - gap - 1, cellHeight - gap - 1);
  }
  labels(ctx, palette, { rows, columns, rowTitle, columnTitle }, { width, height, cellWidth, cellHeight, top }, [first, last]);
}

function labels(
  ctx: CanvasRenderingContext2D,
  palette: Palette,
  { rows, columns, rowTitle, columnTitle }: Pick<HeatmapProps, "rows" | "columns" | "rowTitle" | "columnTitle">,
  { width, height, cellWidth, cellHeight, top }: Layout,
  [first, last]: readonly [number, number],
) {
  ctx.clearRect(0, 0, width, TOP);
  ctx.clearRect(0, height, width, 1);
  ctx.fillStyle = palette.muted;
  ctx.textAlign = "right";
  const every = Math.ceil(14 / cellHeight);
  for (let row = Math.ceil(first / every) * every; row < last; row += every) {
    const y = TOP + (row + 0.5) * cellHeight - top;
    if (y > TOP + 5) {
      ctx.fillText(rows[row] ?? "", LEFT - 8, y);
    }
  }
  ctx.fillText(rowTitle, LEFT - 8, TOP / 2);
  ctx.textAlign = "left";
  const stride = Math.ceil(26 / cellWidth);
  for (let column = 0; column < columns.length; column += stride) {
    const name = column === 0 ? `${columnTitle} ${columns[column]}` : (columns[column] ?? "");
    if (column === 0 || column * cellWidth > ctx.measureText(`${columnTitle} ${columns[0]}`).width + 8) {
      ctx.fillText(name, LEFT + column * cellWidth, TOP / 2);
    }
  }
}
