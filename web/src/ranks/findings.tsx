// What is the matter with the job as a whole.

import { figure as figureText } from "../data/figure";
import { count } from "../data/quantity";
import type { Finding, Findings } from "../data/report";
import { Long, visible } from "../parts/name";
import { Severity } from "../parts/severity";

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
