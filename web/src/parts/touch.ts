// Fingers on a drawing over time: one moves what is shown, two zoom it. A tap is a click; a swipe up or down scrolls the page.

import { currentState, windowOf, zoomBy } from "../data/state";

/** A finger that moves less only taps, in pixels. */
export const TAP = 8;

/** How far fingers went, in pixels, by what the part that is shown becomes longer, and where their middle is. */
export type Moved = { dx: number; dy: number; factor: number; x: number };

type Place = { x: number; y: number };

/** Calls back whenever fingers have moved, until `signal` ends it. */
export function listenToFingers(element: HTMLElement, moved: (by: Moved, fingers: number) => void, signal: AbortSignal): void {
  const fingers = new Map<number, Place>();
  const begun = new Map<number, Place>();
  /** Their middle, and how far they are from it. */
  const spread = (): Place & { reach: number } => {
    const all = [...fingers.values()];
    const [x, y] = [mean(all.map((one) => one.x)), mean(all.map((one) => one.y))];
    return { x, y, reach: mean(all.map((one) => Math.hypot(one.x - x, one.y - y))) };
  };
  const placeOf = ({ clientX, clientY }: PointerEvent): Place => {
    const { left, top } = element.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  };
  const pressed = (event: PointerEvent) => {
    if (event.pointerType === "touch") {
      fingers.set(event.pointerId, placeOf(event));
      begun.set(event.pointerId, placeOf(event));
    }
  };
  const dragged = (event: PointerEvent) => {
    const from = begun.get(event.pointerId);
    const to = placeOf(event);
    if (!from || (fingers.size === 1 && Math.hypot(to.x - from.x, to.y - from.y) < TAP)) {
      return;
    }
    // Once it moves it moves all the way.
    begun.set(event.pointerId, { x: Infinity, y: 0 });
    const before = spread();
    fingers.set(event.pointerId, to);
    const { x, y, reach } = spread();
    moved({ dx: x - before.x, dy: y - before.y, factor: reach > 0 && before.reach > 0 ? before.reach / reach : 1, x }, fingers.size);
  };
  const lifted = ({ pointerId }: PointerEvent) => {
    fingers.delete(pointerId);
    begun.delete(pointerId);
  };
  element.addEventListener("pointerdown", pressed, { signal });
  element.addEventListener("pointermove", dragged, { signal });
  for (const end of ["pointerup", "pointercancel"] as const) {
    element.addEventListener(end, lifted, { signal });
  }
  // Two fingers are the drawing's, however they move.
  element.addEventListener("touchmove", (event) => event.touches.length > 1 && event.preventDefault(), { signal, passive: false });
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** A plot of the run up to `wall`, from `left` on and so many pixels wide. */
export type Plotted = { wall: number; left: number; room: number };

/** Moves and zooms what is shown. */
export function follow({ wall, left, room }: Plotted, { dx, factor, x }: Moved): void {
  const [from, to] = windowOf(currentState(), wall).window;
  const perPixel = (to - from) / room;
  const begin = from - dx * perPixel;
  zoomBy(factor, [begin, begin + to - from], wall, begin + (x - left) * perPixel);
}

/** Fingers are as wide as this: what one presses is at least so high. */
export const isCoarse = matchMedia("(pointer: coarse)").matches;
export const PRESSED = 40;
