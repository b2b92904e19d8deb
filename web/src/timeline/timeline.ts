// The timeline: what is shown, what is selected, and the canvas on which it is drawn. What the address says of it, it follows; the page
// around it is the view's.

import { rangeOf, sectionNamed, sectionOf, selectSlice } from "../data/selection";
import type { Slices } from "../data/slices";
import { currentState, pan, setState, windowOf, zoomBy, zoomTo } from "../data/state";
import type { TimelineData, Track } from "../data/timeline";
import { colourOfName, readPalette } from "../parts/palette";
import { isCoarse, PRESSED } from "../parts/touch";
import { type Flow, flowsOf } from "./flows";
import { Layout, type Line } from "./layout";
import { MINIMAP, Minimap } from "./minimap";
import { draw, HEAD, labelsWidth, SCROLLBAR } from "./picture";
import { Idle, type Stretch } from "./range";
import { Search } from "./search";

/** What is under the pointer. */
export type Pointed = { t: number; line: Line; slice: number | null; track: Track | null };

/** Of pixels: how far from a thin slice the pointer may be. */
const NEAR = isCoarse ? PRESSED / 2 : 3;

export class Timeline {
  readonly slices: Slices;
  readonly canvas: HTMLCanvasElement;
  readonly layout: Layout;
  readonly minimap: Minimap;
  /** Length of the run, and the last moment of anything in it. */
  readonly wall: number;
  readonly end: number;
  /** The part of the run that is shown. */
  from = 0;
  to = 0;
  /** Number of a slice. */
  selected: number | null = null;
  /** What led to that slice, and what it led to. */
  flows: readonly Flow[] = [];
  /** The stretch that is summed up, or that is being chosen. */
  range: Stretch | null = null;
  search: Search | null = null;
  /** Slices of the selected section. */
  marked: Search | null = null;
  /** Shown when asked for. */
  idle: Idle | null = null;
  /** In CSS pixels. */
  width = 0;
  height = 0;
  /** Physical pixels of a CSS pixel. */
  density = 1;
  /** Height of what is scrolled out above. */
  scroll = 0;
  /** Where the pointer is; null when it is elsewhere. */
  cursor: { x: number; y: number } | null = null;
  /** The keyboard acts here. */
  hasFocus = false;
  /** Called after anything that is shown in the page around has changed. */
  onChange: () => void = () => {};
  readonly ctx: CanvasRenderingContext2D;
  palette = readPalette();
  /** Of each path the number of its colour. */
  readonly colours: Uint8Array;
  #idle: Idle | null = null;
  #frame = 0;

  constructor(canvas: HTMLCanvasElement, { slices, tracks }: TimelineData, wall: number) {
    this.canvas = canvas;
    this.ctx = canvas.getContext("2d", { alpha: false }) as CanvasRenderingContext2D;
    this.wall = wall;
    this.slices = slices;
    this.end = Math.max(slices.end_ns, 100);
    this.layout = new Layout(slices, tracks);
    this.minimap = new Minimap(slices);
    // What a GPU does for a section has the section's colour.
    this.colours = Uint8Array.from(slices.names, (name) => colourOfName(sectionOf(name)));
    this.resize();
    this.follow();
    const { from } = currentState();
    if (from === undefined && this.selected !== null) {
      this.reveal(this.selected);
    }
  }

  /** Does what the address says: `from` and `to`, `q` for the search, and the selection. */
  follow(): void {
    const state = currentState();
    const { q = "", row = "" } = state;
    [this.from, this.to] = windowOf(state, this.end).window;
    if ((this.search?.query ?? "") !== q) {
      this.search = q === "" ? null : Search.holding(this.slices, q);
    }
    const section = sectionNamed(state["section"]) ?? "";
    if ((this.marked?.query ?? "") !== section) {
      this.marked = section === "" ? null : new Search(this.slices, section, (name) => sectionOf(name) === section);
    }
    const range = rangeOf(state);
    this.range = range && { from: range[0], to: range[1] };
    const slice = row !== "" && Number(row) >= 0 && Number(row) < this.slices.n ? Number(row) : null;
    if (slice !== this.selected) {
      this.selected = slice;
      this.flows = slice === null ? [] : flowsOf(this.slices, slice);
      this.#revealRow();
    }
    this.changed();
  }

  /** The plot, in CSS pixels; labels are to its left. */
  get left(): number {
    return labelsWidth(this.width);
  }

  get right(): number {
    return Math.max(this.left + 1, this.width - SCROLLBAR);
  }

  /** CSS pixels of a nanosecond. */
  get scale(): number {
    return (this.right - this.left) / this.length;
  }

  /** Where a moment is in the plot. */
  x(t: number): number {
    return this.left + (t - this.from) * this.scale;
  }

  /** The moment at a place of the plot. */
  timeAt(x: number): number {
    return this.from + (x - this.left) / this.scale;
  }

  /** The nearest place between two physical pixels: edges there are sharp. */
  sharp(x: number): number {
    return Math.round(x * this.density) / this.density;
  }

  get length(): number {
    return this.to - this.from;
  }

  /** Height of all lines, what is above them included. */
  get fullHeight(): number {
    return HEAD + this.layout.height;
  }

  /** As large as its place. */
  resize(): void {
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    this.scrollTo(this.scroll);
  }

  /** Around a moment; around the middle without one. */
  zoom(factor: number, at?: number): void {
    zoomBy(factor, [this.from, this.to], this.end, at);
  }

  /** By a share of the window. */
  pan(share: number): void {
    pan(share, [this.from, this.to], this.end);
  }

  scrollTo(scroll: number): void {
    this.scroll = Math.min(Math.max(scroll, 0), Math.max(0, this.fullHeight - this.height));
    this.requestDraw();
  }

  scrollBy(pixels: number): void {
    this.scrollTo(this.scroll + pixels);
  }

  /** Folds or unfolds what is under a title. */
  toggle(key: string | undefined): void {
    this.layout.toggle(key);
    this.scrollTo(this.scroll);
    this.changed();
  }

  select(slice: number | null): void {
    selectSlice(this.slices, slice);
  }

  /** Selects a slice and moves until it can be seen. */
  reveal(slice: number): void {
    const [start, end] = [this.slices.start[slice]!, this.slices.end[slice]!];
    const length = end - start;
    const isSeen = start >= this.from && end <= this.to && length > this.length / 200;
    this.select(slice);
    this.#revealRow();
    if (!isSeen) {
      const around = Math.max(length * 2, this.length > length * 200 ? length * 10 : this.length / 2, 500);
      zoomTo((start + end) / 2 - around, (start + end) / 2 + around, this.end);
    }
  }

  #revealRow(): void {
    if (this.selected === null) {
      return;
    }
    const row = this.slices.rowOf(this.selected);
    this.layout.unfold(row.group);
    const line = this.layout.lineOf(row);
    const visible = this.height - HEAD;
    if (line && (line.y < this.scroll || line.y + line.height > this.scroll + visible)) {
      this.scrollTo(line.y - visible / 3);
    }
  }

  /** Shows the selected slice, or the range, as large as it goes. */
  zoomToSelected(): void {
    if (this.selected !== null) {
      const [start, end] = [this.slices.start[this.selected]!, this.slices.end[this.selected]!];
      const edge = Math.max((end - start) * 0.05, 50);
      zoomTo(start - edge, end + edge, this.end);
    } else if (this.range) {
      zoomTo(this.range.from, this.range.to, this.end);
    }
  }

  /** Chooses a stretch. */
  choose({ from, to }: Stretch): void {
    setState({ range: `${Math.round(from)}-${Math.round(to)}` });
  }

  /** What one can go through: what the search found, else the calls of the selected section. */
  get found(): Search | null {
    return this.search ?? this.marked;
  }

  /** The next that was found, from the selected one on, or from the window's beginning. */
  goToHit(direction: 1 | -1): void {
    const { found, selected } = this;
    const from = selected !== null && found?.isHit(selected) ? selected : null;
    const next = found?.next(from === null ? this.from : this.slices.start[from]!, from ?? -1, direction);
    if (next !== undefined) {
      this.reveal(next);
    }
  }

  /** Shows or hides time under no section. */
  toggleIdle(): void {
    this.#idle ??= new Idle(this.slices, this.wall);
    this.idle = this.idle ? null : this.#idle;
    this.changed();
  }

  /** Where in the timeline a place of the canvas is. */
  areaAt(x: number, y: number): "minimap" | "axis" | "labels" | "plot" | "scrollbar" {
    if (x >= this.width - SCROLLBAR) {
      return "scrollbar";
    }
    if (x < this.left) {
      return "labels";
    }
    return y < MINIMAP ? "minimap" : y < HEAD ? "axis" : "plot";
  }

  lineAt(y: number): Line | undefined {
    return y < HEAD ? undefined : this.layout.at(y - HEAD + this.scroll);
  }

  /** The moment at a place of the strip of the whole run. */
  minimapTime(x: number): number {
    return ((x - this.left) / (this.right - this.left)) * this.end;
  }

  /** The part of the window that so many pixels are. */
  share(pixels: number): number {
    return pixels / (this.right - this.left);
  }

  pointedAt(x: number, y: number): Pointed | null {
    const line = this.lineAt(y);
    if (!line || this.areaAt(x, y) !== "plot") {
      return null;
    }
    const t = this.timeAt(x);
    return {
      t,
      line,
      slice: line.kind === "row" ? this.#sliceNear(line, t) : null,
      track: line.kind === "track" ? line.track : null,
    };
  }

  /** The slice of a row at a moment, or the nearest within some pixels. */
  #sliceNear({ row }: Line & { kind: "row" }, t: number): number | null {
    const { start, end } = this.slices;
    const i = this.slices.firstFrom(row, t);
    if (i < row.last && start[i]! <= t) {
      return i;
    }
    const before = i > row.first ? t - end[i - 1]! : Number.POSITIVE_INFINITY;
    const after = i < row.last ? start[i]! - t : Number.POSITIVE_INFINITY;
    return Math.min(before, after) > this.share(NEAR) * this.length ? null : before < after ? i - 1 : i;
  }

  /** The moment that is pointed at; null when none is. */
  get cursorTime(): number | null {
    return this.cursor && this.cursor.x >= this.left && this.cursor.x <= this.right ? this.timeAt(this.cursor.x) : null;
  }

  changed(): void {
    this.requestDraw();
    this.onChange();
  }

  /** Draws before the browser shows its next picture. */
  requestDraw(): void {
    if (this.#frame === 0) {
      this.#frame = requestAnimationFrame(() => {
        this.#frame = 0;
        this.drawNow();
      });
    }
  }

  drawNow(): void {
    const { canvas, width, height } = this;
    const density = (this.density = devicePixelRatio || 1);
    const [w, h] = [Math.round(width * density), Math.round(height * density)];
    if (w <= 0 || h <= 0) {
      return;
    }
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
    }
    this.palette = readPalette();
    draw(this);
  }
}
