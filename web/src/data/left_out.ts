// How much of a list is not in the page.

import type { Model } from "./page";

/** Entries of the list with this place in the report that were left out; undefined when it is whole. */
export function leftOut({ left_out: short }: Model, list: string): number | undefined {
  return short.find((one) => one.list === list)?.left_out;
}
