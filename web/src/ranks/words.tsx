// What ranks are called, and what is said of them.

import { counted } from "../data/quantity";
import type { Job, Member, PlacedClock } from "../data/ranks";
import { statusText } from "../data/status";
import { Name, cut } from "../parts/name";

export const VERDICTS = {
  slow: { word: "slow", tone: "bad" },
  waits: { word: "waits for others", tone: "warn" },
  even: { word: "as the others", tone: "" },
  unknown: { word: "not known", tone: "" },
} as const;

/** `rank 3`; of a process without a rank `process 4711`. */
export function rankName(job: Job, place: number): string {
  const member = job.members[place];
  return member === undefined ? `place ${place}` : member.rank !== null ? `rank ${member.rank}` : processName(member);
}

/** The same in little room: `3`. */
export function rankLabel(job: Job, place: number): string {
  const member = job.members[place];
  return member?.rank != null ? String(member.rank) : member ? processName(member) : "?";
}

function processName({ pid }: Member): string {
  return pid > 0 ? `process ${pid}` : "no rank";
}

/** With its host: `rank 3 on studio-a`. Safe to show. */
export function rankOnHost(job: Job, place: number): string {
  const host = job.members[place]?.host;
  return `${rankName(job, place)}${host ? ` on ${cut(host, 40)}` : ""}`;
}

/** Ranks of which there are files, but none that could be read. */
export function unreadRanks(job: Job): number[] {
  return [...new Set(job.unread.flatMap(({ rank }) => (rank === null ? [] : [rank])))];
}

/** A host, or what else is short as a rule, on one line. */
export function Short({ text }: { text: string }) {
  return (
    <span class={text.length <= 24 ? "nowrap" : undefined}>
      <Name text={text} limit={40} />
    </span>
  );
}

/** `ranks 1, 2 and 5 to 8`. */
export function ranksList(ranks: readonly number[], most = 8): string {
  const runs: [number, number][] = [];
  for (const rank of ranks.toSorted((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && rank === last[1] + 1) {
      last[1] = rank;
    } else {
      runs.push([rank, rank]);
    }
  }
  const parts = runs.slice(0, most).map(([from, to]) => (from === to ? String(from) : to === from + 1 ? `${from}, ${to}` : `${from} to ${to}`));
  if (runs.length > most) {
    parts.push(`${ranks.length - runs.slice(0, most).reduce((n, [from, to]) => n + to - from + 1, 0)} more`);
  }
  const last = parts.pop() ?? "";
  return `${ranks.length === 1 ? "rank" : "ranks"} ${parts.length > 0 ? `${parts.join(", ")} and ${last}` : last}`;
}

/** The same of places; processes without a rank are counted. */
export function placesList(job: Job, places: readonly number[]): string {
  const ranks = places.map((place) => job.members[place]?.rank).filter((rank) => rank !== null && rank !== undefined);
  const others = places.length - ranks.length;
  return [ranks.length > 0 && ranksList(ranks), others > 0 && counted(others, "process without a rank", "processes without a rank")].filter(Boolean).join(" and ");
}

/** How a process ended: `finished`, `killed by SIGKILL (9)`. */
export function endedText({ ended }: Member): string {
  if (ended === "not_known") {
    return "not known";
  }
  if (ended === "without_closing") {
    return "gone without closing its capture";
  }
  if (typeof ended === "string") {
    return ended;
  }
  return "failed" in ended ? `failed: ${ended.failed || "no reason given"}` : statusText({ kind: "killed", signal: ended.killed, reason: null });
}

export const METHODS: Record<PlacedClock["method"], string> = {
  wall_clock: "its wall clock",
  same_clock: "the same clock",
  collectives: "shared collectives",
  start_marks: "start marks",
  not_known: "not known",
};
