// What is the matter with the job as a whole.

import { figure as figureText } from "../data/figure";
import { count } from "../data/quantity";
import type { Job, RankFindings } from "../data/ranks";
import type { Finding, Findings } from "../data/report";
import { Long, Name, visible } from "../parts/name";
import { Severity } from "../parts/severity";
import { type Column, Table } from "../parts/table";
import { placesList } from "./words";

export function JobFindings({ findings: { found, passed, unchecked }, leftOut }: { findings: Findings; leftOut: number }) {
  if (found.length === 0) {
    return null;
  }
  const checks = [passed.length > 0 && `${count(passed.length)} checks passed`, unchecked.length > 0 && `${count(unchecked.length)} could not be made`, leftOut > 0 && `${count(leftOut)} more findings are not in this page`];
  return (
    <section class="part">
      <h2>
        Findings <span class="muted">{checks.filter(Boolean).join(", ")}</span>
      </h2>
      {found.map((finding, at) => (
        <Card key={at} finding={finding} />
      ))}
    </section>
  );
}

function Card({ finding: { severity, issue, remedy, rule, category, evidence } }: { finding: Finding }) {
  return (
    <article class="card finding">
      <div class="finding-head">
        <Severity grade={severity} />
        <h3>
          <Long text={issue} />
        </h3>
        <span class="muted">
          {rule} · {category}
        </span>
      </div>
      <p>
        <Long text={remedy} limit={500} />
      </p>
      <dl class="fact-list">
        {evidence.map(({ what, figure, limit }, at) => (
          <div key={at}>
            <dt>{visible(what)}</dt>
            <dd>
              <b>{figureText(figure.value, figure.unit)}</b>
              {limit !== null && <span class="muted"> limit {figureText(limit, figure.unit)}</span>}
            </dd>
          </div>
        ))}
      </dl>
    </article>
  );
}

const SHOWN = 8;

/** What is the matter with single ranks, by rule. */
export function SingleFindings({ job }: { job: Job }) {
  const columns: readonly Column<RankFindings>[] = [
    { id: "rule", title: "Finding", value: ({ rule }) => rule, show: ({ rule }) => <Name text={rule} limit={60} /> },
    { id: "severity", title: "Severity", value: ({ severity }) => severity, show: ({ severity }) => <Name text={severity} limit={20} /> },
    { id: "n_ranks", title: "Ranks", isNumber: true, value: ({ places }) => places.length, show: ({ places }) => count(places.length) },
    { id: "which", title: "Which", value: ({ places }) => places[0] ?? null, show: ({ places }) => placesList(job, places) },
    { id: "issue", title: "For example", value: ({ issue }) => issue, show: ({ issue }) => <Long text={issue} limit={200} /> },
  ];
  return job.rank_findings.length > 0 ? <Table id="rank_findings" caption="Findings of single ranks" columns={columns} rows={job.rank_findings} first={SHOWN} tools={<span class="muted">as reports of single ranks say it; captures and traces are not asked</span>} /> : null;
}
