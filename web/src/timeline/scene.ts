// Where and with what is drawn: what all parts of the timeline share while one picture is made.

import type { Slices } from "../data/slices";
import { cut } from "../parts/name";
import type { Palette } from "../parts/palette";
import type { Search } from "./search";

export type Scene = {
  ctx: CanvasRenderingContext2D;
  palette: Palette;
  slices: Slices;
  /** Of each path the number of its colour. */
  colours: Uint8Array;
  /** The part of the run that is shown, and the end of all of it. */
  from: number;
  to: number;
  end: number;
  /** The plot, in CSS pixels; labels are to its left. */
  left: number;
  right: number;
  /** CSS pixels of a nanosecond. */
  scale: number;
  /** Physical pixels of a CSS pixel. */
  density: number;
  /** Width of a letter of the labels' font. */
  letter: number;
  search: Search | null;
};

export function xOf(scene: Scene, t: number): number {
  return scene.left + (t - scene.from) * scene.scale;
}

export function timeAt(scene: Scene, x: number): number {
  return scene.from + (x - scene.left) / scene.scale;
}

/** The nearest place between two physical pixels: edges there are sharp. */
export function sharp(scene: Scene, x: number): number {
  return Math.round(x * scene.density) / scene.density;
}

export const FONT = '11px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace';
export const TITLE_FONT = "600 12px system-ui, sans-serif";
export const SMALL_FONT = "11px system-ui, sans-serif";

const shown = new Map<string, string>();

/** A name, safe to draw. */
export function drawable(name: string): string {
  let text = shown.get(name);
  if (text === undefined) {
    text = cut(name, 200);
    shown.set(name, text);
  }
  return text;
}

/** As much of a text as fits into a width, each letter being `letter` wide; empty when less than two letters fit. */
export function fitting(text: string, width: number, letter: number): string {
  const most = Math.floor(width / letter);
  if (text.length <= most) {
    return text;
  }
  return most < 2 ? "" : `${text.slice(0, most - 1)}…`;
}
