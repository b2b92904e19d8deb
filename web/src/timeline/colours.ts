// Which colour a name has: those that take the most time have different ones. What a GPU does for a section has the section's.

import type { Slices } from "../data/slices";
import { EVENT, GPU, SESSION } from "../data/slices";
import { COLOURS } from "./palette";

/** Of each path the number of its colour. */
export function coloursOf(slices: Slices): Uint8Array {
  const busy = new Float64Array(slices.names.length);
  for (const row of slices.rows) {
    for (let i = row.first; i < row.last; i++) {
      busy[slices.path[i]!]! += slices.end[i]! - slices.start[i]!;
    }
  }
  const named = slices.names.map((name, path) => (slices.category(path) === GPU ? name.replace(/ \(GPU\)$/, "") : name));
  const byName = new Map<string, number>();
  named.forEach((name, path) => {
    const category = slices.category(path);
    if (category !== SESSION && category !== EVENT) {
      byName.set(name, (byName.get(name) ?? 0) + busy[path]!);
    }
  });
  const ranked = [...byName].sort((a, b) => b[1] - a[1]);
  const colours = new Map(ranked.map(([name], rank) => [name, rank % COLOURS]));
  return Uint8Array.from(named, (name) => colours.get(name) ?? 0);
}
