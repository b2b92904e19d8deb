// Draws a chart: bands, axes, lines, marks.

import { indexAt } from "../data/columns";
import type { Show } from "../data/quantity";
import type { Window } from "../data/state";
import { PLOT_LEFT, PLOT_RIGHT, type Span, spanOf, ticksOf } from "./canvas";
import { roundStep, sizeStep, tickLabel, ticks } from "./ticks";
import { type Colour, colourOf, faded, type Palette } from "./palette";

const TOP = 4;
const X_AXIS = 18;

/** One line. */
export type Line = {
  /** Empty for a line that another one stands for. */
  label: string;
  colour: Colour;
  /** Ascending. */
  at: ArrayLike<number>;
  /** NaN where nothing is known. */
  values: ArrayLike<number>;
  /** Lowest and highest of what a point stands for. */
  range?: { low: ArrayLike<number>; high: ArrayLike<number> } | undefined;
  /** A step holds until the next point. */
  style?: "line" | "steps" | "points" | "bars" | undefined;
  isDashed?: boolean | undefined;
  isFilled?: boolean | undefined;
  /** Each point is marked. */
  hasDots?: boolean | undefined;
  /** Shown beside the chart; the model made them. */
  figures?: { min: number | null; mean: number | null; max: number } | null | undefined;
  /** When the highest figure was: a part of the timeline. */
  peak?: Window | undefined;
};

/** A part of the x axis with a colour behind the lines. */
export type Band = { from: number; to: number; colour: Colour; isStrong?: boolean };

/** A point of the x axis. */
export type Mark = { at: number; label: string; colour: Colour };

/** What a chart draws. */
export type Plot = {
  lines: readonly Line[];
  show: Show;
  window: Window;
  /** End of the run; null when the x axis is not its time. */
  wall: number | null;
  /** The x axis is of time; absent: of that of the run, where there is one. */
  isTime?: boolean;
  /** What the cursor and the ticks of an x axis say that is no time. */
  showX?: (value: number) => string;
  bands?: readonly Band[];
  marks?: readonly Mark[];
  /** The y axis ends here, whatever the values are. */
  limit?: number | undefined;
  isFromZero?: boolean;
  /** The y axis is of bytes. */
  isSize?: boolean;
  /** Ticks of the x axis have their figures. */
  hasX?: boolean;
};

/** From values to pixels. */
type Scale = Span & { y: (value: number) => number; low: number; high: number; bottom: number; right: number };

export function drawChart(ctx: CanvasRenderingContext2D, plot: Plot, palette: Palette, width: number, height: number): void {
  const hasX = plot.hasX ?? (plot.wall === null || height >= 150);
  const [bottom, right] = [height - (hasX ? X_AXIS : 4), width - PLOT_RIGHT];
  const [low, high] = yRange(plot);
  const y = (value: number) => bottom - ((value - low) / (high - low)) * (bottom - TOP);
  const scale: Scale = { ...spanOf(plot.window, width), y, low, high, bottom, right };
  ctx.save();
  ctx.beginPath();
  ctx.rect(PLOT_LEFT, TOP - 2, right - PLOT_LEFT, bottom - TOP + 4);
  ctx.clip();
  for (const band of plot.bands ?? []) {
    const [left, end] = [Math.max(PLOT_LEFT, scale.x(band.from)), Math.min(right, scale.x(band.to))];
    if (end >= left) {
      ctx.fillStyle = faded(colourOf(palette, band.colour), band.isStrong ? 0.25 : 0.09);
      ctx.fillRect(left, TOP, Math.max(1, end - left), bottom - TOP);
    }
  }
  ctx.restore();
  drawAxes(ctx, plot, palette, scale, hasX);
  ctx.save();
  ctx.beginPath();
  ctx.rect(PLOT_LEFT - 3, TOP - 3, right - PLOT_LEFT + 6, bottom - TOP + 5);
  ctx.clip();
  for (const line of plot.lines) {
    drawLine(ctx, line, colourOf(palette, line.colour), scale);
  }
  drawMarks(ctx, plot, palette, scale);
  ctx.restore();
}

/** From zero, or from a little below the lowest value, up to a little above the highest that is in the window. */
function yRange({ lines, window: [from, to], limit, isFromZero = true }: Plot): [number, number] {
  let [least, most] = [Infinity, -Infinity];
  for (const line of lines) {
    const last = Math.min(line.at.length - 1, indexAt(line.at, to) + 1);
    for (let n = Math.max(0, indexAt(line.at, from)); n <= last; n += 1) {
      const [low, high] = [line.range?.low[n] ?? line.values[n], line.range?.high[n] ?? line.values[n]];
      least = Math.min(least, Number.isFinite(low) ? (low as number) : Infinity);
      most = Math.max(most, Number.isFinite(high) ? (high as number) : -Infinity);
    }
  }
  if (least > most) {
    [least, most] = [0, limit ?? 1];
  }
  // Bars are as long as what they stand for.
  const base = isFromZero || lines.some((line) => line.style === "bars") ? Math.min(0, least) : least;
  const air = (most - base) * 0.06 || Math.abs(most) * 0.06 || 1;
  return [base === 0 ? 0 : base - air, limit ?? most + air];
}

function drawAxes(ctx: CanvasRenderingContext2D, { wall, isTime = wall !== null, showX, show, isSize, lines }: Plot, palette: Palette, scale: Scale, hasX: boolean) {
  const { from, to, room, low, high, bottom, right } = scale;
  const wanted = ((high - low) / (bottom - TOP)) * 24;
  const yStep = isSize ? sizeStep(wanted) : roundStep(wanted);
  ctx.textAlign = "right";
  for (const { value, label } of labelled(ticks(low, high, yStep), yStep, show)) {
    const y = Math.round(scale.y(value)) - 0.5;
    ctx.fillStyle = value === 0 ? palette.muted : palette.line;
    ctx.fillRect(PLOT_LEFT, y, right - PLOT_LEFT, 1);
    ctx.fillStyle = palette.muted;
    ctx.fillText(label, PLOT_LEFT - 8, Math.max(6, y));
  }
  const numbers = () => ticks(from, to, Math.max(1, roundStep(((to - from) / room) * 44))).map((at) => ({ at, label: (showX ?? String)(at) }));
  const hasBars = lines.some((line) => line.style === "bars");
  ctx.textAlign = "center";
  for (const { at, label } of isTime ? ticksOf(scale) : numbers()) {
    const x = scale.x(at);
    if (!hasBars) {
      ctx.fillStyle = palette.line;
      ctx.fillRect(Math.round(x) - 0.5, TOP, 1, bottom - TOP);
    }
    if (hasX) {
      ctx.fillStyle = palette.muted;
      ctx.fillText(label, Math.max(PLOT_LEFT, Math.min(x, right - 12)), bottom + X_AXIS / 2 + 1);
    }
  }
}

/** Figures of an axis; none says the same as the one before it. */
function labelled(values: readonly number[], step: number, show: Plot["show"]): { value: number; label: string }[] {
  const labels = values.map((value) => tickLabel(show(value, step)));
  return values.map((value, at) => ({ value, label: at > 0 && labels[at] === labels[at - 1] ? "" : (labels[at] as string) }));
}

function drawLine(ctx: CanvasRenderingContext2D, line: Line, colour: string, scale: Scale) {
  const { at, values, range, style } = line;
  const first = Math.max(0, indexAt(at, scale.from));
  const last = Math.min(at.length - 1, indexAt(at, scale.to) + 1);
  const x = (n: number) => scale.x(at[n] as number);
  const y = (value: number | undefined) => scale.y(value as number);
  ctx.fillStyle = ctx.strokeStyle = colour;
  if (style === "points" || style === "bars") {
    const wide = style === "bars" ? Math.min(40, Math.max(1, (scale.x(1) - scale.x(0)) * 0.7)) : 0;
    ctx.globalAlpha = style === "bars" ? 0.75 : 1;
    for (let n = first; n <= last; n += 1) {
      const value = values[n];
      if (value === undefined || !Number.isFinite(value)) {
        continue;
      }
      if (style === "bars") {
        ctx.fillRect(x(n) - wide / 2, y(value), wide, y(Math.max(0, scale.low)) - y(value));
      } else if (value > scale.high) {
        // Above the axis: an arrow at its end.
        ctx.fillRect(x(n) - 1, TOP, 2, 9);
        ctx.fillRect(x(n) - 3, TOP + 2, 6, 2);
      } else {
        ctx.beginPath();
        ctx.arc(x(n), y(value), 2.6, 0, 7);
        ctx.fill();
      }
    }
    ctx.globalAlpha = 1;
    return;
  }
  for (const [begin, end] of stretches(values, first, last)) {
    if (range) {
      const area = new Path2D();
      // The end of a step has the values of its beginning.
      const edge = (n: number, values: ArrayLike<number>, hasStep: boolean) => area.lineTo(x(n), y(values[hasStep ? n - 1 : n]));
      for (let n = begin; n <= end; n += 1) {
        edge(n, range.high, style === "steps" && n > begin);
        edge(n, range.high, false);
      }
      for (let n = end; n >= begin; n -= 1) {
        edge(n, range.low, false);
        edge(n, range.low, style === "steps" && n > begin);
      }
      ctx.globalAlpha = 0.22;
      ctx.fill(area);
      ctx.globalAlpha = 1;
    }
    const path = new Path2D();
    for (let n = begin; n <= end; n += 1) {
      if (style === "steps" && n > begin) {
        path.lineTo(x(n), y(values[n - 1]));
      }
      path.lineTo(x(n), y(values[n]));
    }
    if (line.isFilled && scale.low === 0) {
      const area = new Path2D(path);
      area.lineTo(x(end), scale.bottom);
      area.lineTo(x(begin), scale.bottom);
      ctx.globalAlpha = 0.12;
      ctx.fill(area);
      ctx.globalAlpha = 1;
    }
    ctx.lineWidth = 1.4;
    ctx.setLineDash(line.isDashed ? [4, 4] : []);
    ctx.stroke(path);
    ctx.setLineDash([]);
    for (let n = begin; n <= end && (line.hasDots || begin === end); n += 1) {
      ctx.fillRect(x(n) - 2, y(values[n]) - 2, 4, 4);
    }
  }
}

/** Where values are known one after the other. */
function stretches(values: ArrayLike<number>, first: number, last: number): [number, number][] {
  const found: [number, number][] = [];
  let begin = -1;
  for (let n = first; n <= last + 1; n += 1) {
    const isKnown = n <= last && Number.isFinite(values[n]);
    if (isKnown && begin < 0) {
      begin = n;
    } else if (!isKnown && begin >= 0) {
      found.push([begin, n - 1]);
      begin = -1;
    }
  }
  return found;
}

function drawMarks(ctx: CanvasRenderingContext2D, { marks = [] }: Plot, palette: Palette, { x, from, to, bottom, right }: Scale) {
  for (const mark of marks) {
    if (mark.at < from || mark.at > to) {
      continue;
    }
    const left = Math.round(x(mark.at)) + 0.5;
    ctx.strokeStyle = ctx.fillStyle = colourOf(palette, mark.colour);
    ctx.lineWidth = 1;
    ctx.setLineDash([2, 3]);
    ctx.beginPath();
    ctx.moveTo(left, TOP);
    ctx.lineTo(left, bottom);
    ctx.stroke();
    ctx.setLineDash([]);
    const isLate = left > right - 120;
    ctx.textAlign = isLate ? "right" : "left";
    ctx.fillText(mark.label, left + (isLate ? -4 : 4), TOP + 6);
  }
}

/** The value of the point nearest to `at`; of steps, the one that is in force. */
export function valueAt(line: Line, at: number): number {
  const before = indexAt(line.at, at);
  const isAfterNearer = (line.at[before + 1] ?? Infinity) - at < at - (line.at[before] ?? -Infinity);
  return line.values[line.style !== "steps" && isAfterNearer ? before + 1 : before] ?? NaN;
}
