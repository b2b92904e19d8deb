// What led to a slice, and what it led to elsewhere: from a call to the work of a device that it launched, from a section to a task or thread
// that was begun in it.
//
//   main     |-------- serve --------|        |launch|
//                 ↓                                 ↘
//   task          |-- fetch --|           GPU        |- gemm -|

import { sectionOf } from "../data/selection";
import type { Row, Slices } from "../data/slices";

/** From one slice to another. */
export type Flow = readonly [from: number, to: number];

/** More of one slice are not drawn. */
const MOST = 200;

/** All of one slice, by time. */
export function flowsOf(slices: Slices, slice: number): Flow[] {
  const cause = causeOf(slices, slice);
  const from: Flow[] = cause === null ? [] : [[cause, slice]];
  return [...from, ...effectsOf(slices, slice).map((effect): Flow => [slice, effect])];
}

/** What nests in a row lies there. */
const isRightBelow = (row: Row, above: Row) => row.group === above.group && row.kind === above.kind && row.index === above.index + 1;

const ofThread = ({ group, kind }: Row) => group.kind === "thread" && kind !== "events";

/** What launched or began it; null where that is not known, or where it lies below that. */
function causeOf(slices: Slices, slice: number): number | null {
  const at = slices.launchedAt(slice);
  if (at !== null) {
    return launchAt(slices, at, sectionOf(slices.name(slice)));
  }
  const own = slices.rowOf(slice);
  const path = slices.path[slice]!;
  const parent = slices.parent(path);
  if (!ofThread(own) || parent === path || parent === 0) {
    return null;
  }
  const start = slices.start[slice]!;
  const around = slices.rows.filter(ofThread).map((row) => openAt(slices, row, start)).filter((found) => found !== null && slices.path[found] === parent);
  return around.some((found) => isRightBelow(own, slices.rowOf(found!))) ? null : (around[0] ?? null);
}

/** Of what the host began at a moment the section of this name, else the innermost. */
function launchAt(slices: Slices, at: number, name: string): number | null {
  const begun = slices.rows.filter(ofThread).flatMap((row) => {
    const found = openAt(slices, row, at + slices.unit_ns);
    return found !== null && Math.abs(slices.start[found]! - at) <= slices.unit_ns ? [found] : [];
  });
  return begun.find((found) => slices.name(found) === name) ?? begun.at(-1) ?? null;
}

/** The slice of a row that lasts at a moment. */
function openAt(slices: Slices, row: Row, at: number): number | null {
  const found = slices.firstFrom(row, at);
  return found < row.last && slices.start[found]! <= at ? found : null;
}

function effectsOf(slices: Slices, slice: number): number[] {
  const [start, end, path] = [slices.start[slice]!, slices.end[slice]!, slices.path[slice]!];
  const own = slices.rowOf(slice);
  const mayBe = (other: number) => {
    const at = slices.launchedAt(other);
    const isBegun = at === null && slices.parent(slices.path[other]!) === path && slices.start[other]! >= start && slices.start[other]! < end;
    return isBegun || (at !== null && Math.abs(at - start) <= slices.unit_ns);
  };
  const found: number[] = [];
  for (const row of ofThread(own) ? slices.rows.filter((row) => row !== own && !isRightBelow(row, own)) : []) {
    for (let other = row.first; other < row.last && found.length < MOST; other++) {
      if (mayBe(other) && causeOf(slices, other) === slice) {
        found.push(other);
      }
    }
  }
  return found;
}
