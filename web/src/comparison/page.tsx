// The page of two runs: the verdict, what matters first, what differs around them, then everything that was compared.

import type { Comparison, Headline, Measure, Side } from "../data/comparison";
import type { ComparisonModel } from "../data/page";
import { figure } from "../data/figure";
import { count } from "../data/quantity";
import { toggleTheme } from "../data/theme";
import { Name, Path, visible } from "../parts/name";
import { Table } from "../parts/table";
import { Measures } from "./measures";
import { BASES, SubjectName, VERDICTS, VerdictMark, change } from "./words";

export function ComparisonPage({ model }: { model: ComparisonModel }) {
  const { comparison } = model;
  const { decided, measures } = comparison;
  const changed = byWeight(measures.filter(({ verdict }) => verdict !== "same" && verdict !== "cannot_tell"));
  const open = measures.filter(({ verdict }) => verdict === "cannot_tell");
  const same = measures.filter(({ verdict }) => verdict === "same");
  return (
    <>
      <header>
        <div class="headline">
          <span class="brand">Marey</span>
          <h1>Comparison</h1>
          <VerdictMark verdict={comparison.verdict} />
        </div>
        <dl class="facts">
          <SideFacts what="baseline" side={comparison.baseline} />
          <SideFacts what="candidate" side={comparison.candidate} />
        </dl>
        <button type="button" class="quiet theme" title="Light or dark" onClick={toggleTheme}>
          Theme
        </button>
      </header>
      <main>
        {comparison.obstacles.map(({ verdict, text }) => (
          <p key={text} class={`note ${VERDICTS[verdict].tone}`}>
            <strong>{visible(text)}</strong>
          </p>
        ))}
        <Verdicts comparison={comparison} />
        {comparison.notes.map((note) => (
          <p key={note} class="note">
            {visible(note)}
          </p>
        ))}
        <Environment comparison={comparison} />
        {changed.length > 0 && <Measures id="changed" caption="What changed" measures={changed} />}
        <Presence comparison={comparison} />
        {open.length > 0 && <Measures id="open" caption="What could not be told" measures={open} />}
        {same.length > 0 && <Measures id="same" caption="What stayed the same" measures={same} />}
        <h2>How this was decided</h2>
        <p>
          Chance was judged by {BASES[decided.basis]}
          {decided.tests > 0 && `; ${count(decided.tests)} tests, corrected for their number (Holm)`}.
        </p>
      </main>
    </>
  );
}

/** What changed most first: times by their share of the largest change of a time, others by their ratio. */
function byWeight(measures: Measure[]): Measure[] {
  const impact = ({ impact_s, baseline, candidate }: Measure) => Math.abs(impact_s ?? (baseline ?? candidate)?.value ?? 0);
  const most = measures.filter(({ unit }) => unit === "seconds").reduce((most, measure) => Math.max(most, impact(measure)), 1e-9);
  const weight = (measure: Measure) => {
    if (measure.unit === "seconds") {
      return impact(measure) / most;
    }
    const ratio = measure.change?.ratio ?? 1;
    return measure.unit === "count" ? 0 : Math.min(1, Math.abs(ratio - 1));
  };
  return measures.toSorted((a, b) => weight(b) - weight(a));
}

function SideFacts({ what, side }: { what: string; side: Side }) {
  const runs = `${count(side.n_runs)} ${side.n_runs === 1 ? "run" : "runs"}`;
  const unfinished = side.n_unfinished > 0 ? `, ${count(side.n_unfinished)} not finished` : "";
  const lossy = side.n_with_losses > 0 ? `, ${count(side.n_with_losses)} with losses` : "";
  return (
    <div>
      <dt>{what}</dt>
      <dd>
        {figure(side.wall_s, "seconds")} <span class="muted">({`${runs}${unfinished}${lossy}`})</span>
      </dd>
    </div>
  );
}

function Verdicts({ comparison }: { comparison: Comparison }) {
  if (comparison.headline.length === 0) {
    // What stands above it says more.
    if (comparison.obstacles.length > 0) {
      return null;
    }
    return <p class={`note ${VERDICTS[comparison.verdict].tone}`}>Nothing that matters changed.</p>;
  }
  return (
    <>
      {comparison.headline.map((line) => (
        <p key={line.measure} class={`note ${VERDICTS[line.verdict].tone}`}>
          <strong>
            <SubjectName subject={line.subject} />: {line.what}
          </strong>
          <Figures line={line} ratio={comparison.measures[line.measure]?.change?.ratio ?? null} />
        </p>
      ))}
    </>
  );
}

/** The figure that decided with its change, then those that explain. */
function Figures({ line, ratio }: { line: Headline; ratio: number | null }) {
  return (
    <>
      {line.figures.map(({ kind, subject, unit, baseline, candidate }, at) => (
        <span key={`${kind}${at}`}>
          {at === 0 ? " " : "; "}
          {at > 0 && <SubjectName subject={subject} />} {figure(baseline, unit)} → {figure(candidate, unit)}
          {at === 0 && ratio !== null && ` (${change(ratio)})`}
        </span>
      ))}
    </>
  );
}

function Environment({ comparison }: { comparison: Comparison }) {
  const unknown = comparison.unknown_environment;
  if (comparison.environment.length === 0 && unknown.length > 0) {
    return <p class="note warn">Nothing that is recorded differs around the program; not recorded on both sides: {unknown.join(", ")}.</p>;
  }
  if (comparison.environment.length === 0) {
    return <p class="note good">Command, configuration, machine and versions are the same on both sides.</p>;
  }
  const texts = (values: readonly string[]) => values.join(" · ");
  return (
    <Table
      id="environment"
      caption="What differs around the program"
      columns={[
        { id: "category", title: "Kind", value: ({ category }) => category },
        { id: "name", title: "Fact", value: ({ name }) => name, show: ({ name }) => <Name text={name} /> },
        { id: "baseline", title: "Baseline", value: ({ baseline }) => texts(baseline), show: ({ baseline }) => <Name text={texts(baseline)} limit={160} /> },
        { id: "candidate", title: "Candidate", value: ({ candidate }) => texts(candidate), show: ({ candidate }) => <Name text={texts(candidate)} limit={160} /> },
      ]}
      rows={comparison.environment}
    />
  );
}

/** Call paths that only one side has, or that have another name. */
function Presence({ comparison }: { comparison: Comparison }) {
  const rows = comparison.sections.filter(({ presence }) => presence !== "same");
  if (rows.length === 0) {
    return null;
  }
  return (
    <Table
      id="presence"
      caption="New, gone and renamed"
      columns={[
        { id: "path", title: "Section", value: ({ path }) => path.join(" / "), show: ({ path }) => <Path names={path} /> },
        { id: "presence", title: "Is", value: ({ presence }) => VERDICTS[presence].word, show: ({ presence }) => <VerdictMark verdict={presence} /> },
        {
          id: "candidate_path",
          title: "In the candidate",
          value: ({ candidate_path }) => candidate_path?.join(" / ") ?? null,
          show: ({ candidate_path }) => (candidate_path ? <Path names={candidate_path} /> : "-"),
        },
      ]}
      rows={rows}
    />
  );
}
