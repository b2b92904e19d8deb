// Fingers on a drawing over time: one moves what is shown, two zoom it. A tap is a click; a swipe up or down scrolls the page. A mouse that
// drags is one finger.

import { currentState, windowOf, zoomBy } from "../data/state";

/** One that moves less only taps, in pixels. */
const TAP = { touch: 8, mouse: 3 };

/** How far fingers went, in pixels, by what the part that is shown becomes longer, and where their middle is. */
type Moved = { dx: number; dy: number; factor: number; x: number };

/** Calls back whenever fingers have moved, until `signal` ends it. What has moved is no click. */
export function listenToFingers(element: HTMLElement, hasMouse: boolean, moved: (by: Moved, fingers: number) => void, signal: AbortSignal): void {
  /** Where each is, and from where it still has to move, while it may be a tap. */
  const fingers = new Map<number, { x: number; y: number; isTap: boolean }>();
  let hasMoved = false;
  const middle = () => {
    const all = [...fingers.values()];
    const [x, y] = [mean(all.map((one) => one.x)), mean(all.map((one) => one.y))];
    return { x, y, reach: mean(all.map((one) => Math.hypot(one.x - x, one.y - y))) };
  };
  const placeOf = ({ clientX, clientY }: PointerEvent) => {
    const { left, top } = element.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  };
  element.addEventListener("pointerdown", (event) => {
    if (fingers.size === 0) {
      hasMoved = false;
    }
    if (event.pointerType === "touch" || (hasMouse && event.button === 0)) {
      element.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, { ...placeOf(event), isTap: true });
    }
  }, { signal });
  element.addEventListener("pointermove", (event) => {
    const finger = fingers.get(event.pointerId);
    const to = placeOf(event);
    const least = event.pointerType === "touch" ? TAP.touch : TAP.mouse;
    if (finger && !(finger.isTap && fingers.size === 1 && Math.hypot(to.x - finger.x, to.y - finger.y) < least)) {
      const before = middle();
      fingers.set(event.pointerId, { ...to, isTap: false });
      const { x, y, reach } = middle();
      hasMoved = true;
      moved({ dx: x - before.x, dy: y - before.y, factor: reach > 0 && before.reach > 0 ? before.reach / reach : 1, x }, fingers.size);
    }
  }, { signal });
  for (const end of ["pointerup", "pointercancel"] as const) {
    element.addEventListener(end, ({ pointerId }) => fingers.delete(pointerId), { signal });
  }
  element.addEventListener("click", (event) => hasMoved && event.stopImmediatePropagation(), { signal, capture: true });
  // Two fingers are the drawing's, however they move.
  element.addEventListener("touchmove", (event) => event.touches.length > 1 && event.preventDefault(), { signal, passive: false });
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** A plot of the run up to `wall`, from `left` on and so many pixels wide. With `hasMouse` a mouse moves it, too. */
export type Plotted = { wall: number; left: number; room: number; hasMouse?: boolean };

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
