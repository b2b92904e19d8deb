// Draws a row of slices: bars with their names, and columns of those that are thinner than a pixel.

import { EVENT, FAILED, OPEN, type Row, SESSION, SUMMARY } from "../data/slices";
import { count } from "../data/quantity";
import { fitted } from "../parts/canvas";
import { SESSION_COLOUR } from "../parts/palette";
import type { Timeline } from "./timeline";

/** Of names in bars. */
const FONT = '11px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace';

/** A column is never weaker: one short slice in a long pixel is still seen. */
const FAINTEST = 0.15;
/** Of so many slices in a pixel the longest gives the colour. */
const LOOKED_AT = 6;
const LABELLED = 28;
/** What a search did not find. */
const DIMMED = 0.22;

export function drawRow(view: Timeline, row: Row, y: number, height: number): void {
  const { ctx, slices, from, to, scale } = view;
  ctx.font = FONT;
  ctx.textBaseline = "middle";
  if (row.kind === "events") {
    drawEvents(view, row, y, height);
  } else {
    slices.draw(row, from, to, 1 / scale, (i) => drawBar(view, row, i, y, height), (i, next, pixel, busy) => {
      ctx.fillStyle = columnFill(view, i, next, busy);
      ctx.fillRect(view.left + pixel, y, 1, height);
      if ((view.marked?.firstHit(i, next) ?? -1) >= 0) {
        mark(view, view.left + pixel, 1, y, height);
      }
    });
  }
  ctx.globalAlpha = 1;
}

function drawBar(view: Timeline, row: Row, i: number, y: number, height: number): void {
  const { ctx, slices, palette, search } = view;
  const path = slices.path[i]!;
  const flags = slices.flags[i]!;
  const [x0, x1] = [view.x(slices.start[i]!), view.x(slices.end[i]!)];
  const left = view.sharp(Math.max(x0, view.left));
  const right = view.sharp(Math.min(x1, view.right));
  // A hair between neighbours.
  const width = Math.max(right - left - (right - left > 3 ? 1 / view.density : 0), 1 / view.density);
  const alpha = search && !search.isHit(i) ? DIMMED : 1;
  ctx.fillStyle = fillOf(view, path);
  if (flags & SUMMARY) {
    const share = slices.busy(row, i) / Math.max(1, slices.end[i]! - slices.start[i]!);
    const solid = Math.max(2, height * Math.min(1, share));
    ctx.globalAlpha = alpha * 0.3;
    ctx.fillRect(left, y, width, height);
    ctx.globalAlpha = alpha;
    ctx.fillRect(left, y + height - solid, width, solid);
    ctx.fillStyle = hatching(view);
    ctx.fillRect(left, y, width, height);
  } else {
    ctx.globalAlpha = alpha;
    ctx.fillRect(left, y, width, height);
  }
  if (view.marked?.isHit(i)) {
    mark(view, left, width, y, height);
  }
  if (flags & FAILED) {
    ctx.fillStyle = palette.bad;
    ctx.fillRect(left, y + height - 3, width, 3);
  }
  if (flags & OPEN && x1 <= view.right + 1) {
    ctx.fillStyle = palette.warn;
    ctx.fillRect(left + width - 4, y, 4, height);
  }
  if (width >= LABELLED) {
    ctx.globalAlpha = 1;
    ctx.fillStyle = alpha < 1 ? palette.muted : palette.inks[colourOfPath(view, path)]!;
    const text = fitted(ctx, labelOf(view, row, i), width - 8);
    ctx.fillText(text, left + 4, y + height / 2 + 0.5);
  }
}

/** A line under what is of the selected section. */
function mark({ ctx, palette }: Timeline, left: number, width: number, y: number, height: number): void {
  ctx.globalAlpha = 1;
  ctx.fillStyle = palette.fg;
  ctx.fillRect(left, y + height - 2, width, 2);
}

let hatched: { pattern: CanvasPattern | string; ground: string } | null = null;

/** Stripes over what stands for several. */
function hatching({ ctx, palette }: Timeline): CanvasPattern | string {
  if (hatched?.ground !== palette.bg) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const stripe = tile.getContext("2d")!;
    stripe.strokeStyle = palette.bg;
    stripe.globalAlpha = 0.4;
    for (const x of [-6, 0, 6]) {
      stripe.moveTo(x - 1, 7);
      stripe.lineTo(x + 7, -1);
    }
    stripe.stroke();
    hatched = { pattern: ctx.createPattern(tile, "repeat") ?? "transparent", ground: palette.bg };
  }
  return hatched.pattern;
}

function labelOf(view: Timeline, row: Row, i: number): string {
  const { slices } = view;
  const name = slices.name(i);
  const flags = slices.flags[i]!;
  if (flags & SUMMARY) {
    const n = slices.parts(i).reduce((sum, part) => sum + part.count, 0);
    return `${count(n)} short: ${name}, …`;
  }
  return flags & OPEN && row.kind !== "events" ? `${name} (open)` : name;
}

/** Of slices in one pixel: as strong as its time is busy. */
function columnFill(view: Timeline, i: number, next: number, busy: number): string {
  const { ctx, slices, search } = view;
  let longest = i;
  for (let k = i + 1; k < Math.min(next, i + LOOKED_AT); k++) {
    if (slices.end[k]! - slices.start[k]! > slices.end[longest]! - slices.start[longest]!) {
      longest = k;
    }
  }
  const hit = search ? search.firstHit(i, next) : -1;
  const share = FAINTEST + (1 - FAINTEST) * Math.min(1, busy);
  ctx.globalAlpha = search ? (hit >= 0 ? 1 : share * DIMMED) : share;
  return fillOf(view, slices.path[hit >= 0 ? hit : longest]!);
}

/** Moments: a tick each, named where there is room up to the next. */
function drawEvents(view: Timeline, row: Row, y: number, height: number): void {
  const { ctx, slices, palette, search } = view;
  let i = slices.firstFrom(row, view.from);
  while (i < row.last && slices.start[i]! <= view.to) {
    const x = view.x(slices.start[i]!);
    const next = Math.max(slices.firstFrom(row, view.timeAt(Math.floor(x) + 1), i), i + 1);
    const isHit = !search || search.firstHit(i, next) >= 0;
    ctx.globalAlpha = isHit ? 1 : DIMMED;
    ctx.fillStyle = palette.fg;
    ctx.beginPath();
    ctx.moveTo(x, y + 2);
    ctx.lineTo(x + 4, y + height / 2);
    ctx.lineTo(x, y + height - 2);
    ctx.lineTo(x - 4, y + height / 2);
    ctx.fill();
    const room = (next < row.last ? view.x(slices.start[next]!) : view.right) - x - 14;
    if (room > LABELLED && next === i + 1) {
      ctx.fillText(fitted(ctx, slices.name(i), room), x + 7, y + height / 2 + 0.5);
    }
    i = next;
  }
  ctx.globalAlpha = 1;
}

export function fillOf(view: Timeline, path: number): string {
  return view.slices.category(path) === EVENT ? view.palette.fg : view.palette.series[colourOfPath(view, path)]!;
}

function colourOfPath({ slices, colours }: Timeline, path: number): number {
  return slices.category(path) === SESSION ? SESSION_COLOUR : colours[path]!;
}
