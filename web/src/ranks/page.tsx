// What is drawn of a job of many ranks, between what is read of it. One job at a time.

import { useMemo } from "preact/hooks";

import type { Block } from "../../model/page";
import type { DrawnJob } from "../data/ranks";
import { setState, useAddress } from "../data/state";
import { Blocks } from "../parts/blocks";
import { Choice } from "../parts/choice";
import { FirstScreen } from "../parts/first_screen";
import { cut } from "../parts/name";
import { Page } from "../shell/page";
import { HeatMaps } from "./heat_maps";
import { Strips } from "./strips";

const BY_RANK = ["rank", "by number"] as const;
const BY_SCORE = ["score", "slowest first"] as const;
/** Of more ranks not all are in sight: then the slowest come first. */
const IN_SIGHT = 64;

type RanksPageProps = {
  jobs: readonly DrawnJob[];
  /** About all jobs. */
  blocks: readonly Block[];
  isPrinted: boolean;
};

export function RanksPage({ jobs, blocks, isPrinted }: RanksPageProps) {
  const { job: chosen } = useAddress();
  const sizes = jobs.map(({ job }) => job.ranks.length);
  // The largest, the first of equals.
  const drawn = jobs[chosen === undefined ? sizes.indexOf(Math.max(...sizes)) : Number(chosen)] ?? jobs[0];
  const isOne = jobs.length === 1;
  const tab = useMemo(() => ({ id: "ranks", title: "Ranks", Body: () => <>{drawn && <OfJob drawn={drawn} />}<Blocks blocks={blocks} /></> }), [drawn, blocks]);
  const choice = drawn && !isOne && <Jobs jobs={jobs} drawn={drawn} />;
  return <Page title={(isOne && drawn?.job.contents.title) || "Ranks"} choice={choice} tabs={[tab]} isPrinted={isPrinted} />;
}

function Jobs({ jobs, drawn }: { jobs: readonly DrawnJob[]; drawn: DrawnJob }) {
  return (
    <select aria-label="Job" value={String(jobs.indexOf(drawn))} onChange={(event) => setState({ job: event.currentTarget.value, from: null, to: null })}>
      {jobs.map(({ job }, at) => (
        <option key={at} value={String(at)}>
          {cut(job.contents.title, 60)}
        </option>
      ))}
    </select>
  );
}

/** One job: what is shown first, then what is drawn of its ranks, and its tables. */
export function OfJob({ drawn, drawn: { job } }: { drawn: DrawnJob }) {
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
