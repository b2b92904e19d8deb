// What is drawn of a job of many ranks, between what is read of it. One job at a time.

import { useMemo } from "preact/hooks";

import { cut } from "../parts/name";
import type { RanksModel } from "../data/page";
import type { DrawnJob } from "../data/ranks";
import { setState, useAddress } from "../data/state";
import { Blocks } from "../parts/blocks";
import { Choice } from "../parts/choice";
import { FirstScreen } from "../parts/first_screen";
import { Heading } from "../shell/header";
import { Tabbed } from "../shell/page";
import { HeatMaps } from "./heat_maps";
import { inOrder, orderOf, orders } from "./order";
import { Strips } from "./strips";

export function RanksPage({ model, jobs, isPrinted }: { model: RanksModel; jobs: readonly DrawnJob[]; isPrinted: boolean }) {
  const { job: chosen } = useAddress();
  const drawn = jobs[chosen === undefined ? largest(jobs) : Number(chosen)] ?? jobs[0];
  const title = jobs.length > 1 ? "Ranks" : (drawn?.job.contents.title ?? "Ranks");
  const header = (
    <Heading title={title}>
      {drawn && jobs.length > 1 && <Jobs jobs={jobs} drawn={drawn} />}
    </Heading>
  );
  const body = () => (
    <>
      {drawn && <OfJob drawn={drawn} />}
      <Blocks blocks={model.contents.tabs.flatMap(({ blocks }) => blocks)} />
    </>
  );
  return <Tabbed header={header} tabs={[{ id: "ranks", title: "Ranks", body }]} isPrinted={isPrinted} />;
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
  const order = orderOf(job, chosen);
  const places = useMemo(() => inOrder(job, order), [job, order]);
  const { screen, tabs } = job.contents;
  const blocksOf = (wanted: string) => tabs.find(({ id }) => id === wanted)?.blocks ?? [];
  return (
    <>
      {screen && <FirstScreen screen={screen} />}
      <Blocks blocks={blocksOf("job")} />
      {job.ranks.length > 1 && (
        <div class="controls">
          <span class="muted">Ranks</span>
          <Choice name="order" value={order} options={orders(job)} label="Order of ranks" />
        </div>
      )}
      <Strips drawn={drawn} places={places} />
      <HeatMaps drawn={drawn} places={places} />
      <Blocks blocks={blocksOf("tables")} />
    </>
  );
}

/** The job with the most ranks, the first of equals. */
function largest(jobs: readonly DrawnJob[]): number {
  const sizes = jobs.map(({ job }) => job.ranks.length);
  return sizes.indexOf(Math.max(...sizes));
}
