// Draws the whole timeline: the strip of the whole run, the axis, the lines in view and what lies over them.

import { count } from "../data/quantity";
import { FONT, fitted } from "../parts/canvas";
import { ticks, timeLabel, timeStep } from "../parts/ticks";
import { drawRow, fillOf } from "./bars";
import { drawTrack, drawTrackLabel } from "./curve";
import type { Line } from "./layout";
import { MINIMAP } from "./minimap";
import type { Timeline } from "./timeline";

const TITLE_FONT = "600 12px system-ui, sans-serif";
/** Width of the labels. */
const LABELS = 196;
/** Of a narrow window they take no more than this part. */
const LABELS_PART = 0.32;

/** The width of what stands left of the plot. */
export function labelsWidth(width: number): number {
  return Math.min(LABELS, Math.round(width * LABELS_PART));
}

const AXIS = 24;
/** Where the lines begin. */
export const HEAD = MINIMAP + AXIS;
export const SCROLLBAR = 10;

export function draw(view: Timeline): void {
  const { ctx, palette, density, left, right } = view;
  ctx.setTransform(density, 0, 0, density, 0, 0);
  ctx.fillStyle = palette.bg;
  ctx.fillRect(0, 0, view.width, view.height);
  view.minimap.draw(view);
  const step = timeStep(view.to - view.from, right - left, 110);
  drawAxis(view, step);
  clipped(view, 0, HEAD, view.width, view.height - HEAD, () => {
    clipped(view, left, HEAD, right - left, view.height - HEAD, () => {
      drawIdle(view);
      inView(view, (line, y) => drawPlot(view, line, y));
      drawFlows(view);
      drawRange(view);
    });
    ctx.fillStyle = palette.panel;
    ctx.fillRect(0, HEAD, left, view.height - HEAD);
    clipped(view, 0, HEAD, left - 4, view.height - HEAD, () => inView(view, (line, y) => drawLabel(view, line, y)));
  });
  drawEdges(view);
  drawScrollbar(view);
}

function clipped({ ctx }: Timeline, x: number, y: number, width: number, height: number, drawing: () => void): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, y, width, height);
  ctx.clip();
  drawing();
  ctx.restore();
}

function inView(view: Timeline, drawing: (line: Line, y: number) => void): void {
  const { lines } = view.layout;
  for (let n = view.layout.firstAt(view.scroll); n < lines.length; n++) {
    const line = lines[n]!;
    const y = HEAD + line.y - view.scroll;
    if (y > view.height) {
      break;
    }
    drawing(line, y);
  }
}

function drawAxis(view: Timeline, step: number): void {
  const { ctx, palette } = view;
  ctx.font = FONT;
  ctx.textBaseline = "middle";
  for (const t of ticks(view.from, view.to, step)) {
    const x = view.sharp(view.x(t));
    ctx.fillStyle = palette.line;
    ctx.fillRect(x, MINIMAP + 4, 1 / view.density, view.height);
    ctx.fillStyle = palette.muted;
    const text = timeLabel(t, step);
    if (x + 5 + ctx.measureText(text).width < view.right) {
      ctx.fillText(text, x + 5, MINIMAP + AXIS / 2 + 1);
    }
  }
}

function drawIdle(view: Timeline): void {
  const { idle } = view;
  if (!idle) {
    return;
  }
  const { ctx, palette, left, right, scale } = view;
  ctx.fillStyle = palette.bad;
  for (let x = left; x < right; x++) {
    const share = (idle.until(view.timeAt(x + 1)) - idle.until(view.timeAt(x))) * scale;
    if (share > 0) {
      ctx.globalAlpha = 0.04 + 0.16 * Math.min(1, share);
      ctx.fillRect(x, HEAD, 1, view.height);
    }
  }
  ctx.globalAlpha = 1;
}

function drawPlot(view: Timeline, line: Line, y: number): void {
  const { ctx, palette, left, right } = view;
  switch (line.kind) {
    case "group":
    case "tracks":
      ctx.fillStyle = palette.panel;
      ctx.fillRect(left, y, right - left, line.height);
      if (line.isFolded && line.outer) {
        drawRow(view, line.outer, y + 5, line.height - 10);
      }
      break;
    case "row":
      drawRow(view, line.row, y + 1, line.height - 2);
      drawSelected(view, line, y);
      break;
    case "track":
      drawTrack(view, line.track, y, line.height - 2, view.cursorTime);
      ctx.fillStyle = palette.line;
      ctx.fillRect(left, y + line.height - 2, right - left, 1 / view.density);
  }
}

function drawSelected(view: Timeline, line: Line & { kind: "row" }, y: number): void {
  const { selected } = view;
  if (selected === null || selected < line.row.first || selected >= line.row.last) {
    return;
  }
  const { ctx, palette, slices } = view;
  const x0 = view.x(slices.start[selected]!);
  const x1 = Math.max(view.x(slices.end[selected]!), x0 + 2);
  if (x1 < view.left || x0 > view.right) {
    return;
  }
  const left = Math.round(Math.max(x0, view.left - 4));
  const right = Math.round(Math.min(x1, view.right + 4));
  ctx.strokeStyle = palette.fg;
  ctx.lineWidth = 2;
  ctx.strokeRect(left, y + 1, Math.max(2, right - left), line.height - 2);
}

/** Arrows from what led to the selected slice, and to what it led to, as far as their rows are unfolded. */
function drawFlows(view: Timeline): void {
  const { ctx, palette, slices, layout } = view;
  ctx.strokeStyle = ctx.fillStyle = palette.fg;
  ctx.lineWidth = 1.2;
  for (const [from, to] of view.flows) {
    const [above, below] = [from, to].map((slice) => layout.lineOf(slices.rowOf(slice)));
    if (above && below) {
      const isDown = below.y > above.y;
      const [x0, x1] = [view.x(Math.min(slices.end[from]!, slices.start[to]!)), view.x(slices.start[to]!)];
      const y0 = HEAD - view.scroll + above.y + (isDown ? above.height - 1 : 1);
      const y1 = HEAD - view.scroll + below.y + (isDown ? 1 : below.height - 1);
      const tip = isDown ? -5 : 5;
      ctx.beginPath();
      ctx.moveTo(x0, y0);
      ctx.bezierCurveTo(x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1 + tip);
      ctx.stroke();
      ctx.beginPath();
      ctx.moveTo(x1, y1);
      ctx.lineTo(x1 - 3.5, y1 + tip);
      ctx.lineTo(x1 + 3.5, y1 + tip);
      ctx.fill();
    }
  }
}

function drawRange(view: Timeline): void {
  const { ctx, palette } = view;
  const { range } = view;
  if (range) {
    const [x0, x1] = [view.x(range.from), view.x(range.to)];
    ctx.fillStyle = palette.accent;
    ctx.globalAlpha = 0.13;
    ctx.fillRect(x0, HEAD, x1 - x0, view.height);
    ctx.globalAlpha = 1;
    ctx.fillRect(view.sharp(x0), HEAD, 1, view.height);
    ctx.fillRect(view.sharp(x1) - 1, HEAD, 1, view.height);
  }
  const at = view.cursorTime;
  if (at !== null) {
    ctx.fillStyle = palette.muted;
    ctx.globalAlpha = 0.6;
    ctx.fillRect(view.sharp(view.x(at)), HEAD, 1 / view.density, view.height);
    ctx.globalAlpha = 1;
  }
}

function drawLabel(view: Timeline, line: Line, y: number): void {
  const { ctx, palette, left } = view;
  ctx.textBaseline = "middle";
  if ("key" in line) {
    ctx.fillStyle = palette.muted;
    drawFold(ctx, 11, y + line.height / 2, line.isFolded);
    ctx.font = FONT;
    const number = line.isFolded ? count(line.n) : "";
    const room = left - 34 - ctx.measureText(number).width;
    ctx.fillText(number, left - 8 - ctx.measureText(number).width, y + line.height / 2 + 0.5);
    ctx.font = TITLE_FONT;
    ctx.fillStyle = palette.fg;
    ctx.fillText(fitted(ctx, line.title, room), 22, y + line.height / 2 + 0.5);
  } else if (line.kind === "track") {
    drawTrackLabel(view, line.track, y, view.cursorTime);
  } else {
    drawRowLabel(view, line, y);
  }
}

/** What most of the row's time is, where it is one thing; otherwise how deep it lies. */
function drawRowLabel(view: Timeline, { row, height }: Line & { kind: "row" }, y: number): void {
  const { ctx, palette, slices, left } = view;
  ctx.font = FONT;
  ctx.fillStyle = palette.muted;
  const isOne = row.isOfOne && row.last - row.first < 2000;
  const text = row.kind === "events" ? "events" : isOne ? slices.name(row.first) : "";
  const indent = 22 + Math.min(row.depth, 8) * 6;
  if (text !== "") {
    ctx.fillText(fitted(ctx, text, left - indent - 8), indent, y + height / 2 + 0.5);
  }
  if (row.kind === "beside") {
    ctx.fillStyle = fillOf(view, slices.path[row.first]!);
    ctx.fillRect(14, y + 2, 2, height - 4);
  }
}

function drawFold(ctx: CanvasRenderingContext2D, x: number, y: number, isFolded: boolean): void {
  ctx.beginPath();
  if (isFolded) {
    ctx.moveTo(x - 2.5, y - 4);
    ctx.lineTo(x + 3, y);
    ctx.lineTo(x - 2.5, y + 4);
  } else {
    ctx.moveTo(x - 4, y - 2.5);
    ctx.lineTo(x, y + 3);
    ctx.lineTo(x + 4, y - 2.5);
  }
  ctx.fill();
}

function drawEdges(view: Timeline): void {
  const { ctx, palette, left, density } = view;
  const hair = 1 / density;
  ctx.fillStyle = palette.line;
  ctx.fillRect(left - hair, 0, hair, view.height);
  ctx.fillRect(0, HEAD - hair, view.width, hair);
  ctx.fillStyle = palette.muted;
  ctx.font = FONT;
  ctx.textBaseline = "middle";
  ctx.fillText("whole run", 22, MINIMAP / 2);
  if (view.hasFocus) {
    ctx.strokeStyle = palette.accent;
    ctx.lineWidth = 2;
    ctx.strokeRect(1, 1, view.width - 2, view.height - 2);
  }
}

function drawScrollbar({ ctx, palette, right, height, scroll, layout: { height: all } }: Timeline): void {
  const visible = height - HEAD;
  if (all <= visible) {
    return;
  }
  const length = Math.max(24, (visible * visible) / all);
  const y = HEAD + (scroll / (all - visible)) * (visible - length);
  ctx.fillStyle = palette.muted;
  ctx.globalAlpha = 0.5;
  ctx.fillRect(right + 3, y, 5, length);
  ctx.globalAlpha = 1;
}
