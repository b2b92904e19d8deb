// A picture on a canvas that one can zoom, search and walk through. The canvas is as large as the view; deeper pictures scroll.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { cleared, fitted, pointIn, useWidth } from "../parts/canvas";
import { colourOfName, type Palette, usePalette } from "../parts/palette";
import type { Box, Draw, Picture } from "./picture";

export const ROW = 18;
const MOST_HEIGHT = 520;

export type FlameCanvasProps = {
  label: string;
  picture: Picture;
  /** What is shown of the width. */
  from: number;
  to: number;
  /** Searched for; null when nothing is. */
  search: string;
  tip: (box: Box) => ComponentChildren;
  /** A box was chosen. */
  onOpen: (box: Box) => void;
  /** One step back. */
  onBack: () => void;
  /** The window is moved or zoomed by hand; absent where only boxes are chosen. */
  onWindow?: ((from: number, to: number) => void) | undefined;
  /** The time axis above, for pictures over time. */
  axis?: ((ctx: CanvasRenderingContext2D, palette: Palette, width: number) => void) | undefined;
  mostHeight?: number;
};

export function FlameCanvas(props: FlameCanvasProps) {
  const { picture, from, to, onWindow, axis, mostHeight = MOST_HEIGHT } = props;
  const palette = usePalette();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [scroller, width] = useWidth();
  const [top, setTop] = useState(0);
  const [chosen, choose] = useState<Box | null>(null);
  const [point, setPoint] = useState<{ x: number; y: number } | null>(null);
  const drag = useRef<{ x: number; from: number; to: number; hasMoved: boolean } | null>(null);
  const above = axis ? ROW : 0;
  const full = picture.depth * ROW + 2;
  const height = Math.min(full, mostHeight) + above;
  const span = Math.max(to - from, Number.MIN_VALUE);

  useLayoutEffect(() => {
    choose(null);
  }, [picture]);
  useLayoutEffect(() => {
    if (canvas.current && width > 0) {
      paint(cleared(canvas.current, width, height), props, palette, { width, height, top, above }, chosen);
    }
  }, [props, palette, width, height, top, chosen]);

  const place = (event: MouseEvent) => pointIn(canvas.current as Element, event);
  const boxAt = ({ x, y }: { x: number; y: number }) =>
    y < above ? null : picture.at(from + (x / width) * span, Math.floor((y - above + top) / ROW), span / width);
  const moved = (event: MouseEvent) => {
    const at = place(event);
    const held = drag.current;
    if (held && onWindow && event.buttons & 1) {
      if (held.hasMoved || Math.abs(at.x - held.x) > 3) {
        held.hasMoved = true;
        const by = ((at.x - held.x) / width) * (held.to - held.from);
        onWindow(held.from - by, held.to - by);
      }
      return;
    }
    choose(boxAt(at));
    setPoint(at);
  };
  const wheeled = (event: WheelEvent) => {
    if (!onWindow || event.shiftKey) {
      return;
    }
    event.preventDefault();
    const at = from + (place(event).x / width) * span;
    const factor = Math.exp(0.0018 * event.deltaY);
    onWindow(at - (at - from) * factor, at + (to - at) * factor);
  };
  const released = (event: MouseEvent) => {
    const hasMoved = drag.current?.hasMoved;
    drag.current = null;
    const box = boxAt(place(event));
    if (!hasMoved && box) {
      props.onOpen(box);
    }
  };
  const keyed = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const direction = ({ ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" } as const)[event.key];
    const zoom = { w: [0.25, -0.25], "+": [0.25, -0.25], s: [-0.5, 0.5], "-": [-0.5, 0.5], a: [-0.25, -0.25], d: [0.25, 0.25] }[event.key];
    if (direction) {
      const next = chosen ? picture.beside(chosen, direction) : picture.first();
      if (next) {
        choose(next);
        setPoint(null);
        scroller.current?.scrollTo({ top: Math.max(0, (next.depth + 2) * ROW - mostHeight) });
      }
    } else if (event.key === "Enter" && chosen) {
      props.onOpen(chosen);
    } else if (event.key === "Escape" || event.key === "Backspace") {
      props.onBack();
    } else if (zoom && onWindow) {
      onWindow(from + (zoom[0] as number) * span, to + (zoom[1] as number) * span);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="flame" data-flame={props.label}>
      <div ref={scroller} class="flame-scroll" style={{ height: `${height}px` }} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
        <div style={{ height: `${full + above}px` }}>
          <canvas
            ref={canvas}
            tabIndex={0}
            role="application"
            aria-label={`${props.label}. Arrow keys go from one to the next, Enter zooms, Escape goes back.`}
            onMouseMove={moved}
            onMouseLeave={() => (choose(null), setPoint(null))}
            onMouseDown={(event) => {
              if (event.button === 0) {
                drag.current = { x: place(event).x, from, to, hasMoved: false };
              }
            }}
            onMouseUp={released}
            onWheel={wheeled}
            onDblClick={() => onWindow && props.onBack()}
            onKeyDown={keyed}
          />
        </div>
      </div>
      <output class="flame-tip" aria-live="polite" hidden={chosen === null} style={tipPlace(point, chosen, { from, span, width, height, top, above })}>
        {chosen ? props.tip(chosen) : null}
      </output>
    </div>
  );
}

type View = { from: number; span: number; width: number; height: number; top: number; above: number };

/** Below the pointer, or below the box that the keys went to; to the left where there is no room. */
function tipPlace(point: { x: number; y: number } | null, box: Box | null, { from, span, width, top, above }: View) {
  const x = point ? point.x + 12 : box ? Math.max(4, ((box.from - from) / span) * width + 4) : 0;
  const y = point ? point.y + 16 : box ? (box.depth + 1) * ROW - top + above + 4 : 0;
  return x > width - 280 ? { right: `${Math.max(4, width - x + 20)}px`, top: `${y}px` } : { left: `${x}px`, top: `${y}px` };
}

type Size = { width: number; height: number; top: number; above: number };

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
