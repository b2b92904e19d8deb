// The timeline: what is shown, what is selected, and the canvas on which it is drawn. The page around it is the view's.

import type { TimelineData } from "../data/timeline";
import type { Slices } from "../data/slices";
import type { Track } from "../data/tracks";
import { colourOfName, readPalette } from "../parts/palette";
import { Idle } from "./idle";
import { Layout, type Line } from "./layout";
import { MINIMAP, Minimap } from "./minimap";
import { cursorTime, draw, HEAD, labelsWidth, SCROLLBAR, type View } from "./picture";
import { FONT, type Scene, timeAt } from "./scene";
import { Search } from "./search";
import { TimeWindow } from "./time_window";

/** What is under the pointer. */
export type Pointed = { t: number; line: Line; slice: number | null; track: Track | null };

/** Of pixels: how far from a thin slice the pointer may be. */
const NEAR = 3;

export class Timeline {
  readonly slices: Slices;
  readonly time: TimeWindow;
  readonly canvas: HTMLCanvasElement;
  /** Called after anything that is shown in the page around has changed. */
  onChange: () => void = () => {};
  /** Called then, too: the address follows. */
  onMove: () => void = () => {};
  /** The stretch that was chosen to be summed up. */
  chosen: { from: number; to: number } | null = null;
  readonly #view: View;
  readonly #colours: Uint8Array;
  #search: Search | null = null;
  #idle: Idle | null = null;
  #scene: Scene | null = null;
  #frame = 0;

  /** Length of the run. */
  readonly wall: number;

  constructor(canvas: HTMLCanvasElement, { slices, tracks }: TimelineData, wall: number) {
    this.canvas = canvas;
    this.wall = wall;
    this.slices = slices;
    this.time = new TimeWindow(slices.end_ns);
    // What a GPU does for a section has the section's colour.
    this.#colours = Uint8Array.from(slices.names, (name) => colourOfName(name.replace(/ \(GPU\)$/, "")));
    this.#view = {
      layout: new Layout(slices, tracks),
      minimap: new Minimap(slices),
      width: 0,
      height: 0,
      scroll: 0,
      cursor: null,
      selected: null,
      range: null,
      idle: null,
      hasFocus: false,
    };
  }

  get selected(): number | null {
    return this.#view.selected;
  }

  get search(): Search | null {
    return this.#search;
  }

  get idle(): Idle | null {
    return this.#view.idle;
  }

  /** What lies below what; folded lines are not among them. */
  get lines(): readonly Line[] {
    return this.#view.layout.lines;
  }

  /** Height of all lines, what is above them included. */
  get fullHeight(): number {
    return HEAD + this.#view.layout.height;
  }

  /** In CSS pixels. */
  resize(width: number, height: number): void {
    this.#view.width = width;
    this.#view.height = height;
    this.scrollTo(this.#view.scroll);
  }

  show(from: number, to: number): void {
    this.time.show(from, to);
    this.changed();
  }

  showAll(): void {
    this.time.showAll();
    this.changed();
  }

  /** Around a moment; around the middle without one. */
  zoom(factor: number, at = (this.time.from + this.time.to) / 2): void {
    this.time.zoom(factor, at);
    this.changed();
  }

  /** By a share of the window. */
  pan(share: number): void {
    this.time.pan(share * this.time.length);
    this.changed();
  }

  /** Moves the window's middle to a moment of the strip. */
  centre(t: number): void {
    this.time.pan(t - (this.time.from + this.time.to) / 2);
    this.changed();
  }

  scrollTo(scroll: number): void {
    const most = Math.max(0, this.fullHeight - this.#view.height);
    this.#view.scroll = Math.min(Math.max(scroll, 0), most);
    this.requestDraw();
  }

  scrollBy(pixels: number): void {
    this.scrollTo(this.#view.scroll + pixels);
  }

  toggle(key: string): void {
    this.#view.layout.toggle(key);
    this.scrollTo(this.#view.scroll);
    this.changed();
  }

  select(slice: number | null): void {
    const is = slice !== null && slice >= 0 && slice < this.slices.n;
    this.#view.selected = is ? slice : null;
    this.changed();
  }

  /** Selects a slice and moves until it can be seen. */
  reveal(slice: number): void {
    if (!(slice >= 0 && slice < this.slices.n)) {
      return;
    }
    this.#revealRow(slice);
    const [start, end] = [this.slices.start[slice]!, this.slices.end[slice]!];
    const length = end - start;
    const isSeen = start >= this.time.from && end <= this.time.to && length > this.time.length / 200;
    if (!isSeen) {
      const around = Math.max(length * 2, this.time.length > length * 200 ? length * 10 : this.time.length / 2, 500);
      this.time.show((start + end) / 2 - around, (start + end) / 2 + around);
    }
    this.select(slice);
  }

  #revealRow(slice: number): void {
    const row = this.slices.rowOf(slice);
    this.#view.layout.unfold(row.group);
    const line = this.#view.layout.lineOf(row);
    if (line) {
      const visible = this.#view.height - HEAD;
      const { scroll } = this.#view;
      if (line.y < scroll || line.y + line.height > scroll + visible) {
        this.scrollTo(line.y - visible / 3);
      }
    }
  }

  /** Shows the selected slice, or the range, as large as it goes. */
  zoomToSelected(): void {
    const { selected, range } = this.#view;
    if (selected !== null) {
      const [start, end] = [this.slices.start[selected]!, this.slices.end[selected]!];
      const edge = Math.max((end - start) * 0.05, 50);
      this.show(start - edge, end + edge);
    } else if (range) {
      this.show(range.from, range.to);
    }
  }

  /** Chooses a stretch, or none. */
  choose(range: { from: number; to: number } | null): void {
    this.chosen = range;
    this.markRange(range);
    this.changed();
  }

  /** Marks a stretch while it is being chosen. */
  markRange(range: { from: number; to: number } | null): void {
    this.#view.range = range;
    this.requestDraw();
  }

  find(query: string): void {
    this.#search = query === "" ? null : new Search(this.slices, query);
    this.changed();
  }

  /** The next that the search found, from the selected one on, or from the window's beginning. */
  goToHit(direction: 1 | -1): void {
    const search = this.#search;
    if (!search || search.slices === 0) {
      return;
    }
    const { selected } = this.#view;
    const from = selected !== null && search.isHit(selected) ? selected : null;
    this.reveal(search.next(from === null ? this.time.from : this.slices.start[from]!, from ?? -1, direction));
  }

  /** Shows or hides time under no section. */
  toggleIdle(): void {
    if (this.#view.idle) {
      this.#view.idle = null;
    } else {
      this.#idle ??= new Idle(this.slices, this.wall);
      this.#view.idle = this.#idle;
    }
    this.changed();
  }

  point(cursor: { x: number; y: number } | null): void {
    this.#view.cursor = cursor;
    this.requestDraw();
  }

  setFocus(hasFocus: boolean): void {
    this.#view.hasFocus = hasFocus;
    this.requestDraw();
  }

  /** Where in the timeline a place of the canvas is. */
  areaAt(x: number, y: number): "minimap" | "axis" | "labels" | "plot" | "scrollbar" {
    if (x >= this.#view.width - SCROLLBAR) {
      return "scrollbar";
    }
    const isLeft = x < labelsWidth(this.#view.width);
    if (y < MINIMAP) {
      return isLeft ? "labels" : "minimap";
    }
    return isLeft ? "labels" : y < HEAD ? "axis" : "plot";
  }

  lineAt(y: number): Line | undefined {
    return y < HEAD ? undefined : this.#view.layout.at(y - HEAD + this.#view.scroll);
  }

  /** The moment at a place of the plot. */
  timeAt(x: number): number {
    return this.#scene ? timeAt(this.#scene, x) : 0;
  }

  /** The moment at a place of the strip of the whole run. */
  minimapTime(x: number): number {
    const left = labelsWidth(this.#view.width);
    return ((x - left) / Math.max(1, this.#view.width - left - SCROLLBAR)) * this.time.end;
  }

  /** Nanoseconds of so many pixels. */
  span(pixels: number): number {
    return this.#scene ? pixels / this.#scene.scale : 0;
  }

  pointedAt(x: number, y: number): Pointed | null {
    const line = this.lineAt(y);
    if (!line || !this.#scene || this.areaAt(x, y) !== "plot") {
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
    return Math.min(before, after) > this.span(NEAR) ? null : before < after ? i - 1 : i;
  }

  /** The moment that is pointed at; null when none is. */
  get cursorTime(): number | null {
    return this.#scene ? cursorTime(this.#scene, this.#view) : null;
  }

  changed(): void {
    this.requestDraw();
    this.onChange();
    this.onMove();
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

  /** Returns how many shapes were drawn. */
  drawNow(): number {
    const { canvas } = this;
    const { width, height } = this.#view;
    const density = devicePixelRatio || 1;
    const ctx = canvas.getContext("2d", { alpha: false });
    if (!ctx || width <= 0 || height <= 0) {
      return 0;
    }
    const [w, h] = [Math.round(width * density), Math.round(height * density)];
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
    }
    const left = labelsWidth(width);
    const right = Math.max(left + 1, width - SCROLLBAR);
    ctx.font = FONT;
    const scene: Scene = {
      ctx,
      palette: readPalette(),
      slices: this.slices,
      colours: this.#colours,
      time: this.time,
      left,
      right,
      scale: (right - left) / this.time.length,
      density,
      letter: ctx.measureText("M").width,
      search: this.#search,
      drawn: 0,
    };
    this.#scene = scene;
    draw(scene, this.#view);
    return scene.drawn;
  }
}
