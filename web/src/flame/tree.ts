// Call paths as frames of a flame graph: left-heavy (all paths, the longest first), and the callers and callees of one name.
//
//     left-heavy          callers of c      callees of c
//     |a        ||c |     |a    ||b|        |c         |
//     |b    |c|           |c      |c|       |d   |e|
//     |c  |

import type { CallPath, DrawnStack } from "../../model/page";
import type { Box, Picture } from "./canvas";

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
};

/** Frames of a tree, parents before their children. */
export type Flame = { frames: Frame[]; width: number; depth: number };

/** Every call path as a frame. What ran beside its parent stands for itself, because it is no part of the parent's time. */
export function leftHeavy(tree: readonly CallPath[]): Flame {
  const frames = new Map<number, Frame>();
  const roots: Frame[] = [];
  for (const row of tree) {
    const parent = row.parent === null || row.is_detached ? undefined : frames.get(row.parent);
    const frame = newFrame([row], parent ?? null);
    frames.set(row.node, frame);
    (parent?.children ?? roots).push(frame);
  }
  return laidOut(roots);
}

/** What calls of this name spent their time in. Calls within calls of the same name are part of the outer ones. */
export function callees(tree: readonly CallPath[], name: string): Flame {
  const below = new Map<number, CallPath[]>();
  for (const row of tree) {
    if (row.parent !== null && !row.is_detached) {
      const list = below.get(row.parent);
      list ? list.push(row) : below.set(row.parent, [row]);
    }
  }
  const outer = outermost(tree, name);
  const root = newFrame(outer, null);
  const waiting = [root];
  for (let frame = waiting.pop(); frame; frame = waiting.pop()) {
    const byName = new Map<string, CallPath[]>();
    for (const child of frame.rows.flatMap((row) => below.get(row.node) ?? [])) {
      const list = byName.get(child.name);
      list ? list.push(child) : byName.set(child.name, [child]);
    }
    const parent = frame;
    frame.children = [...byName.values()].map((rows) => newFrame(rows, parent));
    waiting.push(...frame.children);
  }
  return laidOut(outer.length > 0 ? [root] : []);
}

/** Who called this name, with the time that they spent in it: depth 0 is the name itself. */
export function callers(tree: readonly CallPath[], name: string): Flame {
  const rows = new Map(tree.map((row) => [row.node, row]));
  const outer = outermost(tree, name);
  const root = newFrame(outer, null);
  for (const called of outer) {
    let frame = root;
    for (let row = rows.get(called.parent ?? -1); row; row = rows.get(row.parent ?? -1)) {
      const caller: CallPath = row;
      let next = frame.children.find((child) => child.name === caller.name);
      if (!next) {
        next = { ...newFrame([], frame), name: caller.name, kind: caller.kind, self: null };
        frame.children.push(next);
      }
      next.rows.push(caller);
      next.time += called.inclusive_ns;
      frame = next;
    }
  }
  return laidOut(outer.length > 0 ? [root] : []);
}

/** Stacks from the outermost frame inwards, each as wide as what was allocated there, in bytes. */
export function stacked(stacks: readonly DrawnStack[]): Flame {
  const roots: Frame[] = [];
  for (const { frames, bytes } of stacks) {
    let around: Frame | null = null;
    for (const name of frames) {
      const siblings: Frame[] = around ? around.children : roots;
      let frame: Frame | undefined = siblings.find((known) => known.name === name);
      if (!frame) {
        frame = { ...newFrame([], around), name };
        siblings.push(frame);
      }
      frame.time += bytes;
      around = frame;
    }
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

function newFrame(rows: CallPath[], parent: Frame | null): Frame {
  const self = rows.reduce<number | null>((sum, row) => (sum === null || row.self_ns === null ? null : sum + row.self_ns), 0);
  return {
    name: rows[0]?.name ?? "",
    kind: rows[0]?.kind ?? "section",
    rows,
    parent,
    children: [],
    depth: parent ? parent.depth + 1 : 0,
    from: 0,
    to: 0,
    time: rows.reduce((sum, row) => sum + row.inclusive_ns, 0),
    self,
  };
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
export function treePicture(flame: Flame, isUpward = false): Picture {
  const depthOf = (frame: Frame) => (isUpward ? flame.depth - 1 - frame.depth : frame.depth);
  const box = (frame: Frame): Box => ({ name: frame.name, from: frame.from, to: frame.to, depth: depthOf(frame), frame });
  const byDepth: Frame[][] = Array.from({ length: flame.depth }, () => []);
  for (const frame of flame.frames) {
    byDepth[depthOf(frame)]?.push(frame);
  }
  for (const row of byDepth) {
    row.sort((a, b) => a.from - b.from);
  }
  const maybe = (frame: Frame | undefined | null) => (frame ? box(frame) : null);
  return {
    width: flame.width,
    depth: flame.depth,
    draw(draw, from, to, _pixels, [first, last]) {
      for (let depth = first; depth <= last; depth += 1) {
        for (const frame of byDepth[depth] ?? []) {
          if (frame.to > from && frame.from < to) {
            draw.box(box(frame));
          }
        }
      }
    },
    at(x, depth, reach) {
      const row = byDepth[depth] ?? [];
      return maybe(row.find((frame) => frame.from <= x && x < frame.to) ?? row.find((frame) => frame.from - reach <= x && x < frame.to + reach));
    },
    beside({ frame }, [down, right]) {
      if (!frame) {
        return null;
      }
      const row = byDepth[depthOf(frame)] ?? [];
      const isToRoots = down === (isUpward ? 1 : -1);
      return maybe(right !== 0 ? row[row.indexOf(frame) + right] : isToRoots ? frame.parent : frame.children[0]);
    },
    first: () => maybe(flame.frames[0]),
  };
}
