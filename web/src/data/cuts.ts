// What a page does not have of its run: long lists are cut, and short slices put together. Figures count all of them.

import type { Model } from "./page";

/** A list of the report by its keys; `*` stands for entries of lists. */
export type ShortList = { list: string; kept: number; left_out: number };

type Cut = {
  left_out?: ShortList[];
  timeline?: { summarised?: { n_slices: number; n_summaries: number; shorter_than_ns: number } | null };
};

export function shortLists(model: Model): readonly ShortList[] {
  return (model as Cut).left_out ?? [];
}

/** Entries of a list that the page does not have. */
export function leftOut(model: Model, list: string): number {
  return shortLists(model).find((short) => short.list === list)?.left_out ?? 0;
}

/** Slices that the timeline does not show one by one; null when it shows them all. */
export function summarised(model: Model) {
  return (model as Cut).timeline?.summarised ?? null;
}
