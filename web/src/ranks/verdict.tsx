// Who is slow, who waits and how much: the first sentence of the page.

import { counted, duration, percent } from "../data/quantity";
import type { Job, Straggler } from "../data/ranks";
import { rankName, rankOnHost, ranksList } from "./words";

/** Slow ranks that are named one by one. */
const NAMED = 3;

export function VerdictLine({ job }: { job: Job }) {
  return <p class="verdict">{verdict(job)}</p>;
}

export function verdict(job: Job): string {
  const { ranks, is_waiting_known: isKnown } = job.stragglers;
  if (job.members.length < 2) {
    return job.members.length === 1 ? "Only one rank was read, so there is none to compare it with." : "No rank was read.";
  }
  if (ranks.length < 2) {
    return "Which rank is slow is not known: fewer than two have a figure to compare.";
  }
  const slow = ranks.filter(({ verdict }) => verdict === "slow");
  const waits = ranks.filter(({ verdict }) => verdict === "waits");
  const sentences = [slow.length > 0 ? slowText(job, slow) : isKnown ? evenText(job, ranks) : longerText(job, ranks)];
  if (waits.length > 0) {
    const most = Math.max(...waits.map(({ waiting_ns, own_ns }) => (waiting_ns ?? 0) / Math.max(1, own_ns + (waiting_ns ?? 0))));
    sentences.push(`${waits.length === 1 ? `${capital(rankName(job, (waits[0] as Straggler).place))} waits` : `${counted(waits.length, "rank", "ranks")} wait`}${most > 0 ? `, up to ${percent(most)} of ${waits.length === 1 ? "its" : "their"} time` : ""}.`);
  }
  const total = waitingOfAll(job);
  if (total !== null) {
    sentences.push(`Of the time in collectives ${percent(total)} is waiting.`);
  }
  const caused = (job.waiting?.ranks ?? []).filter(({ place }) => slow.some((one) => one.place === place)).map(({ caused_ns }) => caused_ns);
  const gain = caused.reduce((all, one) => all + one, 0);
  if (gain > 0) {
    // Of ranks in groups that work side by side the longest counts, not the sum.
    sentences.push(slow.length === 1 ? `The job would gain about ${duration(gain)} if it came with the others.` : `The job would gain up to ${duration(gain)} if they came with the others.`);
  }
  if (!isKnown) {
    sentences.push("Waiting is not known, so a slow rank cannot be told from one that waits for others.");
  }
  return sentences.join(" ");
}

function slowText(job: Job, slow: readonly Straggler[]): string {
  const first = slow[0] as Straggler;
  const above = `${percent(first.score)} above the median (${duration(first.own_ns)} against ${duration(first.own_ns / (1 + first.score))})`;
  if (slow.length === 1) {
    return `${capital(rankOnHost(job, first.place))} is slow: its own time is ${above}.`;
  }
  const names = slow.length <= NAMED ? capital(ranksList(slow.map(({ place }) => job.members[place]?.rank ?? place))) : `${slow.length} ranks`;
  return `${names} are slow, most of all ${rankOnHost(job, first.place)}: its own time is ${above}.`;
}

function evenText(job: Job, ranks: readonly Straggler[]): string {
  const first = ranks[0] as Straggler;
  return first.score < 0.0005
    ? "No rank is slow: the own times of all are the same."
    : `No rank is slow: the longest own time, that of ${rankOnHost(job, first.place)}, is ${percent(first.score)} above the median.`;
}

/** Where waiting is not known, the longest may be slow or may wait. */
function longerText(job: Job, ranks: readonly Straggler[]): string {
  const first = ranks[0] as Straggler;
  return first.score < 0.0005 ? "All ranks took the same time." : `${capital(rankOnHost(job, first.place))} took longest: ${percent(first.score)} above the median.`;
}

/** Share of waiting in all matched collectives of all ranks. */
function waitingOfAll({ waiting }: Job): number | null {
  const sum = (of: "waiting_ns" | "transfer_ns") => (waiting?.ranks ?? []).reduce((all, rank) => all + rank[of], 0);
  const all = sum("waiting_ns") + sum("transfer_ns");
  return all > 0 ? sum("waiting_ns") / all : null;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
