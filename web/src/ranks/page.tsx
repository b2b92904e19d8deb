// The page of many ranks: the verdict, what is wrong with the files, what ranks did when, who is slow, and everything over ranks. One job at a time.

import { useMemo } from "preact/hooks";

import { count, counted, date, duration } from "../data/quantity";
import type { DrawnJob, Job, RanksModel } from "../data/ranks";
import { setState, useAddress } from "../data/state";
import { toggleTheme } from "../data/theme";
import { Choice } from "../parts/choice";
import { Name, cut, visible } from "../parts/name";
import { Communication } from "./communication";
import { JobFindings, SingleFindings } from "./findings";
import { HeatMaps } from "./heat_maps";
import { Members } from "./members";
import { Notes } from "./notes";
import { ResourcesPart } from "./resources";
import { inOrder, orderOf, orders } from "./order";
import { ScalingPart } from "./scaling";
import { SectionsPart } from "./sections";
import { StragglersPart } from "./stragglers";
import { Strips } from "./strips";
import { TurnsPart } from "./turns";
import { VerdictLine } from "./verdict";

export function RanksPage({ model, jobs }: { model: RanksModel; jobs: readonly DrawnJob[] }) {
  const { job: chosen, order: orderId } = useAddress();
  const drawn = jobs[chosen === undefined ? largest(jobs) : Number(chosen)] ?? jobs[0];
  const order = drawn ? orderOf(drawn.job, orderId) : "rank";
  const places = useMemo(() => (drawn ? inOrder(drawn.job, order) : []), [drawn, order]);
  return (
    <>
      <Header drawn={drawn} jobs={jobs} nLeftOut={model.n_jobs_left_out} />
      <main>
        {drawn ? <VerdictLine job={drawn.job} /> : <p class="note warn">No rank was read.</p>}
        <Notes model={model} drawn={drawn} />
        {drawn && (
          <>
            <JobFindings findings={drawn.job.findings} leftOut={drawn.left_out.findings} />
            {drawn.job.members.length > 1 && (
              <div class="controls">
                <span class="muted">Ranks</span>
                <Choice name="order" value={order} options={orders(drawn.job)} label="Order of ranks" />
              </div>
            )}
            <Strips drawn={drawn} places={places} />
            <HeatMaps drawn={drawn} places={places} />
            <StragglersPart job={drawn.job} />
            <Communication job={drawn.job} leftOut={drawn.left_out.collectives} />
          </>
        )}
        <ScalingPart scaling={model.scaling} />
        {drawn && (
          <>
            <TurnsPart job={drawn.job} />
            <SectionsPart job={drawn.job} leftOut={drawn.left_out.sections} />
            <ResourcesPart job={drawn.job} />
            <SingleFindings job={drawn.job} />
            <Members job={drawn.job} />
          </>
        )}
      </main>
    </>
  );
}

/** The job with the most ranks, the first of equals. */
function largest(jobs: readonly DrawnJob[]): number {
  const sizes = jobs.map(({ job }) => job.members.length);
  return sizes.indexOf(Math.max(...sizes));
}

type HeaderProps = { drawn: DrawnJob | undefined; jobs: readonly DrawnJob[]; nLeftOut: number };

function Header({ drawn, jobs, nLeftOut }: HeaderProps) {
  return (
    <header>
      <div class="headline">
        <span class="brand">Marey</span>
        <h1>{jobs.length > 1 ? "Ranks of" : drawn?.job.job_id ? <Name text={drawn.job.job_id} limit={60} /> : "Ranks"}</h1>
        {jobs.length > 1 && (
          <select aria-label="Job" value={String(drawn ? jobs.indexOf(drawn) : 0)} onChange={(event) => setState({ job: event.currentTarget.value, from: null, to: null })}>
            {jobs.map(({ job }, at) => (
              <option key={at} value={String(at)}>
                {jobTitle(job)}
              </option>
            ))}
          </select>
        )}
        {nLeftOut > 0 && <span class="muted">{counted(nLeftOut, "more job is", "more jobs are")} not in this page</span>}
      </div>
      {drawn && <JobFacts job={drawn.job} />}
      <button type="button" class="quiet theme" title="Light or dark" onClick={toggleTheme}>
        Theme
      </button>
    </header>
  );
}

function jobTitle(job: Job): string {
  return `${cut(job.job_id, 50) || "(no job id)"} · ${counted(job.world_size ?? job.members.length, "rank", "ranks")}`;
}

function JobFacts({ job }: { job: Job }) {
  const { clocks } = job;
  const started = clocks.start_unix_ns === null ? "-" : date(clocks.start_unix_ns);
  const hosts = job.hosts.filter(({ host }) => host !== "");
  const facts: [string, string][] = [
    ["ranks read", job.world_size === null ? count(job.members.length) : `${count(job.members.length)} of ${count(job.world_size)}`],
    ["hosts", hosts.length === 0 ? "-" : hosts.length <= 3 ? hosts.map(({ host }) => cut(host, 30)).join(", ") : count(hosts.length)],
    ["started", started],
    ["took", job.span_ns > 0 ? duration(job.span_ns) : "-"],
    // Of one machine all read the same clock; what that assumes is in the note.
    clocks.error_ns === 0 && job.members.length > 1
      ? ["clocks", "the same one"]
      : ["clocks agree within", job.members.length > 1 && clocks.error_ns !== null ? duration(clocks.error_ns) : "-"],
  ];
  return (
    <dl class="facts">
      {facts.map(
        ([what, value]) =>
          value !== "-" && (
            <div key={what}>
              <dt>{what}</dt>
              <dd>
                <bdi>{visible(value)}</bdi>
              </dd>
            </div>
          ),
      )}
    </dl>
  );
}
