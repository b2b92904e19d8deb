// A picture on a canvas that one can zoom, search and walk through. The canvas is as large as the view; deeper pictures scroll.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { zoomByKey, zoomTo } from "../data/state";
import { arrowOf, Canvas, fitted, pointIn, useView } from "../parts/canvas";
import { colourOfName, type Palette } from "../parts/palette";
import type { Frame } from "./tree";

export const ROW = 18;

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
  beside(box: Box, move: readonly [down: number, right: number]): Box | null;
  /** The first box; null when there is none. */
  first(): Box | null;
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
  const [chosen, choose] = useState<Box | null>(null);
  const [point, setPoint] = useState<{ x: number; y: number } | null>(null);
  const drag = useRef<{ x: number; from: number; to: number; hasMoved: boolean } | null>(null);
  const above = props.axis ? ROW : 0;
  const full = picture.depth * ROW + 2;
  const size = { width, height: Math.min(full, mostHeight) + above, top, above };
  const span = Math.max(to - from, Number.MIN_VALUE);

  useLayoutEffect(() => choose(null), [picture]);

  const boxAt = ({ x, y }: { x: number; y: number }) =>
    y < above ? null : picture.at(from + (x / width) * span, Math.floor((y - above + top) / ROW), span / width);
  const moved = (event: MouseEvent) => {
    const at = pointIn(event);
    const held = drag.current;
    if (held && wall !== undefined && event.buttons & 1) {
      if (held.hasMoved || Math.abs(at.x - held.x) > 3) {
        held.hasMoved = true;
        const by = ((at.x - held.x) / width) * (held.to - held.from);
        zoomTo(held.from - by, held.to - by, wall);
      }
      return;
    }
    choose(boxAt(at));
    setPoint(at);
  };
  const wheeled = (event: WheelEvent) => {
    if (wall === undefined || event.shiftKey) {
      return;
    }
    event.preventDefault();
    const at = from + (pointIn(event).x / width) * span;
    const factor = Math.exp(0.0018 * event.deltaY);
    zoomTo(at - (at - from) * factor, at + (to - at) * factor, wall);
  };
  const released = (event: MouseEvent) => {
    const hasMoved = drag.current?.hasMoved;
    drag.current = null;
    const box = boxAt(pointIn(event));
    if (!hasMoved && box) {
      props.onOpen(box);
    }
  };
  const keyed = (key: string) => {
    const move = arrowOf(key);
    if (move) {
      const next = chosen ? picture.beside(chosen, move) : picture.first();
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
        draw={(ctx, palette) => paint(ctx, props, palette, size, chosen)}
        onMouseMove={moved}
        onMouseLeave={() => (choose(null), setPoint(null))}
        onMouseDown={(event: MouseEvent) => {
          if (event.button === 0) {
            drag.current = { x: pointIn(event).x, from, to, hasMoved: false };
          }
        }}
        onMouseUp={released}
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
  const fill = (name: string, strength: number, x: number, top: number, wide: number) => {
    ctx.globalAlpha = isFound(name) ? strength : strength * 0.25;
    ctx.fillStyle = palette.series[colourOfName(name)] ?? palette.fg;
    ctx.fillRect(x, top, wide, ROW - 1);
    ctx.globalAlpha = 1;
  };
  const draw: Draw = {
    box(box) {
      const left = Math.max(-1, ((box.from - from) / (to - from)) * width);
      const right = Math.min(width + 1, ((box.to - from) / (to - from)) * width);
      const wide = Math.max(0.5, right - left - (right - left > 2 ? 1 : 0));
      fill(box.name, wanted !== "" && isFound(box.name) ? 0.75 : 0.42, left, y(box.depth), wide);
      if (wide > 24) {
        ctx.fillStyle = isFound(box.name) ? palette.fg : palette.muted;
        ctx.fillText(fitted(ctx, box.name, wide - 8), Math.max(0, left) + 4, y(box.depth) + ROW / 2);
      }
    },
    pixel(x, depth, part, name) {
      fill(name, 0.12 + 0.4 * part, x, y(depth), 1);
    },
  };
  picture.draw(draw, from, to, width, [Math.floor(top / ROW), Math.ceil((top + height) / ROW)]);
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
