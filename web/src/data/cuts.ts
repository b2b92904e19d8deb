// What a page does not have of its run: long lists are cut, and short slices put together. Figures count all of them.

import type { Model } from "./page";

/** Entries of a list of the report, by its keys, that the page does not have. */
export function leftOut({ left_out }: Model, list: string): number {
  return left_out.find((short) => short.list === list)?.left_out ?? 0;
}
