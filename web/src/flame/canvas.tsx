// A picture on a canvas that one can zoom, search and walk through. The canvas is as large as the view; deeper pictures scroll.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useState } from "preact/hooks";

import { clearSelection, sectionOf, useSection } from "../data/selection";
import { zoomBy, zoomByKey } from "../data/state";
import { arrowOf, Canvas, fitted, pointIn, useView } from "../parts/canvas";
import { colourOfName, type Palette } from "../parts/palette";
import { isCoarse, PRESSED } from "../parts/touch";
import type { Intervals, IntervalRow } from "../data/slices";
import { type Flame, type Frame, treePicture } from "./tree";

export const ROW = isCoarse ? PRESSED : 18;

/** Changes that are a smaller part of the largest one look as none. */
const SMALL = 0.02;

/** One box; of a tree its frame. `at`: its number. */
export type Box = { at: number; name: string; from: number; to: number; depth: number; frame?: Frame | undefined };

export type Picture = {
  width: number;
  /** From above. */
  rows: readonly IntervalRow[];
  boxes: Intervals;
  nameOf: (at: number) => string;
  /** Of a tree. */
  frames?: readonly Frame[];
  isUpward?: boolean;
};

function boxOf({ rows, boxes, nameOf, frames }: Picture, depth: number, at: number): Box | null {
  const row = rows[depth];
  const isThere = row !== undefined && at >= row.first && at < row.last;
  return isThere ? { at, name: nameOf(at), from: boxes.start[at] as number, to: boxes.end[at] as number, depth, frame: frames?.[at] } : null;
}

/** The box at a place, or one that is not further than `reach`. */
function boxAt(picture: Picture, x: number, depth: number, reach: number): Box | null {
  const row = picture.rows[depth];
  const near = row ? [0, reach].map((far) => ({ far, box: boxOf(picture, depth, picture.boxes.firstFrom(row, x - far)) })) : [];
  return near.find(({ far, box }) => box && box.from <= x + far)?.box ?? null;
}

/** The box beside, above or below another. */
function boxBeside(picture: Picture, { at, from, to, depth }: Box, [down, right]: readonly [number, number]): Box | null {
  const row = picture.rows[depth + down];
  const box = row ? boxOf(picture, depth + down, right !== 0 ? at + right : picture.boxes.firstFrom(row, from)) : null;
  return box && (right !== 0 || box.from < to) ? box : null;
}

type FlameCanvasProps = {
  label: string;
  picture: Picture;
  /** What is shown of the width. */
  from: number;
  to: number;
  /** Searched for; empty when nothing is. */
  search: string;
  tip: (box: Box) => ComponentChildren;
  /** A box was chosen. */
  onOpen: (box: Box) => void;
  /** One step back. */
  onBack: () => void;
  /** Of a picture of the run up to there: what is shown of it is moved and zoomed by hand. */
  wall?: number;
  /** The time axis above, for pictures over time. */
  axis?: (ctx: CanvasRenderingContext2D, palette: Palette, width: number) => void;
  mostHeight?: number;
};

export function FlameCanvas(props: FlameCanvasProps) {
  const { picture, from, to, wall, mostHeight = 520 } = props;
  const view = useView();
  const { width, top } = view;
  const section = useSection();
  const [chosen, choose] = useState<Box | null>(null);
  const [point, setPoint] = useState<{ x: number; y: number } | null>(null);
  const above = props.axis ? ROW : 0;
  const full = picture.rows.length * ROW + 2;
  const size = { width, height: Math.min(full, mostHeight) + above, top, above };
  const span = Math.max(to - from, Number.MIN_VALUE);

  useLayoutEffect(() => choose(null), [picture]);

  const under = ({ x, y }: { x: number; y: number }) =>
    y < above ? null : boxAt(picture, from + (x / width) * span, Math.floor((y - above + top) / ROW), span / width);
  const moved = (event: MouseEvent) => {
    if (wall === undefined || event.buttons === 0) {
      choose(under(pointIn(event)));
      setPoint(pointIn(event));
    }
  };
  const wheeled = (event: WheelEvent) => {
    if (wall === undefined || event.shiftKey) {
      return;
    }
    event.preventDefault();
    zoomBy(Math.exp(0.0018 * event.deltaY), [from, to], wall, from + (pointIn(event).x / width) * span);
  };
  const clicked = (event: MouseEvent) => {
    const box = under(pointIn(event));
    if (box) {
      props.onOpen(box);
    }
  };
  const keyed = (key: string) => {
    const move = arrowOf(key);
    if (move) {
      const root = picture.isUpward ? picture.rows.length - 1 : 0;
      const next = chosen ? boxBeside(picture, chosen, move) : boxOf(picture, root, picture.rows[root]?.first ?? 0);
      if (next) {
        choose(next);
        setPoint(null);
        view.place.current?.scrollTo({ top: Math.max(0, (next.depth + 2) * ROW - mostHeight) });
      }
    } else if (key === "Enter" && chosen) {
      props.onOpen(chosen);
    } else if (key === "Escape" || key === "Backspace") {
      props.onBack();
    } else {
      return wall !== undefined && zoomByKey(key, [from, to], wall);
    }
    return true;
  };
  return (
    <div class="flame" data-flame={props.label}>
      <Canvas
        view={view}
        class="flame-scroll"
        role="application"
        label={`${props.label}. Arrow keys go from one to the next, Enter zooms, Escape goes back.`}
        height={size.height}
        full={full + above}
        draw={(ctx, palette) => paint(ctx, props, palette, size, chosen, section)}
        onMouseMove={moved}
        onMouseLeave={() => (choose(null), setPoint(null))}
        onClick={clicked}
        plotted={wall !== undefined && { wall, left: 0, room: width, hasMouse: true }}
        onWheel={wheeled}
        onDblClick={() => wall !== undefined && props.onBack()}
        onKey={keyed}
      />
      <output class="flame-tip" aria-live="polite" hidden={chosen === null} style={tipPlace(point, chosen, { from, span, ...size })}>
        {chosen ? props.tip(chosen) : null}
      </output>
    </div>
  );
}

type TreeFlameProps = Pick<FlameCanvasProps, "label" | "mostHeight"> & {
  flame: Flame;
  search?: string;
  /** What fills the width; null for all. */
  focused?: Frame | null;
  onFocus: (frame: Frame | null) => void;
  tip: (frame: Frame) => ComponentChildren;
  isUpward?: boolean;
};

/** A click goes to a frame; on the one that fills the width, back out. */
export function TreeFlame({ flame, search = "", focused = null, onFocus, tip, isUpward = false, ...rest }: TreeFlameProps) {
  const picture = useMemo(() => treePicture(flame, isUpward), [flame, isUpward]);
  return (
    <FlameCanvas
      {...rest}
      picture={picture}
      from={focused?.from ?? 0}
      to={focused?.to ?? flame.width}
      search={search}
      tip={({ frame }) => frame && tip(frame)}
      onOpen={({ frame }) => onFocus((frame === focused ? frame?.parent : frame) ?? null)}
      onBack={() => (focused ? onFocus(focused.parent) : clearSelection())}
    />
  );
}

type Size = { width: number; height: number; top: number; above: number };

/** Below the pointer, or below the box that the keys went to; to the left where there is no room. */
function tipPlace(point: { x: number; y: number } | null, box: Box | null, { from, span, width, top, above }: Size & { from: number; span: number }) {
  const x = point ? point.x + 12 : box ? Math.max(4, ((box.from - from) / span) * width + 4) : 0;
  const y = point ? point.y + 16 : box ? (box.depth + 1) * ROW - top + above + 4 : 0;
  return x > width - 280 ? { right: `${Math.max(4, width - x + 20)}px`, top: `${y}px` } : { left: `${x}px`, top: `${y}px` };
}

function paint(
  ctx: CanvasRenderingContext2D,
  { picture, from, to, search, axis }: FlameCanvasProps,
  palette: Palette,
  { width, height, top, above }: Size,
  chosen: Box | null,
  section: string | undefined,
) {
  const wanted = search.toLowerCase();
  const found = new Map<string, boolean>();
  const isFound = (name: string) => {
    let is = wanted === "" || found.get(name);
    if (is === undefined) {
      found.set(name, (is = name.toLowerCase().includes(wanted)));
    }
    return is;
  };
  const y = (depth: number) => depth * ROW - top + above;
  const fill = (name: string, strength: number, x: number, top: number, wide: number, colour = palette.series[colourOfName(name)]) => {
    ctx.globalAlpha = isFound(name) ? strength : strength * 0.25;
    ctx.fillStyle = colour ?? palette.fg;
    ctx.fillRect(x, top, wide, ROW - 1);
    ctx.globalAlpha = 1;
    if (section !== undefined && sectionOf(name) === section) {
      ctx.fillStyle = palette.fg;
      ctx.fillRect(x, top + ROW - 3, wide, 2);
    }
  };
  const perPixel = (to - from) / width;
  const drawBox = (name: string, start: number, end: number, y: number, change?: number) => {
    const left = Math.max(-1, (start - from) / perPixel);
    const right = Math.min(width + 1, (end - from) / perPixel);
    const wide = Math.max(0.5, right - left - (right - left > 2 ? 1 : 0));
    if (change === undefined) {
      fill(name, wanted !== "" && isFound(name) ? 0.75 : 0.42, left, y, wide);
    } else {
      const isSmall = Math.abs(change) < SMALL;
      fill(name, isSmall ? 0.2 : 0.2 + 0.4 * Math.abs(change), left, y, wide, palette[isSmall ? "muted" : change > 0 ? "bad" : "accent"]);
    }
    if (wide > 24) {
      ctx.fillStyle = isFound(name) ? palette.fg : palette.muted;
      ctx.fillText(fitted(ctx, name, wide - 8), Math.max(0, left) + 4, y + ROW / 2);
    }
  };
  const { rows, boxes, nameOf, frames } = picture;
  for (let depth = Math.floor(top / ROW); depth < Math.min(rows.length, Math.ceil((top + height) / ROW) + 1); depth += 1) {
    const row = rows[depth] as IntervalRow;
    const bar = (at: number) => drawBox(nameOf(at), boxes.start[at] as number, boxes.end[at] as number, y(depth), frames?.[at]?.change);
    if (frames) {
      // Each is drawn, however narrow.
      for (let at = boxes.firstFrom(row, from); at < row.last && (boxes.start[at] as number) < to; at += 1) {
        bar(at);
      }
    } else {
      boxes.draw(row, from, to, perPixel, bar, (at, _next, pixel, share) => fill(nameOf(at), 0.12 + 0.4 * share, pixel, y(depth), 1));
    }
  }
  if (chosen) {
    const left = ((chosen.from - from) / (to - from)) * width;
    const right = ((chosen.to - from) / (to - from)) * width;
    ctx.strokeStyle = palette.fg;
    ctx.strokeRect(Math.max(0.5, left + 0.5), y(chosen.depth) + 0.5, Math.max(1, Math.min(width - 1, right - 1.5) - Math.max(0.5, left + 0.5)), ROW - 2);
  }
  if (axis) {
    ctx.clearRect(0, 0, width, above);
    axis(ctx, palette, width);
  }
}
