// In which order ranks stand in strips and heat maps.

import type { Job } from "../data/ranks";

export type Order = "rank" | "score";

export const ORDERS: readonly (readonly [Order, string])[] = [
  ["rank", "by number"],
  ["score", "slowest first"],
];

export function orderOf(text: string | undefined): Order {
  return text === "score" ? "score" : "rank";
}

/** All places in the order; those without a score last. */
export function inOrder(job: Job, order: Order): number[] {
  const places = job.members.map((_, place) => place);
  if (order === "rank") {
    return places;
  }
  const scored = job.stragglers.ranks.map(({ place }) => place);
  const known = new Set(scored);
  return [...scored, ...places.filter((place) => !known.has(place))];
}
