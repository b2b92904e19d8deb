// What ranks are called.

import type { JobPage } from "../../model/page";
import { cut } from "../parts/name";

/** With its host: `rank 3 on studio-a`. Safe to show. */
export function rankOnHost({ ranks }: JobPage, place: number): string {
  const rank = ranks[place];
  if (!rank) {
    return `place ${place}`;
  }
  const name = /^\d+$/.test(rank.label) ? `rank ${rank.label}` : rank.label;
  return `${name}${rank.host === "" ? "" : ` on ${cut(rank.host, 40)}`}`;
}
