// Sections of one thread in the order of time, a row a depth. Rows are sorted and do not overlap, so that a draw is a few binary searches
// a pixel, however many slices there are.

import { useMemo } from "preact/hooks";

import type { RunModel } from "../data/page";
import { count, duration, moment } from "../data/quantity";
import { FAILED, OPEN, PAUSED, type Row, type Slices, SUMMARY } from "../data/slices";
import { clearSelection, selectSlice } from "../data/selection";
import { setState, useAddress, useWindow, zoomOut, zoomTo } from "../data/state";
import { useTimeline } from "../data/timeline";
import { FactList } from "../parts/facts";
import { TimeLink, WholeButton, windowText } from "../parts/controls";
import { cut, Name } from "../parts/name";
import type { Palette } from "../parts/palette";
import { ticks, timeLabel, timeStep } from "../parts/ticks";
import { type Box, FlameCanvas, type Picture, ROW } from "./canvas";

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
        <span class="muted">{isZoomed ? `${windowText(window)}, ` : ""}{duration(to - from)}</span>
        <WholeButton isZoomed={isZoomed} />
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
        onOpen={(box) => (selectSlice(slices, box.at), zoomTo(box.from, box.to, wall))}
        onBack={() => (clearSelection(), zoomOut())}
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
  const flags = slices.flags[box.at] ?? 0;
  const ended = flags & OPEN ? "never ended" : flags & FAILED ? "left by an error" : flags & PAUSED ? "suspended in between" : null;
  const parts = slices.parts(box.at).slice(0, 6);
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

/** The rows of a thread, outermost first, as a picture of the time from 0 to `wall`. What stands for several is called so. */
function orderPicture(slices: Slices, rows: readonly Row[], wall: number): Picture {
  const short = (slice: number) => `(${slices.parts(slice).reduce((sum, part) => sum + part.count, 0)} short ones)`;
  return { width: wall, rows, boxes: slices, nameOf: (slice) => ((slices.flags[slice] as number) & SUMMARY ? short(slice) : slices.name(slice)) };
}
