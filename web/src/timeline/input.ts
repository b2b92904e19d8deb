// What the pointer, the wheel and the keyboard do.

import type { Pointed, Timeline } from "./timeline";

/** A wheel that turns by 100 changes the window by a sixth. */
const WHEEL = 0.0018;
const STEP = 0.15;
/** A drag begins after so many pixels; before it is a click. */
const DRAG = 3;

export type Listener = {
  /** What is pointed at, and where, in pixels of the canvas. */
  onPoint: (pointed: Pointed | null, x: number, y: number) => void;
  onKeySearch: (direction: 1 | -1) => void;
};

/** Acts until the returned function is called. */
export function listen(timeline: Timeline, listener: Listener): () => void {
  const { canvas } = timeline;
  const stop = new AbortController();
  const { signal } = stop;
  let drag: Drag | null = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) {
      return;
    }
    canvas.setPointerCapture(event.pointerId);
    drag = dragFrom(timeline, event);
    drag?.move(event.offsetX, event.offsetY);
    listener.onPoint(null, 0, 0);
  }, { signal });
  canvas.addEventListener("pointermove", (event) => {
    const { offsetX: x, offsetY: y } = event;
    timeline.point({ x, y });
    if (drag) {
      drag.move(x, y);
    } else {
      listener.onPoint(timeline.pointedAt(x, y), x, y);
      canvas.style.cursor = cursorAt(timeline, x, y);
    }
  }, { signal });
  canvas.addEventListener("pointerup", (event) => {
    drag?.end(event.offsetX, event.offsetY);
    drag = null;
  }, { signal });
  canvas.addEventListener("pointercancel", () => {
    drag = null;
  }, { signal });
  canvas.addEventListener("pointerleave", () => {
    timeline.point(null);
    listener.onPoint(null, 0, 0);
  }, { signal });
  canvas.addEventListener("dblclick", () => timeline.zoomToSelected(), { signal });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    listener.onPoint(null, 0, 0);
    turn(timeline, event);
  }, { signal, passive: false });
  canvas.addEventListener("focus", () => timeline.setFocus(canvas.matches(":focus-visible")), { signal });
  canvas.addEventListener("blur", () => timeline.setFocus(false), { signal });
  addEventListener("keydown", (event) => press(timeline, listener, event), { signal });
  return () => stop.abort();
}

type Drag = {
  move: (x: number, y: number) => void;
  end: (x: number, y: number) => void;
};

function dragFrom(timeline: Timeline, event: PointerEvent): Drag | null {
  switch (timeline.areaAt(event.offsetX, event.offsetY)) {
    case "minimap":
      return { move: (x) => timeline.centre(timeline.minimapTime(x)), end: () => {} };
    case "labels":
      return { move: () => {}, end: (_, y) => fold(timeline, y) };
    case "scrollbar":
      return scrolling(timeline, event);
    default:
      return event.shiftKey ? choosing(timeline, event.offsetX) : moving(timeline, event);
  }
}

function fold(timeline: Timeline, y: number): void {
  const line = timeline.lineAt(y);
  if (line?.kind === "group" || line?.kind === "tracks") {
    timeline.toggle(line.key);
  }
}

function scrolling(timeline: Timeline, event: PointerEvent): Drag {
  let before = event.offsetY;
  return {
    move: (_, y) => {
      timeline.scrollBy(((y - before) * timeline.fullHeight) / Math.max(1, timeline.canvas.clientHeight));
      before = y;
    },
    end: () => {},
  };
}

/** From a moment on, as far as it is dragged. */
function choosing(timeline: Timeline, x0: number): Drag {
  const from = timeline.timeAt(x0);
  const clamp = (t: number) => Math.min(Math.max(t, 0), timeline.time.end);
  const range = (x: number) => {
    const t = timeline.timeAt(x);
    return { from: clamp(Math.min(from, t)), to: clamp(Math.max(from, t)) };
  };
  return { move: (x) => timeline.markRange(range(x)), end: (x) => timeline.choose(range(x)) };
}

function moving(timeline: Timeline, { offsetX, offsetY }: PointerEvent): Drag {
  let [x0, y0] = [offsetX, offsetY];
  let isMoved = false;
  return {
    move: (x, y) => {
      isMoved ||= Math.hypot(x - offsetX, y - offsetY) > DRAG;
      if (isMoved) {
        timeline.time.pan(timeline.span(x0 - x));
        timeline.scrollBy(y0 - y);
        timeline.changed();
        [x0, y0] = [x, y];
      }
    },
    end: (x, y) => {
      if (!isMoved) {
        const line = timeline.lineAt(y);
        if (line?.kind === "group" || line?.kind === "tracks") {
          timeline.toggle(line.key);
        } else {
          timeline.select(timeline.pointedAt(x, y)?.slice ?? null);
        }
      }
    },
  };
}

function cursorAt(timeline: Timeline, x: number, y: number): string {
  const kind = timeline.lineAt(y)?.kind;
  if (kind === "group" || kind === "tracks") {
    return "pointer";
  }
  return timeline.pointedAt(x, y)?.slice != null ? "pointer" : "default";
}

function turn(timeline: Timeline, event: WheelEvent): void {
  const { offsetX: x, offsetY: y } = event;
  const scale = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 33 : 1;
  const [dx, dy] = [event.deltaX * scale, event.deltaY * scale];
  const area = timeline.areaAt(x, y);
  if (area === "labels" || area === "scrollbar") {
    timeline.scrollBy(dy);
  } else if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) {
    timeline.time.pan(timeline.span(dx || dy));
    timeline.changed();
  } else {
    timeline.zoom(Math.exp(WHEEL * dy), timeline.timeAt(x));
  }
}

function press(timeline: Timeline, listener: Listener, event: KeyboardEvent): void {
  const target = event.target as Element | null;
  const isElsewhere = target !== null && target !== document.body && target.closest(".timeline") === null && target.id !== "view";
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isElsewhere || target?.closest("input, select, textarea")) {
    return;
  }
  const actions: Record<string, () => void> = {
    w: () => timeline.zoom(1 - STEP, timeline.cursorTime ?? undefined),
    s: () => timeline.zoom(1 / (1 - STEP), timeline.cursorTime ?? undefined),
    "+": () => timeline.zoom(1 - STEP),
    "=": () => timeline.zoom(1 - STEP),
    "-": () => timeline.zoom(1 / (1 - STEP)),
    a: () => timeline.pan(-STEP),
    d: () => timeline.pan(STEP),
    ArrowLeft: () => timeline.pan(-STEP),
    ArrowRight: () => timeline.pan(STEP),
    ArrowUp: () => timeline.scrollBy(-40),
    ArrowDown: () => timeline.scrollBy(40),
    "0": () => timeline.showAll(),
    f: () => timeline.zoomToSelected(),
    g: () => timeline.toggleIdle(),
    n: () => listener.onKeySearch(1),
    N: () => listener.onKeySearch(-1),
    Escape: () => {
      timeline.choose(null);
      timeline.select(null);
    },
  };
  const action = actions[event.key];
  if (action) {
    event.preventDefault();
    action();
  }
}
