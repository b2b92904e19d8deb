// What lies below what: titles of groups, rows of slices, tracks of readings. Only those in view are drawn.

import { inOrder, isCore, partOf, PARTS } from "../data/series";
import { firstWhere } from "../data/columns";
import type { Group, Row, Slices } from "../data/slices";
import type { Track } from "../data/tracks";

const TITLE = 22;
const ROW = 18;
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

export type Line = { y: number; height: number } & (
  | { kind: "group"; key: string; group: Group; isFolded: boolean }
  | { kind: "tracks"; key: string; title: string; n: number; isFolded: boolean }
  | { kind: "row"; row: Row }
  | { kind: "track"; track: Track }
);

export class Layout {
  lines: Line[] = [];
  height = 0;
  readonly #slices: Slices;
  readonly #sections: readonly [string, Track[]][];
  readonly #folded = new Set<string>();

  constructor(slices: Slices, tracks: readonly Track[]) {
    this.#slices = slices;
    this.#sections = sections(tracks);
    for (const [title, tracks] of this.#sections) {
      const most = title === CORES ? MANY_CORES : PARTS.some((part) => part === title) ? MANY_OF_PART : MANY_TRACKS;
      if (title === SAMPLERS || tracks.length > most) {
        this.#folded.add(`tracks ${title}`);
      }
    }
    this.#place();
  }

  /** Folds what is unfolded, and the other way round. */
  toggle(key: string): void {
    if (!this.#folded.delete(key)) {
      this.#folded.add(key);
    }
    this.#place();
  }

  unfold(group: Group): void {
    if (this.#folded.delete(keyOf(group))) {
      this.#place();
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
    const add = (height: number, line: DistributiveOmit<Line, "y" | "height">) => {
      this.lines.push({ ...line, y, height } as Line);
      y += height;
    };
    for (const group of this.#slices.groups) {
      const key = keyOf(group);
      const isFolded = this.#folded.has(key);
      add(TITLE, { kind: "group", key, group, isFolded });
      if (!isFolded) {
        for (const row of group.rows) {
          add(row.kind === "events" ? EVENTS : ROW, { kind: "row", row });
        }
      }
      y += SPACE;
    }
    for (const [title, tracks] of this.#sections) {
      const key = `tracks ${title}`;
      const isFolded = this.#folded.has(key);
      add(TITLE, { kind: "tracks", key, title, n: tracks.length, isFolded });
      if (!isFolded) {
        for (const track of tracks) {
          add(TRACK, { kind: "track", track });
        }
      }
      y += SPACE;
    }
    this.height = y;
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

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
