// Call paths as frames of a flame graph: left-heavy (all paths, the longest first), and the callers and callees of one name.
//
//     left-heavy          callers of c      callees of c
//     |a        ||c |     |a    ||b|        |c         |
//     |b    |c|           |c      |c|       |d   |e|
//     |c  |

import type { CallPath, ComparedPath, DrawnStack } from "../../model/page";
import { Intervals, type Slices } from "../data/slices";
import type { Window } from "../data/state";
import type { Picture } from "./canvas";

/** One or several call paths, drawn as one box. Times are nanoseconds of all calls together. */
export type Frame = {
  name: string;
  kind: CallPath["kind"];
  /** What it stands for. */
  rows: CallPath[];
  parent: Frame | null;
  children: Frame[];
  depth: number;
  /** Left and right edge. */
  from: number;
  to: number;
  /** Time in it: in callers, the time that they spent in the chosen name; of stacks the bytes. */
  time: number;
  /** Time in it and in nothing below; null where it is not known. */
  self: number | null;
  /** Of a comparison: its place in the list, its time before, and its change as a part of the largest one, -1 to 1. */
  place?: number;
  before?: number;
  change?: number;
};

/** Frames of a tree, parents before their children. */
export type Flame = { frames: Frame[]; width: number; depth: number };

/** Every call path as a frame. What ran beside its parent stands for itself, because it is no part of the parent's time. */
export function leftHeavy(tree: readonly CallPath[]): Flame {
  const frames = new Map<number, Frame>();
  const roots: Frame[] = [];
  for (const row of tree) {
    const parent = row.is_detached ? undefined : frames.get(row.parent ?? -1);
    const frame = newFrame(row.name, parent, row.kind);
    frames.set(row.node, counted(frame, row));
    (parent?.children ?? roots).push(frame);
  }
  return laidOut(roots);
}

/** The same call paths with what they took in a range of time; those that have nothing there are left out. */
export function pathsWithin(slices: Slices, tree: readonly CallPath[], [from, to]: Window): CallPath[] {
  const [times, calls, below] = Array.from({ length: 3 }, () => new Float64Array(slices.names.length)) as [Float64Array, Float64Array, Float64Array];
  for (const row of slices.rows.filter(({ kind, group }) => group.kind === "thread" && kind !== "events")) {
    slices.within(row, from, to, (path, count, time) => {
      times[path]! += time;
      calls[path]! += count;
    });
  }
  for (const { node, parent, is_detached: isDetached } of tree) {
    below[parent ?? 0]! += isDetached ? 0 : times[node]!;
  }
  return tree.filter(({ node }) => calls[node]! > 0).map((row) => ({
    ...row,
    n_calls: Math.round(calls[row.node]!),
    n_open: 0,
    inclusive_ns: times[row.node]!,
    self_ns: row.self_ns === null ? null : Math.max(0, times[row.node]! - below[row.node]!),
    mean_ns: null,
    max_ns: null,
  }));
}

/** What calls of this name spent their time in. Calls within calls of the same name are part of the outer ones. */
export function callees(tree: readonly CallPath[], name: string): Flame {
  const outer = new Set(outermost(tree, name));
  const frames = new Map<number, Frame>();
  const roots: Frame[] = [];
  for (const row of tree) {
    const parent = row.is_detached ? undefined : frames.get(row.parent ?? -1);
    if (outer.has(row) || parent) {
      frames.set(row.node, counted(named(row.name, parent?.children ?? roots, parent, row.kind), row));
    }
  }
  return laidOut(roots);
}

/** Who called this name, with the time that they spent in it: depth 0 is the name itself. */
export function callers(tree: readonly CallPath[], name: string): Flame {
  const rows = new Map(tree.map((row) => [row.node, row]));
  const roots: Frame[] = [];
  for (const called of outermost(tree, name)) {
    let frame = counted(named(name, roots, undefined, called.kind), called);
    for (let row = rows.get(called.parent ?? -1); row; row = rows.get(row.parent ?? -1)) {
      frame = named(row.name, frame.children, frame, row.kind);
      frame.rows.push(row);
      frame.time += called.inclusive_ns;
      frame.self = null;
    }
  }
  return laidOut(roots);
}

/** Stacks from the outermost frame inwards, each as wide as what was allocated there, in bytes. */
export function stacked(stacks: readonly DrawnStack[]): Flame {
  const roots: Frame[] = [];
  for (const { frames, bytes } of stacks) {
    let around: Frame | undefined;
    for (const name of frames) {
      around = named(name, around?.children ?? roots, around);
      around.time += bytes;
    }
  }
  return laidOut(roots);
}

/** Call paths of a comparison, as wide as they are after it. */
export function compared(paths: readonly ComparedPath[]): Flame {
  const roots: Frame[] = [];
  const most = paths.reduce((most, { held_ns: [before, after] }) => Math.max(most, Math.abs(after - before)), 1);
  const frames: Frame[] = [];
  for (const [place, { name, parent, held_ns: [before, after] }] of paths.entries()) {
    const around = parent === null ? undefined : frames[parent];
    const frame = { ...newFrame(name, around), place, time: after, before, change: (after - before) / most };
    frames.push(frame);
    (around?.children ?? roots).push(frame);
  }
  return laidOut(roots);
}

export function outermost(tree: readonly CallPath[], name: string): CallPath[] {
  // Parents come before their children.
  const inside = new Set<number>();
  return tree.filter((row) => {
    const isWithin = row.parent !== null && inside.has(row.parent);
    if (isWithin || row.name === name) {
      inside.add(row.node);
    }
    return !isWithin && row.name === name;
  });
}

function newFrame(name: string, parent: Frame | null = null, kind: CallPath["kind"] = "section"): Frame {
  return { name, kind, rows: [], parent, children: [], depth: parent ? parent.depth + 1 : 0, from: 0, to: 0, time: 0, self: 0 };
}

/** The one of these with a name; a new one where there is none. */
function named(name: string, siblings: Frame[], parent: Frame | undefined, kind?: CallPath["kind"]): Frame {
  let frame = siblings.find((known) => known.name === name);
  if (!frame) {
    frame = newFrame(name, parent, kind);
    siblings.push(frame);
  }
  return frame;
}

/** The frame, with a call path in it. */
function counted(frame: Frame, row: CallPath): Frame {
  frame.rows.push(row);
  frame.time += row.inclusive_ns;
  frame.self = frame.self === null || row.self_ns === null ? null : frame.self + row.self_ns;
  return frame;
}

function laidOut(roots: Frame[]): Flame {
  const frames: Frame[] = [];
  const waiting = [...roots].reverse();
  for (let frame = waiting.pop(); frame; frame = waiting.pop()) {
    frames.push(frame);
    frame.children.sort((a, b) => b.time - a.time);
    waiting.push(...[...frame.children].reverse());
  }
  // A child that outlived its parent is longer than it: the parent is drawn as wide as what is below.
  const widths = new Map<Frame, number>();
  for (const frame of [...frames].reverse()) {
    widths.set(frame, Math.max(frame.time, frame.children.reduce((sum, child) => sum + (widths.get(child) ?? 0), 0)));
  }
  const place = (siblings: Frame[], begin: number) => {
    let left = begin;
    for (const frame of siblings) {
      frame.from = left;
      left = frame.to = left + (widths.get(frame) ?? 0);
    }
    return left;
  };
  roots.sort((a, b) => (widths.get(b) ?? 0) - (widths.get(a) ?? 0));
  const width = place(roots, 0);
  for (const frame of frames) {
    place(frame.children, frame.from);
  }
  return { frames, width, depth: frames.reduce((most, frame) => Math.max(most, frame.depth + 1), 0) };
}

/** Frames of a tree as a picture. `isUpward` has the roots at the bottom. */
export function treePicture({ frames, width, depth }: Flame, isUpward = false): Picture {
  const byDepth: Frame[][] = Array.from({ length: depth }, () => []);
  for (const frame of frames) {
    byDepth[isUpward ? depth - 1 - frame.depth : frame.depth]?.push(frame);
  }
  const ordered = byDepth.flatMap((row) => row.sort((a, b) => a.from - b.from));
  let last = 0;
  const rows = byDepth.map(({ length }) => ({ first: last, last: (last += length), busy: 0 }));
  const boxes = new Intervals(Float64Array.from(ordered, ({ from }) => from), Float64Array.from(ordered, ({ to }) => to));
  return { width, rows, boxes, nameOf: (at) => ordered[at]?.name ?? "", frames: ordered, isUpward };
}
