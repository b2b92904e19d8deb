// In which order ranks stand in strips and heat maps.

import type { JobPage } from "../../model/page";

export type Order = "rank" | "score";

const BY_RANK = ["rank", "by number"] as const;
const BY_SCORE = ["score", "slowest first"] as const;
/** Of more ranks not all are in sight: then the slowest come first. */
const IN_SIGHT = 64;

/** What there is to choose from; what holds without a choice comes first. */
export function orders({ ranks }: JobPage): readonly (readonly [Order, string])[] {
  return ranks.length > IN_SIGHT ? [BY_SCORE, BY_RANK] : [BY_RANK, BY_SCORE];
}

export function orderOf(job: JobPage, chosen: string | undefined): Order {
  const options = orders(job);
  return (options.find(([id]) => id === chosen) ?? options[0] ?? BY_RANK)[0];
}

/** All places in the order. */
export function inOrder({ ranks, by_score }: JobPage, order: Order): readonly number[] {
  return order === "rank" ? ranks.map((_, place) => place) : by_score;
}
