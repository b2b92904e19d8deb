// Everything that was compared, as a table.

import type { Measure } from "../data/comparison";
import { figure } from "../data/figure";
import { Table } from "../parts/table";
import type { Column } from "../parts/table";
import { BASES, SubjectName, VERDICTS, VerdictMark, change, subjectText } from "./words";

export function Measures({ measures, id, caption }: { measures: readonly Measure[]; id: string; caption: string }) {
  const columns: Column<Measure>[] = [
    { id: "of", title: "Of", value: ({ subject }) => subjectText(subject), show: ({ subject }) => <SubjectName subject={subject} /> },
    { id: "what", title: "What", value: ({ meaning }) => meaning },
    {
      id: "baseline",
      title: "Baseline",
      isNumber: true,
      value: ({ baseline }) => baseline?.value ?? null,
      show: ({ baseline, unit }) => figure(baseline?.value, unit),
    },
    {
      id: "candidate",
      title: "Candidate",
      isNumber: true,
      value: ({ candidate }) => candidate?.value ?? null,
      show: ({ candidate, unit }) => figure(candidate?.value, unit),
    },
    { id: "unit", title: "Unit", value: ({ unit }) => unit, isExportOnly: true },
    {
      id: "ratio",
      title: "Change",
      isNumber: true,
      value: ({ change }) => change?.ratio ?? null,
      show: (measure) => change(measure.change?.ratio ?? null),
    },
    {
      id: "interval",
      title: "95 % interval",
      isNumber: true,
      value: ({ change }) => change?.interval?.join(" to ") ?? null,
      show: ({ change: found }) => (found?.interval ? found.interval.map(change).join(" to ") : "-"),
    },
    {
      id: "verdict",
      title: "Verdict",
      value: ({ verdict }) => VERDICTS[verdict].word,
      show: ({ verdict }) => <VerdictMark verdict={verdict} />,
    },
    { id: "reason", title: "Why", value: ({ reason }) => reason },
    { id: "basis", title: "Judged by", value: ({ basis }) => BASES[basis], isExportOnly: true },
  ];
  return <Table id={id} caption={caption} columns={columns} rows={measures} />;
}
