// What the pointer, the wheel and the keyboard do.

import { zoomOut, zoomTo } from "../data/state";
import { follow, listenToFingers } from "../parts/touch";
import type { Pointed, Timeline } from "./timeline";

/** A wheel that turns by 100 changes the window by a sixth. */
const WHEEL = 0.0018;
const STEP = 0.15;

/** Acts until the returned function is called. `onPoint` gets what is pointed at, and where, in pixels of the canvas. */
export function listen(timeline: Timeline, onPoint: (pointed: Pointed | null, x: number, y: number) => void): () => void {
  const { canvas } = timeline;
  const stop = new AbortController();
  const { signal } = stop;
  let drag: Drag | null = null;
  const change = (look: Partial<Pick<Timeline, "cursor" | "hasFocus">>) => {
    Object.assign(timeline, look);
    timeline.requestDraw();
  };
  canvas.addEventListener("pointerdown", (event) => {
    drag = event.button === 0 ? dragFrom(timeline, event) : null;
    drag?.move(event.offsetX, event.offsetY);
    onPoint(null, 0, 0);
  }, { signal });
  canvas.addEventListener("pointermove", (event) => {
    const { offsetX: x, offsetY: y } = event;
    change({ cursor: { x, y } });
    if (drag) {
      drag.move(x, y);
    } else if (event.buttons === 0) {
      onPoint(timeline.pointedAt(x, y), x, y);
      canvas.style.cursor = cursorAt(timeline, x, y);
    }
  }, { signal });
  canvas.addEventListener("pointerup", (event) => {
    drag?.end?.(event.offsetX);
    drag = null;
  }, { signal });
  canvas.addEventListener("pointercancel", () => {
    drag = null;
  }, { signal });
  listenToFingers(canvas, true, (by, fingers) => {
    drag = fingers > 1 ? null : drag;
    if (!drag) {
      follow({ wall: timeline.end, left: timeline.left, room: timeline.right - timeline.left }, by);
      timeline.scrollBy(-by.dy);
    }
  }, signal);
  canvas.addEventListener("click", ({ offsetX: x, offsetY: y }) => {
    const area = timeline.areaAt(x, y);
    const title = titleAt(timeline, y);
    if (title !== undefined && area !== "scrollbar") {
      timeline.toggle(title);
    } else if (area === "plot") {
      timeline.select(timeline.pointedAt(x, y)?.slice ?? null);
    }
  }, { signal });
  canvas.addEventListener("pointerleave", () => {
    change({ cursor: null });
    onPoint(null, 0, 0);
  }, { signal });
  canvas.addEventListener("dblclick", () => timeline.zoomToSelected(), { signal });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    onPoint(null, 0, 0);
    turn(timeline, event);
  }, { signal, passive: false });
  canvas.addEventListener("focus", () => change({ hasFocus: canvas.matches(":focus-visible") }), { signal });
  canvas.addEventListener("blur", () => change({ hasFocus: false }), { signal });
  addEventListener("keydown", (event) => press(timeline, event), { signal });
  return () => stop.abort();
}

type Drag = {
  move: (x: number, y: number) => void;
  end?: (x: number) => void;
};

/** What else a drag does than to move what is shown; null where it does that. */
function dragFrom(timeline: Timeline, event: PointerEvent): Drag | null {
  switch (timeline.areaAt(event.offsetX, event.offsetY)) {
    case "minimap":
      return { move: (x) => centre(timeline, timeline.minimapTime(x)) };
    case "labels":
      return { move: () => {} };
    case "scrollbar":
      return scrolling(timeline, event);
    default:
      return event.shiftKey ? choosing(timeline, event.offsetX) : null;
  }
}

/** Moves the window's middle to a moment. */
function centre({ length, end }: Timeline, t: number): void {
  zoomTo(t - length / 2, t + length / 2, end);
}

/** The key of a title that can be folded. */
function titleAt(timeline: Timeline, y: number): string | undefined {
  const line = timeline.lineAt(y);
  return line && "key" in line ? line.key : undefined;
}

function scrolling(timeline: Timeline, event: PointerEvent): Drag {
  let before = event.offsetY;
  return {
    move: (_, y) => {
      timeline.scrollBy(((y - before) * timeline.fullHeight) / Math.max(1, timeline.canvas.clientHeight));
      before = y;
    },
  };
}

/** From a moment on, as far as it is dragged. */
function choosing(timeline: Timeline, x0: number): Drag {
  const from = timeline.timeAt(x0);
  const clamp = (t: number) => Math.min(Math.max(t, 0), timeline.end);
  const range = (x: number) => {
    const t = timeline.timeAt(x);
    return { from: clamp(Math.min(from, t)), to: clamp(Math.max(from, t)) };
  };
  const mark = (x: number) => {
    timeline.range = range(x);
    timeline.requestDraw();
  };
  return { move: mark, end: (x) => timeline.choose(range(x)) };
}

function cursorAt(timeline: Timeline, x: number, y: number): string {
  return titleAt(timeline, y) !== undefined || timeline.pointedAt(x, y)?.slice != null ? "pointer" : "default";
}

function turn(timeline: Timeline, event: WheelEvent): void {
  const { offsetX: x, offsetY: y } = event;
  const scale = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 33 : 1;
  const [dx, dy] = [event.deltaX * scale, event.deltaY * scale];
  const area = timeline.areaAt(x, y);
  if (area === "labels" || area === "scrollbar") {
    timeline.scrollBy(dy);
  } else if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) {
    timeline.pan(timeline.share(dx || dy));
  } else {
    timeline.zoom(Math.exp(WHEEL * dy), timeline.timeAt(x));
  }
}

function press(timeline: Timeline, event: KeyboardEvent): void {
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
    "0": () => zoomOut(),
    f: () => timeline.zoomToSelected(),
    g: () => timeline.toggleIdle(),
    n: () => timeline.goToHit(1),
    N: () => timeline.goToHit(-1),
  };
  const action = actions[event.key];
  if (action) {
    event.preventDefault();
    action();
  }
}
