// What each rank did when, one row a rank on the common axis. Dragging zooms; so do the keys of the timeline.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { count, counted, duration, moment } from "../data/quantity";
import type { DrawnJob } from "../data/ranks";
import { cleared, pointIn, useWidth } from "../parts/canvas";
import { usePalette } from "../parts/palette";
import { useWindow, zoomByKey, zoomOut, zoomTo } from "../parts/window";
import { visible } from "../parts/name";
import { AXIS, LEFT, RIGHT, drawStrips, pieceAt, type StripRow } from "./strip_drawing";
import { coloursOf, legendOf } from "./strip_colours";
import { rankOnHost } from "./words";

const MOST_HEIGHT = 420;

export function Strips({ drawn, places }: { drawn: DrawnJob; places: readonly number[] }) {
  const { job, strips, stripNames, communication } = drawn;
  const rows = useMemo(() => rowsOf(drawn, places), [drawn, places]);
  const colours = useMemo(() => coloursOf(stripNames, communication), [stripNames, communication]);
  const palette = usePalette();
  const span = Math.max(1, job.span_ns);
  const { window, isZoomed } = useWindow(span);
  const [scroller, width] = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [top, setTop] = useState(0);
  const [at, setAt] = useState<{ row: number; piece: number } | null>(null);
  const [dragged, setDragged] = useState<{ begin: number; end: number } | null>(null);
  const rowHeight = Math.max(4, Math.min(20, Math.floor((MOST_HEIGHT - AXIS) / Math.max(1, rows.length))));
  const full = rows.length * rowHeight;
  const seen = Math.min(full, MOST_HEIGHT - AXIS);
  const room = width - LEFT - RIGHT;
  useLayoutEffect(() => {
    if (canvas.current && room > 0) {
      drawStrips(cleared(canvas.current, width, AXIS + seen), palette, { rows, names: stripNames, colours, job, window, width, room, rowHeight, top, seen, at });
    }
  });
  if (strips.every(({ start }) => start.length === 0)) {
    return (
      <section class="part">
        <h2>What ranks did when</h2>
        <p class="muted">No file says what ranks did when.</p>
      </section>
    );
  }
  const timeAt = (x: number) => window[0] + ((Math.max(LEFT, Math.min(LEFT + room, x)) - LEFT) / room) * (window[1] - window[0]);
  const moved = (event: MouseEvent) => {
    const { x, y } = pointIn(canvas.current as Element, event);
    const row = Math.floor((y - AXIS + top) / rowHeight);
    const piece = x < LEFT ? -1 : pieceAt(rows[row]?.strip, timeAt(x));
    setAt(y >= AXIS && rows[row] ? { row, piece } : null);
    setDragged(dragged && event.buttons & 1 ? { ...dragged, end: x } : null);
  };
  const released = () => {
    if (dragged && Math.abs(dragged.end - dragged.begin) > 3) {
      const [from, to] = [timeAt(dragged.begin), timeAt(dragged.end)].sort((a, b) => a - b) as [number, number];
      zoomTo(from, to, span);
    }
    setDragged(null);
  };
  const keyed = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [0, 0];
    if (down !== 0 || right !== 0) {
      const row = at ? Math.max(0, Math.min(rows.length - 1, at.row + (down as number))) : Math.floor(top / rowHeight);
      const last = (rows[row]?.strip?.start.length ?? 0) - 1;
      setAt({ row, piece: Math.max(Math.min(0, last), Math.min(last, at ? Math.max(0, at.piece) + (right as number) : 0)) });
      const [above, below] = [row * rowHeight, (row + 1) * rowHeight - seen];
      if (scroller.current && (top > above || top < below)) {
        scroller.current.scrollTop = top > above ? above : below;
      }
    } else if (!zoomByKey(event.key, window, span)) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <section class="part" data-part="strips">
      <h2>
        What ranks did when{" "}
        <span class="muted">
          {isZoomed ? `${moment(window[0])} to ${moment(window[1])}` : `${duration(span)} from the first start to the last end`}{" "}
          <button type="button" disabled={!isZoomed} onClick={zoomOut} title="Double click does the same">
            Whole job
          </button>
        </span>
      </h2>
      <div class="heatmap strips">
        <div ref={scroller} class="heatmap-scroll" style={{ height: `${AXIS + seen}px` }} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
          <div style={{ height: `${AXIS + full}px` }}>
            <canvas
              ref={canvas}
              tabIndex={0}
              role="img"
              aria-label={`What ${counted(strips.length, "rank", "ranks")} did over ${duration(span)}. Arrow keys go from stage to stage; w and s zoom, a and d move, 0 shows all.`}
              onMouseMove={moved}
              onMouseLeave={() => (setAt(null), setDragged(null))}
              onMouseDown={(event) => event.button === 0 && setDragged({ begin: pointIn(canvas.current as Element, event).x, end: pointIn(canvas.current as Element, event).x })}
              onMouseUp={released}
              onDblClick={zoomOut}
              onKeyDown={keyed}
            />
          </div>
        </div>
        {dragged && <i class="chart-selection" style={{ left: `${Math.min(dragged.begin, dragged.end)}px`, width: `${Math.abs(dragged.end - dragged.begin)}px` }} />}
        <p class="heatmap-foot">
          <span class="rank-legend">
            {legendOf(stripNames, colours).map(([name, colour]) => (
              <span key={name}>
                <i class="faded" style={{ "--tone": colour }} /> <bdi>{name}</bdi>
              </span>
            ))}
          </span>
          <output class="heatmap-cell" aria-live="polite">
            {at ? described(drawn, rows[at.row], at.piece) : ""}
          </output>
        </p>
      </div>
      <Notes drawn={drawn} />
    </section>
  );
}

/** A row a rank; in order of rank, those of which nothing is known stand where they would. */
function rowsOf({ job, strips }: DrawnJob, places: readonly number[]): StripRow[] {
  const byPlace = new Map(strips.map((strip) => [strip.place, strip]));
  const rows = places
    .filter((place) => byPlace.has(place))
    .map((place): StripRow => ({ label: job.ranks[place]?.label ?? "?", place, strip: byPlace.get(place), isSlow: job.ranks[place]?.is_slow ?? false, isUnread: false }));
  if (!places.every((place, at) => place === at)) {
    return rows;
  }
  const absent = job.absent.map(([rank, isUnread]): StripRow => ({ label: String(rank), place: null, strip: undefined, isSlow: false, isUnread }));
  // Processes without a rank stand last.
  const rankOf = ({ label }: StripRow) => (/^\d+$/.test(label) ? Number(label) : Infinity);
  return [...rows, ...absent].sort((a, b) => {
    const [left, right] = [rankOf(a), rankOf(b)];
    return left === right ? (a.place ?? 0) - (b.place ?? 0) : left - right;
  });
}

function described({ job, stripNames }: DrawnJob, row: StripRow | undefined, piece: number): string {
  if (!row) {
    return "";
  }
  if (row.place === null) {
    return `rank ${row.label}: ${row.isUnread ? "nothing could be read of its file" : "no file tells of it"}`;
  }
  const rank = rankOnHost(job, row.place);
  const { strip } = row;
  if (!strip || piece < 0 || piece >= strip.start.length) {
    return rank;
  }
  const [from, to] = [strip.start[piece] as number, strip.end[piece] as number];
  const name = stripNames[strip.names[piece] as number];
  return `${rank}: ${name === undefined ? "other stages" : visible(name)} ${duration(to - from)}, from ${moment(from)} to ${moment(to)}`;
}

/** How exactly ranks lie on the axis, and what is not drawn. */
function Notes({ drawn: { job, n_merged: merged, n_strips_left_out: leftOut, strips } }: { drawn: DrawnJob }) {
  const { ranks } = job;
  const nUnknown = ranks.filter(({ start_ns }) => start_ns === null).length;
  const nVague = ranks.filter(({ start_ns, error_ns }) => start_ns !== null && error_ns === null).length;
  const errors = ranks.map(({ error_ns }) => error_ns ?? 0);
  const error = errors.reduce((most, each) => Math.max(most, each), 0);
  const notes = [
    ranks.length > 1 && error > 0 && `Clocks of ranks agree within ${duration(error)}.`,
    nVague > 0 && ranks.length > 1 && `How exactly ${counted(nVague, "rank lies", "ranks lie")} on the axis is not known.`,
    nUnknown > 0 && `When ${counted(nUnknown, "rank", "ranks")} ran is not known: drawn from the beginning.`,
    merged > 0 && `${count(merged)} pieces stand for several short stages each.`,
    leftOut > 0 && `${counted(leftOut, "rank is", "ranks are")} not drawn: ${count(strips.length)} are, those with the highest scores and others evenly.`,
  ].filter(Boolean);
  return notes.length > 0 ? <p class="muted heatmap-note">{notes.join(" ")}</p> : null;
}
