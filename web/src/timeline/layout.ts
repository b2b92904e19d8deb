// What lies below what: titles of groups, rows of slices, tracks of readings. Only those in view are drawn.

import { inOrder, isCore, partOf, PARTS } from "../data/series";
import { firstWhere } from "../data/columns";
import type { Group, Row, Slices } from "../data/slices";
import type { Track } from "../data/timeline";
import { isCoarse, PRESSED } from "../parts/touch";

const TITLE = isCoarse ? PRESSED : 22;
const ROW = isCoarse ? PRESSED : 18;
const EVENTS = 16;
const TRACK = 44;
const SPACE = 4;
/** A section with more tracks is folded at first. */
const MANY_TRACKS = 12;
/** One of a part of the machine: what a whole machine may have is worth a look. */
const MANY_OF_PART = 30;
/** Cores say little one by one. */
const MANY_CORES = 2;
const CORES = "Cores";
const SAMPLERS = "Samplers";

/** `outer`: drawn in the title of what is folded. */
type Title = { kind: "group" | "tracks"; key: string; title: string; n: number; outer?: Row | undefined; isFolded: boolean };

type Under = { kind: "row"; row: Row } | { kind: "track"; track: Track };

export type Line = { y: number; height: number } & (Title | Under);

export class Layout {
  lines: Line[] = [];
  height = 0;
  readonly #parts: readonly { title: Title; under: readonly Under[] }[];

  constructor(slices: Slices, tracks: readonly Track[]) {
    const groups = slices.groups.map((group) => {
      const outer = group.rows.find(({ kind }) => kind !== "events");
      const title: Title = { kind: "group", key: keyOf(group), title: group.title, n: group.rows.length, outer, isFolded: false };
      return { title, under: group.rows.map((row): Under => ({ kind: "row", row })) };
    });
    const others = sections(tracks).map(([name, tracks]) => {
      const most = name === CORES ? MANY_CORES : PARTS.some((part) => part === name) ? MANY_OF_PART : MANY_TRACKS;
      const isFolded = name === SAMPLERS || tracks.length > most;
      const title: Title = { kind: "tracks", key: `tracks ${name}`, title: name, n: tracks.length, isFolded };
      return { title, under: tracks.map((track): Under => ({ kind: "track", track })) };
    });
    this.#parts = [...groups, ...others];
    this.#place();
  }

  /** Folds what is unfolded, and the other way round. */
  toggle(key: string | undefined): void {
    for (const { title } of this.#parts) {
      title.isFolded = title.key === key ? !title.isFolded : title.isFolded;
    }
    this.#place();
  }

  unfold(group: Group): void {
    if (this.#parts.some(({ title }) => title.key === keyOf(group) && title.isFolded)) {
      this.toggle(keyOf(group));
    }
  }

  /** The line at a height; undefined between lines and below the last. */
  at(y: number): Line | undefined {
    const line = this.lines[this.firstAt(y)];
    return line && line.y <= y ? line : undefined;
  }

  /** Number of the first line that ends below a height. */
  firstAt(y: number): number {
    return firstWhere(0, this.lines.length, (n) => this.lines[n]!.y + this.lines[n]!.height > y);
  }

  lineOf(row: Row): Line | undefined {
    return this.lines.find((line) => line.kind === "row" && line.row === row);
  }

  #place(): void {
    this.lines = [];
    let y = 0;
    const add = (height: number, line: Title | Under) => {
      this.lines.push({ ...line, y, height });
      y += height;
    };
    for (const { title, under } of this.#parts) {
      add(TITLE, title);
      for (const line of title.isFolded ? [] : under) {
        add(line.kind === "track" ? TRACK : line.row.kind === "events" ? EVENTS : ROW, line);
      }
      y += SPACE;
    }
    this.height = y;
  }
}

function keyOf(group: Group): string {
  return `group ${group.index}`;
}

/** Tracks by the part of the machine, in the order of the machine view; then the rest, samplers, and cores, because there are many. */
function sections(tracks: readonly Track[]): [string, Track[]][] {
  const found = new Map<string, Track[]>(PARTS.map((part) => [part, []]));
  const last = new Map<string, Track[]>([[SAMPLERS, []], [CORES, []]]);
  for (const track of inOrder(tracks)) {
    const title = sectionOf(track);
    const home = last.has(title) ? last : found;
    home.set(title, [...(home.get(title) ?? []), track]);
  }
  return [...found, ...last].filter(([, tracks]) => tracks.length > 0);
}

function sectionOf(track: Track): string {
  if (track.kind === "counter") {
    return "Counters";
  }
  if (isCore(track)) {
    return CORES;
  }
  const first = track.name.split(".")[0] ?? track.name;
  return partOf(track) ?? (first === "sampler" ? SAMPLERS : first);
}
