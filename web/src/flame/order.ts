// Sections of one thread in the order of time, a row a depth. Rows are sorted and do not overlap, so that a draw is a few
// binary searches a pixel, however many slices there are.

import { type Row, type Slices, SUMMARY } from "../data/slices";
import type { Box, Draw, Picture } from "./picture";

/** A box narrower than this shares its pixel with others. */
const NARROW = 1.5;

/** The rows of a thread, outermost first, as a picture of the time from 0 to `wall`. */
export function orderPicture(slices: Slices, rows: readonly Row[], wall: number): Picture {
  const { start, end, flags } = slices;
  const box = (slice: number, depth: number): Box => ({
    name: (flags[slice] as number) & SUMMARY ? shortOnes(slices, slice) : slices.name(slice),
    from: start[slice] as number,
    to: end[slice] as number,
    depth,
    slice,
  });
  const isIn = (row: Row | undefined, slice: number): row is Row => row !== undefined && slice >= row.first && slice < row.last;
  const find = (row: Row | undefined, x: number) => (row ? slices.firstFrom(row, x) : -1);
  return {
    width: wall,
    depth: rows.length,
    draw(draw, from, to, pixels, [shallow, deep]) {
      for (let depth = shallow; depth <= Math.min(deep, rows.length - 1); depth += 1) {
        drawRow(draw, slices, rows[depth] as Row, { from, to, pixels, depth, box });
      }
    },
    at(x, depth, reach) {
      const slice = find(rows[depth], x - reach);
      return isIn(rows[depth], slice) && (start[slice] as number) <= x + reach ? box(slice, depth) : null;
    },
    beside(from, direction) {
      const depth = from.depth + (direction === "down" ? 1 : direction === "up" ? -1 : 0);
      const slice = direction === "left" || direction === "right" ? (from.slice ?? -1) + (direction === "left" ? -1 : 1) : find(rows[depth], from.from);
      const isThere = isIn(rows[depth], slice) && (direction !== "down" || (start[slice] as number) < from.to);
      return isThere ? box(slice, depth) : null;
    },
    first() {
      const row = rows[0];
      return row && row.last > row.first ? box(row.first, 0) : null;
    },
  };
}

/** What a slice that stands for several is called. */
function shortOnes(slices: Slices, slice: number): string {
  return `(${slices.parts(slice).reduce((sum, part) => sum + part.count, 0)} short ones)`;
}

type Drawn = { from: number; to: number; pixels: number; depth: number; box: (slice: number, depth: number) => Box };

function drawRow(draw: Draw, slices: Slices, row: Row, { from, to, pixels, depth, box }: Drawn) {
  const { start, end } = slices;
  const perPixel = (to - from) / pixels;
  let slice = slices.firstFrom(row, from);
  while (slice < row.last && (start[slice] as number) < to) {
    if ((end[slice] as number) - (start[slice] as number) >= NARROW * perPixel) {
      draw.box(box(slice, depth));
      slice += 1;
      continue;
    }
    // The pixel's next slice is the first that ends behind it: always further, none left out.
    const x = Math.max(0, Math.floor(((start[slice] as number) - from) / perPixel));
    const [left, right] = [from + x * perPixel, from + (x + 1) * perPixel];
    const part = (slices.busyUntil(row, right) - slices.busyUntil(row, left)) / perPixel;
    draw.pixel(x, depth, part, slices.name(slice));
    slice = slices.firstFrom(row, right, slice + 1);
  }
}
