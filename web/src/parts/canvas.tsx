// What all drawings share: a canvas as wide as its place, under which what is higher than it scrolls, and texts that fit.

import type { CanvasHTMLAttributes, ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import type { Window } from "../data/state";
import { visible } from "./name";
import { type Palette, usePalette } from "./palette";
import { ticks, timeLabel, timeStep } from "./ticks";
import { follow, listenToFingers, type Plotted } from "./touch";

export const FONT = "11px system-ui, sans-serif";
/** Left of every plot: room for the figures of the y axis, or names of rows. Right of it: a little air. */
export const PLOT_LEFT = 64;
export const PLOT_RIGHT = 14;
/** A shorter drag is a click. */
const DRAG = 3;

type Point = { x: number; y: number };

/** What a plot shows from its left to its right, in a drawing so wide: from moments to pixels and back. */
export type Span = { from: number; to: number; room: number; x: (at: number) => number; at: (x: number) => number };

/** The plot of a drawing so wide, over the time of the run up to `wall`. */
export const plotOf = (wall: number, width: number): Plotted => ({ wall, left: PLOT_LEFT, room: width - PLOT_LEFT - PLOT_RIGHT });

export function spanOf([from, to]: Window, width: number): Span {
  const room = width - PLOT_LEFT - PLOT_RIGHT;
  return {
    from,
    to,
    room,
    x: (at) => PLOT_LEFT + ((at - from) / (to - from)) * room,
    at: (x) => from + ((x - PLOT_LEFT) / room) * (to - from),
  };
}

/** Moments that have a tick. */
export function ticksOf({ from, to, room }: Span): { at: number; label: string }[] {
  const step = timeStep(to - from, room, 80);
  return ticks(from, to, step).map((at) => ({ at, label: timeLabel(at, step) }));
}

/** What lasted in a row of a plot. Its name stands in it where it is at least so wide. */
type Piece = { from: number; to: number; name: string; fill: string; least: number };

export function drawPiece(ctx: CanvasRenderingContext2D, palette: Palette, { x, room }: Span, piece: Piece, y: number, height: number): void {
  const { from, to, name, fill, least } = piece;
  const [left, right] = [Math.max(PLOT_LEFT, x(from)), Math.min(PLOT_LEFT + room, x(to))];
  if (right < PLOT_LEFT || left > PLOT_LEFT + room) {
    return;
  }
  // A line of background keeps neighbours apart where there is room for it.
  const wide = right - left;
  ctx.fillStyle = fill;
  ctx.fillRect(left, y, Math.max(1, wide > 4 ? wide - 1 : wide), height);
  if (wide > least) {
    ctx.textAlign = "left";
    ctx.fillStyle = palette.fg;
    ctx.fillText(fitted(ctx, name, wide - 8), left + 4, y + (height + 1) / 2);
  }
}

/** Where something is drawn: how wide that is, and how far it is scrolled. */
export type View = { place: RefObject<HTMLDivElement | null>; width: number; top: number; setTop: (top: number) => void };

/** Of a component that is drawn anew when it changes; its width is 0 before it is known. */
export function useView(): View {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) {
      return;
    }
    setWidth(element.clientWidth);
    const resized = new ResizeObserver(() => setWidth(element.clientWidth));
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  return { place, width, top, setTop };
}

type CanvasProps = Omit<CanvasHTMLAttributes<HTMLCanvasElement>, "height" | "label"> & {
  view: View;
  /** For those who do not see it. */
  label: string;
  /** Of what is seen of it, and of all. */
  height: number;
  full?: number;
  draw: (ctx: CanvasRenderingContext2D, palette: Palette) => void;
  /** Where the pointer is; null when it is elsewhere. */
  onPoint?: (point: Point | null) => void;
  /** From where to where in the plot the pointer was dragged, in pixels. */
  onSpan?: ((from: number, to: number) => void) | undefined;
  /** Of a plot over time: fingers move and zoom it. */
  plotted?: Plotted | false;
  /** Acts on a key, unless another one is held down; true when it meant something. */
  onKey?: (key: string) => boolean;
  /** Lies over the drawing. */
  children?: ComponentChildren;
};

export function Canvas({ view, label, height, full = height, draw, onPoint, onSpan, plotted = false, onKey, children, class: name, ...rest }: CanvasProps) {
  const { place, width, setTop } = view;
  const canvas = useRef<HTMLCanvasElement>(null);
  const palette = usePalette();
  const [dragged, setDragged] = useState<readonly [number, number] | null>(null);
  useLayoutEffect(() => {
    if (canvas.current && width > PLOT_LEFT + PLOT_RIGHT) {
      draw(cleared(canvas.current, width, height), palette);
    }
  });
  const fingered = useRef(plotted);
  fingered.current = plotted;
  useEffect(() => {
    const stop = new AbortController();
    if (canvas.current && plotted) {
      listenToFingers(canvas.current, plotted.hasMouse ?? false, (by) => fingered.current && follow(fingered.current, by), stop.signal);
    }
    return () => stop.abort();
  }, [plotted === false]);
  const inPlot = (event: MouseEvent) => Math.max(PLOT_LEFT, Math.min(width - PLOT_RIGHT, pointIn(event).x));
  const [left, right] = dragged ? [Math.min(...dragged), Math.max(...dragged)] : [0, 0];
  const drags = onSpan && {
    onMouseDown: (event: MouseEvent) => event.button === 0 && setDragged([inPlot(event), inPlot(event)]),
    onMouseUp: () => {
      if (right - left > DRAG) {
        onSpan(left, right);
      }
      setDragged(null);
    },
  };
  const moved = (event: MouseEvent) => {
    onPoint?.(pointIn(event));
    setDragged(dragged && event.buttons & 1 ? [dragged[0], inPlot(event)] : null);
  };
  const keyed = (event: KeyboardEvent) => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey && onKey?.(event.key)) {
      event.preventDefault();
      event.stopPropagation();
    }
  };
  return (
    <div ref={place} class={name} style={{ height: `${height}px` }} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
      <div style={{ height: `${full}px` }}>
        <canvas
          ref={canvas}
          role="img"
          tabIndex={0}
          aria-label={label}
          style={plotted ? { touchAction: "pan-y" } : {}}
          onMouseMove={moved}
          onMouseLeave={() => (onPoint?.(null), setDragged(null))}
          onKeyDown={keyed}
          {...drags}
          {...rest}
        />
      </div>
      {dragged && <i class="chart-selection" style={{ left: `${left}px`, width: `${right - left}px` }} />}
      {children}
    </div>
  );
}

/** An empty canvas of this size, in the page's own pixels. */
function cleared(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = devicePixelRatio;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const ctx = canvas.getContext("2d") as CanvasRenderingContext2D;
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  ctx.font = FONT;
  ctx.textBaseline = "middle";
  return ctx;
}

/** Where the pointer is in the element that listens to it. */
export function pointIn(event: MouseEvent): Point {
  const box = (event.currentTarget as Element).getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

/** Where an arrow key leads: rows down and columns to the right. */
export function arrowOf(key: string): readonly [down: number, right: number] | undefined {
  return ({ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] } as const)[key];
}

const MOST_HEIGHT = 420;
/** Pixels that the name of a row takes. */
const NAME = 14;

/** Rows of one height below a head, of which as many are in view as there is room for. */
export type RowLayout = { head: number; height: number; full: number; seen: number; top: number; first: number; last: number };

/** So many rows, none higher than `highest`. */
export function rowLayout(n: number, head: number, highest: number, { top }: View): RowLayout {
  const height = Math.max(4, Math.min(highest, Math.floor((MOST_HEIGHT - head) / Math.max(1, n))));
  const full = n * height;
  const seen = Math.min(full, MOST_HEIGHT - head);
  return { head, height, full, seen, top, first: Math.floor(top / height), last: Math.min(n, Math.ceil((top + seen) / height)) };
}

/** Scrolls until a row is in sight. */
export function revealRow({ place }: View, { height, seen, top }: RowLayout, row: number): void {
  const [above, below] = [row * height, (row + 1) * height - seen];
  if (place.current && (top > above || top < below)) {
    place.current.scrollTop = top > above ? above : below;
  }
}

type RowName = { name: string; isMarked: boolean; colour: string };

/** Names of rows left of the plot, as many as there is room for; a marked one always has its own, and takes the room of others. */
export function drawRowNames(ctx: CanvasRenderingContext2D, { head, height, seen, top, first, last }: RowLayout, of: (row: number) => RowName): void {
  const every = Math.ceil(NAME / height);
  let free = head + 4;
  ctx.textAlign = "right";
  for (let row = first; row < last; row += 1) {
    const { name, isMarked, colour } = of(row);
    // The first name stands below what is in the head, however low its row is.
    const y = Math.max(head + 6, head + (row + 0.5) * height - top);
    const isNearMarked = Array.from({ length: Math.min(every, last - row) - 1 }, (_, n) => of(row + n + 1)).some((near) => near.isMarked);
    if (y > free && y < head + seen && (isMarked || (row % every === 0 && !isNearMarked))) {
      ctx.fillStyle = colour;
      ctx.fillText(fitted(ctx, name, PLOT_LEFT - 10), PLOT_LEFT - 8, y);
      free = y + 11;
    }
  }
}

const widths = new Map<string, number>();

/** As much of a name as fits, nothing in it harmful. */
export function fitted(ctx: CanvasRenderingContext2D, name: string, room: number): string {
  const shown = visible(name.slice(0, 300));
  const key = `${ctx.font} ${shown}`;
  let wide = widths.get(key);
  if (wide === undefined) {
    if (widths.size > 20_000) {
      widths.clear();
    }
    wide = ctx.measureText(shown).width;
    widths.set(key, wide);
  }
  if (wide <= room) {
    return shown;
  }
  const letters = [...shown];
  return `${letters.slice(0, Math.max(1, Math.floor((letters.length * room) / wide) - 1)).join("")}…`;
}
