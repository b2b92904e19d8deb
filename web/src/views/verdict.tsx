// The overview: what the run comes to, in one sentence and a few figures.

import { bytes, count, counted, duration, percent } from "../data/quantity";
import { type Model, isOfTrace } from "../data/page";
import type { Findings, Report, SectionRow, Stage } from "../data/report";
import type { TraceDevice } from "../data/trace";
import { Bar } from "../parts/bar";
import { Cards } from "../parts/facts";
import { ViewLink } from "../parts/link";
import { Name, visible } from "../parts/name";
import { Quality } from "../parts/quality";
import { Scrolled } from "../parts/scrolled";
import { Severity } from "../parts/severity";
import { ValuesTable } from "../parts/values_table";
import { keyFigures } from "./key_figures";
import type { View } from "./view";

export const verdict: View = {
  id: "overview",
  title: "Overview",
  isShown: () => true,
  Body: ({ model }) => {
    const { report } = model;
    return (
      <>
        <Verdict model={model} />
        <Quality model={model} />
        <Cards facts={keyFigures(model)} />
        <Devices model={model} />
        <div class="columns">
          <TopStages report={report} title={isOfTrace(model) ? "Where the time of the host went" : "Where the time went"} />
          <TopFindings report={report} />
        </div>
      </>
    );
  },
};

/** How busy devices were, as traces say. */
function Devices({ model: { traces } }: { model: Model }) {
  const tables = traces.flatMap(({ tables }) => tables.filter(({ key }) => key === "devices"));
  return (
    <>
      {tables.map((table, at) => (
        <div key={at} class="devices-table">
          <ValuesTable table={table} id={`devices-${at}`} />
        </div>
      ))}
    </>
  );
}

function Verdict({ model }: { model: Model }) {
  const { findings } = model.report.activity;
  const devices = isOfTrace(model) ? model.traces.flatMap(({ devices }) => devices) : [];
  const leastBusy = [...devices].sort((a, b) => (a.busy_ratio ?? 1) - (b.busy_ratio ?? 1))[0];
  // What the host did says little where it waits for a device.
  return (
    <p class="verdict">
      {leastBusy ? <DeviceVerdict device={leastBusy} of={devices.length} /> : <HostVerdict report={model.report} />}
      <FindingsVerdict findings={findings} isOfDevice={leastBusy !== undefined} />
    </p>
  );
}

function DeviceVerdict({ device, of }: { device: TraceDevice; of: number }) {
  const { name, busy_ratio, span_ns, idle_cause, idle_cause_ratio } = device;
  const idle = percent(idle_cause_ratio);
  const causes = {
    launch_late: `of its idle time the host was late for ${idle}`,
    launched_before: `for ${idle} of its idle time work had been launched before and waited`,
    not_known: `why it was idle is not known for ${idle} of that time`,
  };
  return (
    <>
      <Name text={name} limit={48} />
      {of > 1 && `, the least busy of ${count(of)} devices,`} was busy {percent(busy_ratio)} of {duration(span_ns)}
      {idle_cause !== null && `; ${causes[idle_cause]}`}
    </>
  );
}

function HostVerdict({ report }: { report: Report }) {
  const { stages } = report.activity;
  const largest = stages.each[stages.bottlenecks[0] ?? -1] ?? mostOwn(stages.each);
  const open = longestOpen(report, largest);
  const inner = open && innermostOpen(report, open);
  return (
    <>
      {open ? (
        <>
          <Name text={open.name} limit={48} /> takes {percent(open.share_of_wall_ratio)} of {duration(stages.wall_ns)} and had not ended
          {inner?.open && (
            <>
              , in <Name text={inner.name} limit={48} /> for {duration(inner.open.so_far_ns)} so far
            </>
          )}
        </>
      ) : largest ? (
        <>
          <Name text={largest.name} limit={48} /> takes {percent(largest.under_no_other_stage_ratio ?? largest.share_ratio)} of{" "}
          {duration(stages.wall_ns)}
          {largest.under_no_other_stage_ratio !== null && " by itself"}
        </>
      ) : (
        <>The run took {duration(report.run.wall_ns)} and recorded no section</>
      )}
    </>
  );
}

function FindingsVerdict({ findings, isOfDevice }: { findings: Findings; isOfDevice: boolean }) {
  // The sentence begins with the bottleneck: a finding that says it again tells nothing new.
  const worst = findings.found.find(({ rule }) => isOfDevice || rule !== "stage-bottleneck");
  const all = counted(findings.found.length, "finding", "findings");
  const checks = findings.passed.length;
  return (
    <>
      {worst ? (
        <>
          ; {worst === findings.found[0] ? `the most severe of ${all}` : `one more of ${all}`}:{" "}
          <ViewLink view="findings">{visible(worst.issue)}</ViewLink>.
        </>
      ) : findings.found.length > 0 ? (
        <>
          ; <ViewLink view="findings">{all}</ViewLink>.
        </>
      ) : checks > 0 ? (
        <>; {counted(checks, "check", "checks")} found nothing the matter.</>
      ) : (
        "."
      )}
    </>
  );
}

/** The section at the top that took most and had not ended, if no stage took longer by itself. */
function longestOpen(report: Report, stage: Stage | undefined): SectionRow | undefined {
  const share = (row: SectionRow) => row.share_of_wall_ratio ?? 0;
  const open = report.sections.tree.filter(({ depth, open }) => depth === 0 && open !== null);
  const longest = open.sort((a, b) => share(b) - share(a))[0];
  return longest && share(longest) >= (stage?.under_no_other_stage_ratio ?? 0) ? longest : undefined;
}

/** Of the open sections under an open one, the innermost; of several the one that was open longest. */
function innermostOpen(report: Report, outer: SectionRow): SectionRow | undefined {
  const soFar = (row: SectionRow) => row.open?.so_far_ns ?? 0;
  const under = report.sections.tree.filter(({ parent, open }) => parent === outer.node && open !== null);
  const longest = under.sort((a, b) => soFar(b) - soFar(a))[0];
  return longest && (innermostOpen(report, longest) ?? longest);
}

function mostOwn(stages: readonly Stage[]): Stage | undefined {
  const own = (stage: Stage) => stage.under_no_other_stage_ratio ?? -1;
  return [...stages].sort((a, b) => own(b) - own(a))[0];
}

const STAGES = 10;

/** A line of the list; `openNs` is the time so far of what had not ended. */
type Listed = { name: string; share: number | null; own: number | null; openNs: number | null };

/** Stages of completed calls, and the open sections of every depth; each name once. */
function listed({ activity: { stages }, sections }: Report): Listed[] {
  const all = new Map<string, Listed>();
  for (const { name, share_ratio, under_no_other_stage_ratio } of stages.each.filter(({ calls }) => calls.count > 0)) {
    all.set(name, { name, share: share_ratio, own: under_no_other_stage_ratio, openNs: null });
  }
  for (const { name, open, self_ns, share_of_wall_ratio: share } of sections.tree) {
    if (open === null) {
      continue;
    }
    const known = all.get(name) ?? { name, share: null, own: null, openNs: null };
    const ofWall = self_ns === null || share === null || stages.wall_ns === 0 ? null : Math.min(share, self_ns / stages.wall_ns);
    all.set(name, {
      name,
      share: larger(known.share, share),
      own: larger(known.own, ofWall),
      openNs: larger(known.openNs, open.so_far_ns),
    });
  }
  // What had not ended stands where its whole time puts it: what was under it may never have been recorded.
  const weight = ({ own, share, openNs }: Listed) => (openNs === null ? own : share) ?? share ?? -1;
  return [...all.values()].sort((a, b) => weight(b) - weight(a));
}

function larger(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

function TopStages({ report, title }: { report: Report; title: string }) {
  const all = listed(report);
  if (all.length === 0) {
    return null;
  }
  const more = all.length - STAGES;
  return (
    <section>
      <h2>{title}</h2>
      <Scrolled label={title}>
        <table class="bars" aria-label={title}>
          <thead>
            <tr>
              <th scope="col">Stage</th>
              <th scope="col">
                <span class="legend">
                  <i class="swatch full" /> itself <i class="swatch" /> with what is under it
                </span>
              </th>
              <th scope="col" class="number">
                Itself
              </th>
              <th scope="col" class="number">
                Share
              </th>
            </tr>
          </thead>
          <tbody>
            {all.slice(0, STAGES).map(({ name, share, own, openNs }) => (
              <tr key={name}>
                <th scope="row">
                  <Name text={name} limit={36} />
                  {openNs !== null && <span class="card-note warn-text"> had not ended, {duration(openNs)} so far</span>}
                </th>
                <td class="wide">
                  <Bar ratio={share} inner={own} />
                </td>
                <td class="number">{percent(own)}</td>
                <td class="number">{percent(share)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolled>
      <p class="muted">
        Shares of the wall time, each moment counted once.{" "}
        {report.under_no_section_ratio !== null && `${percent(report.under_no_section_ratio)} is under no section. `}
        {(report.run.before_recording_ns ?? 0) >= NOTABLE_BEFORE_NS &&
          `Before the recording the process had taken ${duration(report.run.before_recording_ns)} to start and import. `}
        <ViewLink view="phases">{more > 0 ? `${counted(more, "more stage", "more stages")} in Phases` : "All in Phases"}</ViewLink>
      </p>
    </section>
  );
}

/** An interpreter starts within that. */
const NOTABLE_BEFORE_NS = 100_000_000;
const FINDINGS = 5;

function TopFindings({ report }: { report: Report }) {
  const { found, passed, unchecked } = report.activity.findings;
  if (found.length + passed.length + unchecked.length === 0) {
    return null;
  }
  return (
    <section>
      <h2>Findings</h2>
      <ol class="finding-list">
        {found.slice(0, FINDINGS).map((finding, at) => (
          <li key={at}>
            <Severity grade={finding.severity} />
            <span>
              <ViewLink view="findings" state={{ finding: String(at + 1) }}>
                {visible(finding.issue)}
              </ViewLink>
              {finding.saving && (finding.saving.at_most_ns !== null || finding.saving.at_most_bytes !== null) && (
                <span class="muted">
                  {" "}
                  saves at most{" "}
                  {finding.saving.at_most_ns !== null ? duration(finding.saving.at_most_ns) : bytes(finding.saving.at_most_bytes)}
                </span>
              )}
            </span>
          </li>
        ))}
      </ol>
      <p class="muted">
        {found.length === 0 && (passed.length > 0 ? "Nothing is the matter, as far as was checked. " : "Nothing could be checked. ")}
        <ViewLink view="findings">
          {found.length > FINDINGS && `${counted(found.length - FINDINGS, "more finding", "more findings")}, `}
          {counted(passed.length, "check", "checks")} passed, {unchecked.length} could not be made
        </ViewLink>
      </p>
    </section>
  );
}
