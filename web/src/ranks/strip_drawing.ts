// Draws strips: the axis, the names of ranks, their stages, where they were cut off, and how exactly they lie on the axis.

import type { JobPage } from "../../model/page";
import type { Strip } from "../data/ranks";
import { drawPiece, drawRowNames, PLOT_LEFT, type RowLayout, type Span, ticksOf } from "../parts/canvas";
import { type Colour, type Palette, colourOf, faded } from "../parts/palette";

export const AXIS = 20;
/** Lower rows have no names in their pieces. */
const NAMED_HEIGHT = 14;

/** A rank with its strip; one of which there is no file, or none that could be read, has neither. */
export type StripRow = { label: string; place: number | null; strip: Strip | undefined; isSlow: boolean; isUnread: boolean };

type Scene = {
  rows: readonly StripRow[];
  names: readonly string[];
  colours: readonly Colour[];
  job: JobPage;
  span: Span;
  layout: RowLayout;
  at: { row: number; piece: number } | null;
};

export function drawStrips(ctx: CanvasRenderingContext2D, palette: Palette, scene: Scene): void {
  const { rows, span, span: { x, room }, layout: { height, top, seen, first, last }, at: chosen } = scene;
  ctx.save();
  ctx.beginPath();
  ctx.rect(PLOT_LEFT, AXIS, room, seen);
  ctx.clip();
  ctx.fillStyle = palette.line;
  for (const { at } of ticksOf(span)) {
    ctx.fillRect(Math.round(x(at)), AXIS, 1, seen);
  }
  const fills = scene.colours.map((colour) => faded(colourOf(palette, colour), 0.6));
  for (let row = first; row < last; row += 1) {
    drawRow(ctx, palette, scene, rows[row] as StripRow, AXIS + row * height - top, fills);
  }
  drawChosen(ctx, palette, scene);
  ctx.restore();
  ctx.fillStyle = palette.muted;
  for (const { at, label } of ticksOf(span)) {
    // The first one does not lie over the name of the rows.
    const isFirst = x(at) < PLOT_LEFT + 16;
    ctx.textAlign = isFirst ? "left" : "center";
    ctx.fillText(label, isFirst ? PLOT_LEFT : Math.min(x(at), PLOT_LEFT + room - 12), AXIS / 2);
  }
  ctx.textAlign = "right";
  ctx.fillText("rank", PLOT_LEFT - 8, AXIS / 2);
  drawRowNames(ctx, scene.layout, (row) => {
    const { label, isSlow, place } = rows[row] as StripRow;
    return { name: label, isMarked: isSlow, colour: isSlow || place === null ? palette.bad : chosen?.row === row ? palette.fg : palette.muted };
  });
}

function drawRow(ctx: CanvasRenderingContext2D, palette: Palette, scene: Scene, { place, strip, isUnread }: StripRow, y: number, fills: readonly string[]): void {
  const { names, job, span, span: { x, room }, layout: { height: rowHeight } } = scene;
  const [high, middle] = [rowHeight - Math.min(2, rowHeight / 4), y + rowHeight / 2 - 0.5];
  ctx.textAlign = "left";
  if (place === null || !strip) {
    ctx.fillStyle = faded(palette.bad, 0.12);
    ctx.fillRect(PLOT_LEFT, y, room, high);
    if (rowHeight >= NAMED_HEIGHT) {
      ctx.fillStyle = palette.bad;
      ctx.fillText(isUnread ? "not read" : "no file", PLOT_LEFT + 6, middle);
    }
    return;
  }
  for (let piece = 0; piece < strip.start.length; piece += 1) {
    const name = Math.min(strip.names[piece] as number, names.length);
    const [from, to] = [strip.start[piece] as number, strip.end[piece] as number];
    const least = rowHeight >= NAMED_HEIGHT ? 34 : Infinity;
    drawPiece(ctx, palette, span, { from, to, name: names[name] ?? "other stages", fill: fills[name] as string, least }, y, high);
  }
  const rank = job.ranks[place];
  const begin = rank?.start_ns ?? 0;
  if (rank && (rank.state === "cut" || rank.state === "damaged")) {
    const end = x(begin + rank.wall_ns);
    ctx.fillStyle = palette.bad;
    ctx.fillRect(end - 1, y, 3, high);
    if (rank.state === "cut" && rowHeight >= NAMED_HEIGHT) {
      ctx.fillText("cut off", end + 6, middle);
    }
  }
  const error = rank?.error_ns ?? 0;
  if (x(begin + error) - x(begin) > 2) {
    ctx.fillStyle = palette.fg;
    ctx.fillRect(x(begin - error), middle, x(begin + error) - x(begin - error), 1);
  }
}

function drawChosen(ctx: CanvasRenderingContext2D, palette: Palette, { rows, layout: { height, top }, at, span: { x } }: Scene): void {
  const strip = at ? rows[at.row]?.strip : undefined;
  if (!at || !strip || at.piece < 0 || at.piece >= strip.start.length) {
    return;
  }
  const [left, right] = [x(strip.start[at.piece] as number), x(strip.end[at.piece] as number)];
  ctx.strokeStyle = palette.fg;
  ctx.strokeRect(left + 0.5, AXIS + at.row * height - top + 0.5, Math.max(1, right - left - 1), Math.max(1, height - 2));
}

/** The piece of a strip at a moment; -1 where there is none. Of pieces that lie in each other the last to begin. */
export function pieceAt(strip: Strip | undefined, at: number): number {
  let found = -1;
  for (let piece = 0; piece < (strip?.start.length ?? 0) && (strip?.start[piece] as number) <= at; piece += 1) {
    found = (strip?.end[piece] as number) >= at ? piece : found;
  }
  return found;
}
