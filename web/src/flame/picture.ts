// What a flame graph shows and how it is asked: boxes by depth, which a picture draws for a window and finds under a point.

import type { Flame, Frame } from "./tree";

/** One box. */
export type Box = { name: string; from: number; to: number; depth: number; frame?: Frame; slice?: number };

export type Draw = {
  /** A box with its name. */
  box(box: Box): void;
  /** A pixel that stands for several boxes: the part of it that they fill, and the name of the first. */
  pixel(x: number, depth: number, part: number, name: string): void;
};

export interface Picture {
  readonly width: number;
  readonly depth: number;
  /** Draws what lies within `from` and `to`, which are `pixels` wide, at these depths. */
  draw(draw: Draw, from: number, to: number, pixels: number, depths: readonly [number, number]): void;
  /** The box at a place; `reach` is as long as a pixel. */
  at(x: number, depth: number, reach: number): Box | null;
  /** The box beside, above or below another. */
  beside(box: Box, direction: "left" | "right" | "up" | "down"): Box | null;
  /** The first box; null when there is none. */
  first(): Box | null;
}

/** Frames of a tree as a picture. `isUpward` has the roots at the bottom. */
export function treePicture(flame: Flame, isUpward = false): Picture {
  const depthOf = (frame: Frame) => (isUpward ? flame.depth - 1 - frame.depth : frame.depth);
  const box = (frame: Frame): Box => ({ name: frame.name, from: frame.from, to: frame.to, depth: depthOf(frame), frame });
  const byDepth: Frame[][] = Array.from({ length: flame.depth }, () => []);
  for (const frame of flame.frames) {
    byDepth[depthOf(frame)]?.push(frame);
  }
  for (const row of byDepth) {
    row.sort((a, b) => a.from - b.from);
  }
  const maybe = (frame: Frame | undefined | null) => (frame ? box(frame) : null);
  return {
    width: flame.width,
    depth: flame.depth,
    draw(draw, from, to, _pixels, [first, last]) {
      for (let depth = first; depth <= last; depth += 1) {
        for (const frame of byDepth[depth] ?? []) {
          if (frame.to > from && frame.from < to) {
            draw.box(box(frame));
          }
        }
      }
    },
    at(x, depth, reach) {
      const row = byDepth[depth] ?? [];
      return maybe(row.find((frame) => frame.from <= x && x < frame.to) ?? row.find((frame) => frame.from - reach <= x && x < frame.to + reach));
    },
    beside({ frame }, direction) {
      if (!frame) {
        return null;
      }
      const row = byDepth[depthOf(frame)] ?? [];
      const place = row.indexOf(frame);
      const isToRoots = direction === (isUpward ? "down" : "up");
      return maybe(direction === "left" ? row[place - 1] : direction === "right" ? row[place + 1] : isToRoots ? frame.parent : frame.children[0]);
    },
    first: () => maybe(flame.frames[0]),
  };
}
