// Draws the whole timeline: the strip of the whole run, the axis, the lines in view and what lies over them.

import { count } from "../data/quantity";
import { ticks, timeLabel, timeStep } from "../parts/ticks";
import { drawRow, fillOf } from "./bars";
import { drawTrack, drawTrackLabel } from "./curve";
import type { Line } from "./layout";
import { MINIMAP } from "./minimap";
import { drawable, fitting, type Scene, sharp, SMALL_FONT, timeAt, TITLE_FONT, xOf } from "./scene";
import type { Timeline } from "./timeline";

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

export function draw(scene: Scene, view: Timeline): void {
  const { ctx, palette, density, left, right } = scene;
  ctx.setTransform(density, 0, 0, density, 0, 0);
  ctx.fillStyle = palette.bg;
  ctx.fillRect(0, 0, view.width, view.height);
  view.minimap.draw(scene);
  const step = timeStep(scene.to - scene.from, right - left, 110);
  drawAxis(scene, view, step);
  clipped(scene, 0, HEAD, view.width, view.height - HEAD, () => {
    clipped(scene, left, HEAD, right - left, view.height - HEAD, () => {
      drawIdle(scene, view);
      inView(view, (line, y) => drawPlot(scene, view, line, y));
      drawRange(scene, view);
    });
    ctx.fillStyle = palette.panel;
    ctx.fillRect(0, HEAD, left, view.height - HEAD);
    clipped(scene, 0, HEAD, left - 4, view.height - HEAD, () => inView(view, (line, y) => drawLabel(scene, view, line, y)));
  });
  drawEdges(scene, view);
  drawScrollbar(scene, view);
}

function clipped({ ctx }: Scene, x: number, y: number, width: number, height: number, drawing: () => void): void {
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

function drawAxis(scene: Scene, view: Timeline, step: number): void {
  const { ctx, palette } = scene;
  ctx.font = SMALL_FONT;
  ctx.textBaseline = "middle";
  for (const t of ticks(scene.from, scene.to, step)) {
    const x = sharp(scene, xOf(scene, t));
    ctx.fillStyle = palette.line;
    ctx.fillRect(x, MINIMAP + 4, 1 / scene.density, view.height);
    ctx.fillStyle = palette.muted;
    const text = timeLabel(t, step);
    if (x + 5 + ctx.measureText(text).width < scene.right) {
      ctx.fillText(text, x + 5, MINIMAP + AXIS / 2 + 1);
    }
  }
}

function drawIdle(scene: Scene, view: Timeline): void {
  const { idle } = view;
  if (!idle) {
    return;
  }
  const { ctx, palette, left, right, scale } = scene;
  ctx.fillStyle = palette.bad;
  for (let x = left; x < right; x++) {
    const share = (idle.until(timeAt(scene, x + 1)) - idle.until(timeAt(scene, x))) * scale;
    if (share > 0) {
      ctx.globalAlpha = 0.04 + 0.16 * Math.min(1, share);
      ctx.fillRect(x, HEAD, 1, view.height);
    }
  }
  ctx.globalAlpha = 1;
}

function drawPlot(scene: Scene, view: Timeline, line: Line, y: number): void {
  const { ctx, palette, left, right } = scene;
  switch (line.kind) {
    case "group":
      drawBand(scene, y, line.height);
      if (line.isFolded) {
        const row = line.group.rows.find(({ kind }) => kind !== "events");
        if (row) {
          drawRow(scene, row, y + 5, line.height - 10);
        }
      }
      break;
    case "tracks":
      drawBand(scene, y, line.height);
      break;
    case "row":
      drawRow(scene, line.row, y + 1, line.height - 2);
      drawSelected(scene, view, line, y);
      break;
    case "track":
      drawTrack(scene, line.track, y, line.height - 2, view.cursorTime);
      ctx.fillStyle = palette.line;
      ctx.fillRect(left, y + line.height - 2, right - left, 1 / scene.density);
  }
}

/** Behind a title. */
function drawBand({ ctx, palette, left, right }: Scene, y: number, height: number): void {
  ctx.fillStyle = palette.panel;
  ctx.fillRect(left, y, right - left, height);
}

function drawSelected(scene: Scene, view: Timeline, line: Line & { kind: "row" }, y: number): void {
  const { selected } = view;
  if (selected === null || selected < line.row.first || selected >= line.row.last) {
    return;
  }
  const { ctx, palette, slices } = scene;
  const x0 = xOf(scene, slices.start[selected]!);
  const x1 = Math.max(xOf(scene, slices.end[selected]!), x0 + 2);
  if (x1 < scene.left || x0 > scene.right) {
    return;
  }
  const left = Math.round(Math.max(x0, scene.left - 4));
  const right = Math.round(Math.min(x1, scene.right + 4));
  ctx.strokeStyle = palette.fg;
  ctx.lineWidth = 2;
  ctx.strokeRect(left, y + 1, Math.max(2, right - left), line.height - 2);
}

function drawRange(scene: Scene, view: Timeline): void {
  const { ctx, palette } = scene;
  const { range } = view;
  if (range) {
    const [x0, x1] = [xOf(scene, range.from), xOf(scene, range.to)];
    ctx.fillStyle = palette.accent;
    ctx.globalAlpha = 0.13;
    ctx.fillRect(x0, HEAD, x1 - x0, view.height);
    ctx.globalAlpha = 1;
    ctx.fillRect(sharp(scene, x0), HEAD, 1, view.height);
    ctx.fillRect(sharp(scene, x1) - 1, HEAD, 1, view.height);
  }
  const at = view.cursorTime;
  if (at !== null) {
    ctx.fillStyle = palette.muted;
    ctx.globalAlpha = 0.6;
    ctx.fillRect(sharp(scene, xOf(scene, at)), HEAD, 1 / scene.density, view.height);
    ctx.globalAlpha = 1;
  }
}

function drawLabel(scene: Scene, view: Timeline, line: Line, y: number): void {
  const { ctx, palette, left } = scene;
  ctx.textBaseline = "middle";
  if (line.kind === "group" || line.kind === "tracks") {
    ctx.fillStyle = palette.muted;
    drawFold(ctx, 11, y + line.height / 2, line.isFolded);
    const title = line.kind === "group" ? drawable(line.group.title) : line.title;
    const n = line.kind === "group" ? line.group.rows.length : line.n;
    ctx.font = SMALL_FONT;
    const number = line.isFolded ? count(n) : "";
    const room = left - 34 - ctx.measureText(number).width;
    ctx.fillText(number, left - 8 - ctx.measureText(number).width, y + line.height / 2 + 0.5);
    ctx.font = TITLE_FONT;
    ctx.fillStyle = palette.fg;
    ctx.fillText(fitting(title, room, 7.6), 22, y + line.height / 2 + 0.5);
  } else if (line.kind === "track") {
    drawTrackLabel(scene, line.track, y, view.cursorTime);
  } else {
    drawRowLabel(scene, line, y);
  }
}

/** What most of the row's time is, where it is one thing; otherwise how deep it lies. */
function drawRowLabel(scene: Scene, { row, height }: Line & { kind: "row" }, y: number): void {
  const { ctx, palette, slices, left } = scene;
  ctx.font = SMALL_FONT;
  ctx.fillStyle = palette.muted;
  const isOne = row.last - row.first < 2000 && isOneName(scene, row.first, row.last);
  const text = row.kind === "events" ? "events" : isOne ? drawable(slices.name(row.first)) : "";
  const indent = 22 + Math.min(row.depth, 8) * 6;
  if (text !== "") {
    ctx.fillText(fitting(text, left - indent - 8, 6.2), indent, y + height / 2 + 0.5);
  }
  if (row.kind === "beside") {
    ctx.fillStyle = fillOf(scene, slices.path[row.first]!);
    ctx.fillRect(14, y + 2, 2, height - 4);
  }
}

const named = new Map<number, boolean>();

function isOneName({ slices }: Scene, first: number, last: number): boolean {
  let is = named.get(first);
  if (is === undefined) {
    is = true;
    for (let i = first + 1; i < last && is; i++) {
      is = slices.path[i] === slices.path[first];
    }
    named.set(first, is);
  }
  return is;
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

function drawEdges(scene: Scene, view: Timeline): void {
  const { ctx, palette, left, density } = scene;
  const hair = 1 / density;
  ctx.fillStyle = palette.line;
  ctx.fillRect(left - hair, 0, hair, view.height);
  ctx.fillRect(0, HEAD - hair, view.width, hair);
  ctx.fillStyle = palette.muted;
  ctx.font = SMALL_FONT;
  ctx.textBaseline = "middle";
  ctx.fillText("whole run", 22, MINIMAP / 2);
  if (view.hasFocus) {
    ctx.strokeStyle = palette.accent;
    ctx.lineWidth = 2;
    ctx.strokeRect(1, 1, view.width - 2, view.height - 2);
  }
}

function drawScrollbar({ ctx, palette, right }: Scene, view: Timeline): void {
  const visible = view.height - HEAD;
  const all = view.layout.height;
  if (all <= visible) {
    return;
  }
  const length = Math.max(24, (visible * visible) / all);
  const y = HEAD + (view.scroll / (all - visible)) * (visible - length);
  ctx.fillStyle = palette.muted;
  ctx.globalAlpha = 0.5;
  ctx.fillRect(right + 3, y, 5, length);
  ctx.globalAlpha = 1;
}
