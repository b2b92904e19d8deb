// Sections of one thread in the order of time.

import { useMemo } from "preact/hooks";

import type { RunModel } from "../data/page";
import { duration } from "../data/quantity";
import type { Row, Slices } from "../data/slices";
import { setState, useAddress } from "../data/state";
import { useTimeline } from "../data/use_timeline";
import { ticks, timeLabel, timeStep } from "../parts/ticks";
import { TimeLink } from "../parts/link";
import { cut } from "../parts/name";
import type { Palette } from "../parts/palette";
import { useWindow, zoomOut, zoomTo } from "../parts/window";
import { FlameCanvas, ROW } from "./canvas";
import { orderPicture } from "./order";
import { SliceTip } from "./tip";

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
        onWindow={(begin, end) => zoomTo(begin, end, wall)}
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
