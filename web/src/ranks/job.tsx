// What is drawn of a job of many ranks, between what is read of it. One job at a time.

import { useMemo } from "preact/hooks";

import type { DrawnJob } from "../data/ranks";
import { setState, useAddress } from "../data/state";
import { Blocks } from "../parts/blocks";
import { Choice } from "../parts/controls";
import { FirstScreen } from "../parts/first_screen";
import { cut } from "../parts/name";
import { HeatMaps } from "./heat_maps";
import { Strips } from "./strips";

const BY_RANK = ["rank", "by number"] as const;
const BY_SCORE = ["score", "slowest first"] as const;
/** Of more ranks not all are in sight: then the slowest come first. */
const IN_SIGHT = 64;

/** The job of the address; otherwise the largest, the first of equals. */
export function useJob(jobs: readonly DrawnJob[]): DrawnJob | undefined {
  const { job: chosen } = useAddress();
  const sizes = jobs.map(({ job }) => job.ranks.length);
  const largest = sizes.indexOf(Math.max(...sizes));
  return jobs[chosen === undefined ? largest : Number(chosen)] ?? jobs[0];
}

export function JobChoice({ jobs }: { jobs: readonly DrawnJob[] }) {
  const drawn = useJob(jobs);
  return drawn ? (
    <select aria-label="Job" value={String(jobs.indexOf(drawn))} onChange={(event) => setState({ job: event.currentTarget.value, from: null, to: null })}>
      {jobs.map(({ job }, at) => (
        <option key={at} value={String(at)}>
          {cut(job.contents.title, 60)}
        </option>
      ))}
    </select>
  ) : null;
}

/** One job: what is shown first, then what is drawn of its ranks, and its tables. */
export function Job({ drawn }: { drawn: DrawnJob | undefined }) {
  return drawn ? <OfJob drawn={drawn} /> : null;
}

function OfJob({ drawn, drawn: { job } }: { drawn: DrawnJob }) {
  const { order: chosen } = useAddress();
  const orders = job.ranks.length > IN_SIGHT ? [BY_SCORE, BY_RANK] : [BY_RANK, BY_SCORE];
  const order = (orders.find(([id]) => id === chosen) ?? orders[0] ?? BY_RANK)[0];
  const places = useMemo(() => (order === "rank" ? job.ranks.map((_, place) => place) : job.by_score), [job, order]);
  const { screen, tabs } = job.contents;
  const blocksOf = (wanted: string) => tabs.find(({ id }) => id === wanted)?.blocks ?? [];
  return (
    <>
      {screen && <FirstScreen screen={screen} />}
      <Blocks blocks={blocksOf("job")} />
      {job.ranks.length > 1 && (
        <div class="controls">
          <span class="muted">Ranks</span>
          <Choice name="order" value={order} options={orders} label="Order of ranks" />
        </div>
      )}
      <Strips drawn={drawn} places={places} />
      <HeatMaps drawn={drawn} places={places} />
      <Blocks blocks={blocksOf("tables")} />
    </>
  );
}
