// Findings: what is the matter, on what figures that rests, what could be done and what that could save.

import { useEffect, useRef } from "preact/hooks";

import { bytes, counted, duration, moment } from "../data/quantity";
import type { Finding, Grade, Report } from "../data/report";
import { placesOf } from "../data/places";
import { useAddress } from "../data/state";
import { figure as figureText } from "../data/figure";
import { TimeLink } from "../parts/link";
import { Path, visible } from "../parts/name";
import { Severity } from "../parts/severity";
import { Table } from "../parts/table";
import type { View } from "./view";

export const findings: View = {
  id: "findings",
  title: "Findings",
  isShown: ({ report: { activity } }) => Object.values(activity.findings).some((list) => list.length > 0),
  Body: ({ model: { report } }) => <Body report={report} />,
};

function Body({ report }: { report: Report }) {
  const { found, passed, unchecked } = report.activity.findings;
  const { finding } = useAddress();
  return (
    <>
      <h2>{found.length > 0
          ? counted(found.length, "finding", "findings")
          : passed.length > 0
            ? "Nothing is the matter, as far as was checked"
            : "Nothing could be checked"}</h2>
      {found.map((each, at) => (
        <Card key={at} finding={each} report={report} isChosen={finding === String(at + 1)} />
      ))}
      {passed.length > 0 && (
        <details>
          <summary>{counted(passed.length, "check", "checks")} passed</summary>
          <Table
            id="passed"
            caption="Checks that passed"
            rows={passed}
            columns={[
              { id: "rule", title: "Rule", value: ({ rule }) => rule },
              { id: "checks", title: "Whether", value: ({ checks }) => checks },
              { id: "what", title: "What was seen", value: ({ what }) => what },
            ]}
          />
        </details>
      )}
      {unchecked.length > 0 && (
        <details>
          <summary>{counted(unchecked.length, "check", "checks")} could not be made</summary>
          <Table
            id="unchecked"
            caption="Checks that could not be made"
            rows={unchecked}
            columns={[
              { id: "rule", title: "Rule", value: ({ rule }) => rule },
              { id: "checks", title: "Whether", value: ({ checks }) => checks },
              { id: "why", title: "What is not known", value: ({ why }) => why },
            ]}
          />
        </details>
      )}
    </>
  );
}

const SURE: Record<Grade, string> = {
  high: "measured",
  medium: "the figures point there; the cause was not measured itself",
  low: "other causes would look the same",
};

function Card({ finding, report, isChosen }: { finding: Finding; report: Report; isChosen: boolean }) {
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isChosen) {
      card.current?.scrollIntoView({ block: "center" });
    }
  }, [isChosen]);
  const path = placesOf(report).path(finding.node);
  return (
    <article class={isChosen ? "card finding chosen" : "card finding"} ref={card}>
      <div class="finding-head">
        <Severity grade={finding.severity} />
        <h3>{visible(finding.issue)}</h3>
        <span class="muted">
          {finding.rule} · {finding.category}
        </span>
      </div>
      <p>{visible(finding.remedy)}</p>
      <dl class="fact-list">
        {finding.evidence.map(({ what, figure, limit }, at) => (
          <div key={at}>
            <dt>{visible(what)}</dt>
            <dd>
              <b>{figureText(figure.value, figure.unit)}</b>
              {limit !== null && <span class="muted"> limit {figureText(limit, figure.unit)}</span>}
            </dd>
          </div>
        ))}
        <Saving finding={finding} />
        <div>
          <dt>confidence</dt>
          <dd>
            {finding.confidence} <span class="muted">{SURE[finding.confidence]}</span>
          </dd>
        </div>
        {path.length > 0 && (
          <div>
            <dt>section</dt>
            <dd>
              <SectionLink finding={finding} report={report} />
            </dd>
          </div>
        )}
        {finding.intervals.length > 0 && (
          <div>
            <dt>when</dt>
            <dd class="intervals">
              {finding.intervals.map(({ start_ns, end_ns }) => (
                <TimeLink key={start_ns} {...around(start_ns, end_ns, report.run.wall_ns)}>
                  {end_ns > start_ns ? `${moment(start_ns)} for ${duration(end_ns - start_ns)}` : moment(start_ns)}
                </TimeLink>
              ))}
            </dd>
          </div>
        )}
      </dl>
    </article>
  );
}

function SectionLink({ finding, report }: { finding: Finding; report: Report }) {
  const span = report.phases.each.find(({ node }) => node === finding.node)?.span;
  const path = <Path names={placesOf(report).path(finding.node)} />;
  return span ? (
    <TimeLink from={span.start_ns} to={span.end_ns}>
      {path}
    </TimeLink>
  ) : (
    path
  );
}

/** The interval with some time on either side, so that it is seen where it is. */
function around(start: number, end: number, wall: number): { from: number; to: number } {
  const margin = Math.max((end - start) / 4, wall / 200);
  return { from: Math.max(0, start - margin), to: Math.min(wall, end + margin) };
}

function Saving({ finding: { saving } }: { finding: Finding }) {
  if (!saving) {
    return null;
  }
  const { estimate_ns, at_most_ns, at_most_bytes, how } = saving;
  const parts = [
    estimate_ns !== null && `about ${duration(estimate_ns)}`,
    at_most_ns !== null && `at most ${duration(at_most_ns)}`,
    at_most_bytes !== null && `at most ${bytes(at_most_bytes)}`,
  ].filter(Boolean);
  return (
    <div>
      <dt>could save</dt>
      <dd>
        <b>{parts.join(", ")}</b> <span class="muted">{visible(how)}</span>
      </dd>
    </div>
  );
}
