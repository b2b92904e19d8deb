// What a comparison says, in words.

import type { Measure, Subject, Verdict } from "../data/comparison";
import { Name, Path } from "../parts/name";

export const VERDICTS: Record<Verdict, { word: string; tone: string }> = {
  worse: { word: "worse", tone: "bad" },
  better: { word: "better", tone: "good" },
  different: { word: "different", tone: "warn" },
  cannot_tell: { word: "cannot tell", tone: "warn" },
  same: { word: "same", tone: "" },
  new: { word: "new", tone: "warn" },
  gone: { word: "gone", tone: "warn" },
  renamed: { word: "renamed", tone: "" },
};

export const BASES: Record<Measure["basis"], string> = {
  repeats: "repeats of each side",
  calls: "the calls within single runs",
  single_values: "one value on each side",
};

export function VerdictMark({ verdict }: { verdict: Verdict }) {
  const { word, tone } = VERDICTS[verdict];
  return <span class={`pill ${tone}`}>{word}</span>;
}

/** What a measure is of, as text for sorting, searching and exports. */
export function subjectText({ path, name }: Subject): string {
  const parts = [path?.join(" / "), name].filter((part) => part !== undefined && part !== null);
  return parts.join(", ") || "the run";
}

export function SubjectName({ subject }: { subject: Subject }) {
  const { path, name } = subject;
  if (path === null) {
    return <Name text={subjectText(subject)} limit={80} />;
  }
  return (
    <>
      <Path names={path} />
      {name !== null && `, ${name}`}
    </>
  );
}

/** A ratio as a change: `+5.0 %`, `−40.2 %`, `×9.51`. */
export function change(ratio: number | null): string {
  if (ratio === null) {
    return "-";
  }
  if (ratio >= 2) {
    return `×${ratio.toFixed(ratio < 10 ? 2 : 1)}`;
  }
  const percent = (ratio - 1) * 100;
  // What is rounded away has no sign.
  const sign = Math.abs(percent) < 0.05 ? "" : percent > 0 ? "+" : "\u2212";
  return `${sign}${Math.abs(percent).toFixed(1)} %`;
}
