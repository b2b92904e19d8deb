// A heat map: rows and columns of cells, coloured by one number in seven classes. Only the rows in view are drawn, so its
// canvas has the size of the view and not of the data.

import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { cleared, pointIn, useWidth } from "./canvas";
import { type Palette, usePalette } from "./palette";

export type Cell = {
  row: number;
  column: number;
  value: number;
  /** Its own look: answered by a cache, part of the warm-up, much longer than the others. */
  kind?: "cached" | "warm_up" | "outlier" | undefined;
};

export type HeatmapProps = {
  summary: string;
  /** The cell at a place; nothing where there is none. */
  cellAt: (row: number, column: number) => Cell | undefined;
  /** What the legend has to say of cells. */
  has: { longer: boolean; cached?: boolean };
  rows: readonly string[];
  columns: readonly string[];
  rowTitle: string;
  columnTitle: string;
  /** Where the lightest class begins and the darkest ends. */
  scale: readonly [number, number];
  /** The same for cells of the warm-up, in grey; absent where they are drawn as all others. */
  warmUpScale?: readonly [number, number] | undefined;
  /** The same for outliers, in the colour of warnings, a class for each factor of the same size; absent where there are none. */
  outlierScale?: readonly [number, number] | undefined;
  show: (value: number) => string;
  /** What is known of a cell. */
  describe: (cell: Cell) => string;
  onSelect?: (cell: Cell) => void;
  /** Rows that are marked. */
  isMarked?: ((row: number) => boolean) | undefined;
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

/** As `classOf`, on a scale of factors: from 25 to 325, 90 is in the middle. A scale of one value has its darkest class only. */
export function factorClassOf(value: number, [low, high]: readonly [number, number]): number {
  return high > low && low > 0 ? classOf(Math.log(Math.min(value, high)), [Math.log(low), Math.log(high)]) : CLASSES - 1;
}

/** Which colours a cell has. */
type Look = "usual" | "warm_up" | "outlier";

export function Heatmap(props: HeatmapProps) {
  const { rows, columns, scale, warmUpScale, outlierScale, show, has } = props;
  const palette = usePalette();
  const [scroller, width] = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [top, setTop] = useState(0);
  const [at, setAt] = useState<{ row: number; column: number } | null>(null);
  const cellHeight = Math.max(4, Math.min(22, Math.floor((MOST_HEIGHT - TOP) / rows.length)));
  const cellWidth = Math.min(56, (width - LEFT - 8) / columns.length);
  const full = rows.length * cellHeight;
  const seen = Math.min(full, MOST_HEIGHT - TOP);

  useLayoutEffect(() => {
    if (canvas.current && width > LEFT) {
      draw(cleared(canvas.current, width, TOP + seen), props, palette, { width, height: TOP + seen, cellWidth, cellHeight, top }, at);
    }
  }, [props, palette, width, seen, cellWidth, cellHeight, top, at]);

  const cellAt = (row: number, column: number) =>
    row >= 0 && row < rows.length && column >= 0 && column < columns.length ? props.cellAt(row, column) : undefined;
  const under = (event: MouseEvent) => {
    const { x, y } = pointIn(canvas.current as Element, event);
    const row = Math.floor((y - TOP + top) / cellHeight);
    const column = Math.floor((x - LEFT) / cellWidth);
    setAt(cellAt(row, column) && y >= TOP ? { row, column } : null);
  };
  const found = at ? cellAt(at.row, at.column) : undefined;
  const keyed = (event: KeyboardEvent) => {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (move) {
      const next = at ? neighbour(at, move as [number, number]) : { row: Math.floor(top / cellHeight), column: 0 };
      setAt(next);
      // What is chosen stays in sight.
      const [above, below] = [next.row * cellHeight, (next.row + 1) * cellHeight - seen];
      if (scroller.current && (top > above || top < below)) {
        scroller.current.scrollTop = top > above ? above : below;
      }
    } else if (event.key === "Enter" && found) {
      props.onSelect?.(found);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  /** The next cell that there is in a direction; the same one at the edge. */
  const neighbour = (from: { row: number; column: number }, [down, right]: [number, number]) => {
    let [row, column] = [from.row + down, from.column + right];
    while (row >= 0 && row < rows.length && column >= 0 && column < columns.length) {
      if (cellAt(row, column)) {
        return { row, column };
      }
      [row, column] = [row + down, column + right];
    }
    return from;
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
            onClick={() => found && props.onSelect?.(found)}
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
          {Array.from({ length: scale[0] < scale[1] ? CLASSES : 1 }, (_, n) => (
            <i style={{ background: classColour(palette, n) }} />
          ))}
        </span>
        {scale[0] < scale[1] ? show(scale[1]) : null}
        {has.longer ? (
          <>
            <i style={{ background: classColour(palette, CLASSES) }} /> longer
          </>
        ) : null}
        {has.cached ? (
          <>
            <i class="heatmap-cached" /> answered by a cache
          </>
        ) : null}
        {outlierScale ? <Strip look="outlier" name="outliers" of={outlierScale} /> : null}
        {warmUpScale ? <Strip look="warm_up" name="warm-up" of={warmUpScale} /> : null}
      </span>
    );

    function Strip({ look, name, of: [low, high] }: { look: Look; name: string; of: readonly [number, number] }) {
      const classes = Array.from({ length: CLASSES }, (_, n) => n).slice(low < high ? 0 : -1);
      return (
        <>
          <span class="heatmap-classes">
            {classes.map((n) => (
              <i style={{ background: classColour(palette, n, look) }} />
            ))}
          </span>
          {name}, {show(low)}
          {low < high ? ` to ${show(high)}` : null}
        </>
      );
    }
  }
}

function classColour(palette: Palette, n: number, look: Look = "usual"): string {
  if (n === CLASSES) {
    return palette.warn;
  }
  // Even the shortest outlier differs from all that is none.
  const [colour, part] = { usual: [palette.accent, 12 + n * 13], warm_up: [palette.muted, 12 + n * 13], outlier: [palette.warn, 40 + n * 10] }[look] as [string, number];
  return `color-mix(in srgb, ${colour} ${part}%, ${palette.panel})`;
}

type Layout = { width: number; height: number; cellWidth: number; cellHeight: number; top: number };

function draw(
  ctx: CanvasRenderingContext2D,
  { cellAt, rows, columns, scale, warmUpScale, outlierScale, rowTitle, columnTitle, isMarked }: HeatmapProps,
  palette: Palette,
  { width, height, cellWidth, cellHeight, top }: Layout,
  at: { row: number; column: number } | null,
) {
  const first = Math.floor(top / cellHeight);
  const last = Math.min(rows.length, Math.ceil((top + height - TOP) / cellHeight));
  const gap = Math.min(1, cellWidth / 4, cellHeight / 4);
  const coloursOf = (look: Look) => Array.from({ length: CLASSES + 1 }, (_, n) => classColour(palette, n, look));
  const colours = { usual: coloursOf("usual"), warm_up: coloursOf("warm_up"), outlier: coloursOf("outlier") };
  const colourOf = ({ kind, value }: Cell) => {
    if (kind === "outlier" && outlierScale) {
      return colours.outlier[factorClassOf(value, outlierScale)];
    }
    return kind === "warm_up" && warmUpScale ? colours.warm_up[classOf(value, warmUpScale)] : colours.usual[classOf(value, scale)];
  };
  for (let row = first; row < last; row += 1) {
    const y = TOP + row * cellHeight - top;
    for (let column = 0; column < columns.length; column += 1) {
      const cell = cellAt(row, column);
      if (!cell) {
        continue;
      }
      const x = LEFT + column * cellWidth;
      ctx.fillStyle = colourOf(cell) as string;
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
  labels(ctx, palette, { rows, columns, rowTitle, columnTitle, isMarked }, { width, height, cellWidth, cellHeight, top }, [first, last]);
}

function labels(
  ctx: CanvasRenderingContext2D,
  palette: Palette,
  { rows, columns, rowTitle, columnTitle, isMarked }: Pick<HeatmapProps, "rows" | "columns" | "rowTitle" | "columnTitle" | "isMarked">,
  { width, height, cellWidth, cellHeight, top }: Layout,
  [first, last]: readonly [number, number],
) {
  ctx.clearRect(0, 0, width, TOP);
  ctx.clearRect(0, height, width, 1);
  ctx.fillStyle = palette.muted;
  ctx.textAlign = "right";
  const every = Math.ceil(14 / cellHeight);
  let free = TOP + 5;
  for (let row = first; row < last; row += 1) {
    // The first label stands below those of columns, however low its row is.
    const y = Math.max(TOP + 6, TOP + (row + 0.5) * cellHeight - top);
    // A marked row has its name, and takes the room of others.
    const isSaid = isMarked?.(row) || (row % every === 0 && !range(row + 1, row + every).some((near) => isMarked?.(near)));
    if (isSaid && y > free) {
      ctx.fillStyle = isMarked?.(row) ? palette.bad : palette.muted;
      ctx.fillText(rows[row] ?? "", LEFT - 8, y);
      free = y + 11;
    }
  }
  ctx.fillStyle = palette.muted;
  ctx.fillText(rowTitle, LEFT - 8, TOP / 2);
  ctx.textAlign = "left";
  const widest = ctx.measureText(columns.at(-1) ?? "").width + 12;
  const stride = Math.ceil(Math.max(26, widest) / cellWidth);
  for (let column = 0; column < columns.length; column += stride) {
    const name = column === 0 ? `${columnTitle} ${columns[column]}` : (columns[column] ?? "");
    if (column === 0 || column * cellWidth > ctx.measureText(`${columnTitle} ${columns[0]}`).width + 8) {
      ctx.fillText(name, LEFT + column * cellWidth, TOP / 2);
    }
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, n) => from + n);
}
