// Sections of one thread in the order of time, a row a depth. Rows are sorted and do not overlap, so that a draw is a few binary searches
// a pixel, however many slices there are.

import { useMemo } from "preact/hooks";

import type { RunModel } from "../data/page";
import { count, duration, moment } from "../data/quantity";
import { FAILED, OPEN, PAUSED, type Row, type Slices, SUMMARY } from "../data/slices";
import { setState, useAddress, useWindow, zoomOut, zoomTo } from "../data/state";
import { useTimeline } from "../data/timeline";
import { FactList } from "../parts/facts";
import { TimeLink } from "../parts/link";
import { cut, Name } from "../parts/name";
import type { Palette } from "../parts/palette";
import { ticks, timeLabel, timeStep } from "../parts/ticks";
import { type Box, type Draw, FlameCanvas, type Picture, ROW } from "./canvas";

export function OrderFlame({ model, search }: { model: RunModel; search: string }) {
  const wall = model.pictures.wall_ns;
  const slices = useTimeline(model)?.slices;
  const threads = useMemo(() => (slices ? threadsOf(slices) : []), [slices]);
  const { thread } = useAddress();
  const chosen = threads[Number(thread)] ?? threads[0];
  const { window, isZoomed } = useWindow(wall);
  const [from, to] = window;
  const picture = useMemo(() => (slices && chosen ? orderPicture(slices, chosen.rows, wall) : null), [slices, chosen, wall]);
  if (!slices || !picture || !chosen) {
    return slices ? <p class="muted">No section was recorded one by one.</p> : null;
  }
  return (
    <>
      <div class="controls">
        {threads.length > 1 ? (
          <label>
            Thread{" "}
            <select value={threads.indexOf(chosen)} onChange={(event) => setState({ thread: event.currentTarget.value })}>
              {threads.map(({ title }, at) => (
                <option value={at}>{cut(title, 60)}</option>
              ))}
            </select>
          </label>
        ) : null}
        <span class="muted">{isZoomed ? `${timeLabel(from, (to - from) / 100)} – ${timeLabel(to, (to - from) / 100)}, ` : ""}{duration(to - from)}</span>
        <button type="button" disabled={!isZoomed} onClick={zoomOut}>
          Whole run
        </button>
        <TimeLink from={from} to={to}>
          Show in the timeline
        </TimeLink>
      </div>
      <FlameCanvas
        label="Sections as they ran"
        picture={picture}
        from={from}
        to={to}
        search={search}
        tip={(box) => <SliceTip box={box} slices={slices} />}
        onOpen={(box) => zoomTo(box.from, box.to, wall)}
        onBack={zoomOut}
        wall={wall}
        axis={(ctx, palette, width) => drawTimes(ctx, palette, width, from, to)}
      />
      <p class="muted">Click zooms to a section, the wheel and w s zoom, drag and a d move, Escape shows the whole run.</p>
    </>
  );
}

/** Threads with the rows in which they have sections. */
export function threadsOf({ groups }: Slices): { title: string; rows: Row[] }[] {
  return groups
    .filter(({ kind }) => kind === "thread")
    .map(({ title, rows }) => ({ title, rows: rows.filter(({ kind }) => kind !== "events") }))
    .filter(({ rows }) => rows.length > 0);
}

function drawTimes(ctx: CanvasRenderingContext2D, palette: Palette, width: number, from: number, to: number) {
  const step = timeStep(to - from, width, 90);
  ctx.fillStyle = palette.muted;
  for (const at of ticks(from, to, step)) {
    const x = ((at - from) / (to - from)) * width;
    ctx.fillRect(x, ROW - 5, 1, 4);
    ctx.fillText(timeLabel(at, step), Math.min(x + 4, width - 40), ROW / 2);
  }
}

/** One call, or several that are too short to be kept one by one. */
function SliceTip({ box, slices }: { box: Box; slices: Slices }) {
  const flags = slices.flags[box.slice ?? 0] ?? 0;
  const ended = flags & OPEN ? "never ended" : flags & FAILED ? "left by an error" : flags & PAUSED ? "suspended in between" : null;
  const parts = box.slice === undefined ? [] : slices.parts(box.slice).slice(0, 6);
  return (
    <>
      <b>
        <Name text={box.name} />
      </b>
      <FactList
        facts={[
          { what: "took", value: duration(box.to - box.from) },
          { what: "from", value: moment(box.from) },
          { what: "to", value: moment(box.to) },
          ...(ended ? [{ what: "", value: ended }] : []),
          ...parts.map(({ path, count: n, busy }) => ({ what: <>{count(n)} × <Name text={slices.names[path] ?? ""} limit={40} /></>, value: duration(busy) })),
        ]}
      />
    </>
  );
}

/** A box narrower than this shares its pixel with others. */
const NARROW = 1.5;

/** The rows of a thread, outermost first, as a picture of the time from 0 to `wall`. */
function orderPicture(slices: Slices, rows: readonly Row[], wall: number): Picture {
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
    beside(from, [down, right]) {
      const depth = from.depth + down;
      const slice = right !== 0 ? (from.slice ?? -1) + right : find(rows[depth], from.from);
      const isThere = isIn(rows[depth], slice) && (down <= 0 || (start[slice] as number) < from.to);
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
