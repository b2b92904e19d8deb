// Draws readings over time: a step line of the means, and a band from least to most.

import { indexAt } from "../data/columns";
import { heldUntil, pointHolding, type Track, valueText } from "../data/timeline";
import { titleOf } from "../data/series";
import { FONT, fitted } from "../parts/canvas";
import { cut } from "../parts/name";
import type { Timeline } from "./timeline";

const TOP = 6;

/** `cursor`: the moment that is pointed at. */
export function drawTrack(view: Timeline, track: Track, y: number, height: number, cursor: number | null): void {
  const { ctx, palette } = view;
  const { low, high } = track;
  const yOf = (value: number) => y + height - 1 - ((value - low) / (high - low)) * (height - TOP);
  const first = Math.max(0, indexAt(track.start, view.from));
  ctx.fillStyle = palette.accent;
  ctx.strokeStyle = palette.accent;
  ctx.lineWidth = 1;
  const zero = yOf(Math.max(0, low));
  const line = new Path2D();
  let before = Number.NaN;
  for (let i = first; i < track.n && track.start[i]! <= view.to; ) {
    // All points that begin in the same pixel.
    const x0 = Math.max(view.x(track.start[i]!), view.left);
    const pixel = Math.floor(x0);
    let min = track.min[i]!;
    let max = track.max[i]!;
    let last = i;
    while (last + 1 < track.n && view.x(track.start[last + 1]!) < pixel + 1) {
      last += 1;
      min = Math.min(min, track.min[last]!);
      max = Math.max(max, track.max[last]!);
    }
    const x1 = Math.min(view.x(heldUntil(track, last)), view.right);
    const level = yOf(track.mean[last]!);
    const width = Math.max(x1 - x0, 1);
    ctx.globalAlpha = 0.14;
    ctx.fillRect(x0, Math.min(level, zero), width, Math.abs(zero - level));
    if (max > min) {
      ctx.globalAlpha = 0.35;
      ctx.fillRect(x0, yOf(max), width, Math.max(1, yOf(min) - yOf(max)));
    }
    if (x0 === before) {
      line.lineTo(x0, level);
    } else {
      line.moveTo(x0, level);
    }
    line.lineTo(x0 + width, level);
    before = x0 + width;
    i = last + 1;
  }
  ctx.globalAlpha = 1;
  ctx.stroke(line);
  drawCursor(view, track, cursor, yOf);
}

function drawCursor(view: Timeline, track: Track, cursor: number | null, yOf: (value: number) => number): void {
  const point = cursor === null ? -1 : pointHolding(track, cursor);
  if (cursor === null || point < 0) {
    return;
  }
  const { ctx, palette } = view;
  const x = view.x(cursor);
  const y = yOf(track.mean[point]!);
  ctx.fillStyle = palette.accent;
  ctx.beginPath();
  ctx.arc(x, y, 2.5, 0, 2 * Math.PI);
  ctx.fill();
}

/** What the track says at a moment; empty when it says nothing. */
export function readingText(track: Track, t: number): string {
  const point = pointHolding(track, t);
  if (point < 0) {
    return "";
  }
  const mean = valueText(track, track.mean[point]!);
  const [min, max] = [track.min[point]!, track.max[point]!];
  return max > min ? `${mean} (${valueText(track, min)} to ${valueText(track, max)})` : mean;
}

/** What it is above what it says; both are cut to their room. */
export function drawTrackLabel(view: Timeline, track: Track, y: number, cursor: number | null): void {
  const { ctx, palette } = view;
  const { low, peak } = track;
  const { title, of } = titleOf(track);
  const room = view.left - 30;
  ctx.font = FONT;
  ctx.textBaseline = "alphabetic";
  ctx.fillStyle = palette.fg;
  ctx.fillText(fitted(ctx, title, room), 22, y + 17);
  ctx.fillStyle = palette.muted;
  const reading = cursor === null ? "" : readingText(track, cursor);
  const text = reading !== "" ? reading : low === 0 && peak === 0 ? "0 throughout" : `up to ${valueText(track, peak)}`;
  ctx.fillText(of === "" ? text : `${cut(of, 12)} · ${text}`, 22, y + 33, room);
}
