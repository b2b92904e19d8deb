// What all drawings share: a canvas of the size that its place has, and texts that fit.

import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { visible } from "./name";

export const FONT = "11px system-ui, sans-serif";

/** The width of an element, for a component that is drawn anew when it changes; 0 before it is known. */
export function useWidth(): [RefObject<HTMLDivElement | null>, number] {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
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
  return [place, width];
}

/** An empty canvas of this size, in the page's own pixels. */
export function cleared(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
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

/** Where the pointer is in an element. */
export function pointIn(element: Element, event: MouseEvent): { x: number; y: number } {
  const box = element.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

const widths = new Map<string, number>();

/** As much of a name as fits, nothing in it harmful. */
export function fitted(ctx: CanvasRenderingContext2D, name: string, room: number): string {
  const shown = visible(name.slice(0, 300));
  let wide = widths.get(shown);
  if (wide === undefined) {
    if (widths.size > 20_000) {
      widths.clear();
    }
    wide = ctx.measureText(shown).width;
    widths.set(shown, wide);
  }
  if (wide <= room) {
    return shown;
  }
  const letters = [...shown];
  return `${letters.slice(0, Math.max(1, Math.floor((letters.length * room) / wide) - 1)).join("")}…`;
}
