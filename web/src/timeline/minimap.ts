// The whole run in one strip, with the part that is shown marked in it.

import type { Row, Slices } from "../data/slices";
import type { Timeline } from "./timeline";

export const MINIMAP = 36;
/** Strips that can be told apart in it. */
const MOST_ROWS = 8;

export class Minimap {
  #picture: HTMLCanvasElement | null = null;
  #made = "";
  readonly #rows: Row[];

  constructor(slices: Slices) {
    const outer = slices.rows.filter((row) => row.depth === 0 && row.kind !== "events" && row.group.kind === "thread");
    this.#rows = outer.sort((a, b) => b.busy - a.busy).slice(0, MOST_ROWS).sort((a, b) => a.index - b.index);
  }

  draw(view: Timeline): void {
    const { ctx, palette, left, right } = view;
    const width = right - left;
    const made = JSON.stringify([width, view.density, palette.series, palette.panel]);
    if (made !== this.#made) {
      this.#picture = this.#paint(view, width);
      this.#made = made;
    }
    if (this.#picture) {
      ctx.drawImage(this.#picture, left, 0, width, MINIMAP);
    }
    const from = left + (view.from / view.end) * width;
    const to = Math.max(left + (view.to / view.end) * width, from + 2);
    ctx.globalAlpha = 0.72;
    ctx.fillStyle = palette.bg;
    ctx.fillRect(left, 0, from - left, MINIMAP);
    ctx.fillRect(to, 0, right - to, MINIMAP);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = palette.accent;
    ctx.lineWidth = 1;
    ctx.strokeRect(Math.round(from) + 0.5, 0.5, Math.max(2, Math.round(to - from) - 1), MINIMAP - 1);
  }

  /** A pixel is as strong as its time is busy. */
  #paint({ slices, colours, end: last, density, palette }: Timeline, width: number): HTMLCanvasElement {
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(width * density));
    canvas.height = Math.round(MINIMAP * density);
    const ctx = canvas.getContext("2d")!;
    ctx.scale(density, density);
    ctx.fillStyle = palette.panel;
    ctx.fillRect(0, 0, width, MINIMAP);
    const height = Math.min(10, (MINIMAP - 4) / Math.max(1, this.#rows.length));
    this.#rows.forEach((row, n) => {
      const y = 2 + n * height;
      let before = 0;
      for (let x = 0; x < width; x++) {
        const end = ((x + 1) / width) * last;
        const i = slices.firstFrom(row, end);
        const busy = slices.busyUntil(row, end, i);
        const share = (busy - before) / (last / width);
        before = busy;
        if (share > 0) {
          const path = slices.path[Math.max(row.first, Math.min(i, row.last - 1))]!;
          ctx.globalAlpha = 0.2 + 0.7 * Math.min(1, share);
          ctx.fillStyle = palette.series[colours[path]!]!;
          ctx.fillRect(x, y, 1, Math.max(1, height - 1));
        }
      }
    });
    return canvas;
  }
}
