// Sessions: what a user calls one generation, each with what came of it.

import { bytes, duration, growth, moment, percent } from "../data/quantity";
import { leftOut } from "../data/cuts";
import type { Report, SessionFacts } from "../data/report";
import { TimeLink } from "../parts/link";
import { Name, cut, visible } from "../parts/name";
import { Severity } from "../parts/severity";
import { type Column, Table } from "../parts/table";
import { valueText } from "../parts/value";
import type { View } from "./view";

const ENDED = { done: "", failed: ", failed", cut_off: ", cut off" };

export const sessions: View = {
  id: "sessions",
  title: "Sessions",
  isShown: ({ report }) => report.sessions.length > 0,
  Body: ({ model, model: { report } }) => (
    <Table id="sessions" caption="Sessions" columns={columns(report)} rows={report.sessions} leftOut={leftOut(model, "sessions")} />
  ),
};

function columns(report: Report): Column<SessionFacts>[] {
  const isNested = report.sessions.some(({ parent }) => parent !== null);
  const isPartial = report.sessions.some(({ n_sections_missing }) => n_sections_missing > 0);
  const parent = ({ parent }: SessionFacts) => (parent === null ? null : (report.sessions[parent]?.name ?? null));
  return [
    {
      id: "session",
      title: "Session",
      value: ({ name }) => name,
      show: ({ name, start_ns, duration_ns }) => (
        <TimeLink from={start_ns} to={duration_ns === null ? report.run.wall_ns : start_ns + duration_ns}>
          <Name text={name} />
        </TimeLink>
      ),
    },
    ...(isNested ? [{ id: "within", title: "Within", value: parent }] : []),
    { id: "start_ns", title: "Start", isNumber: true, value: ({ start_ns }) => start_ns, show: ({ start_ns }) => moment(start_ns) },
    {
      id: "duration_ns",
      title: "Took",
      isNumber: true,
      value: ({ duration_ns }) => duration_ns,
      show: ({ duration_ns, outcome }) => (duration_ns === null ? "had not ended" : `${duration(duration_ns)}${ENDED[outcome]}`),
    },
    ...(report.sessions.some(({ used }) => used !== null) ? usedColumns() : []),
    {
      id: "tags",
      title: "Tags",
      value: tagText,
      show: (session) => cut(tagText(session), 160),
    },
    {
      id: "largest_stage",
      title: "Largest stage",
      value: ({ activity: { stages } }) => stages.each[stages.bottlenecks[0] ?? -1]?.name ?? null,
      show: ({ activity: { stages } }) => {
        const stage = stages.each[stages.bottlenecks[0] ?? -1];
        return stage ? (
          <>
            <Name text={stage.name} limit={36} /> <span class="muted">{percent(stage.under_no_other_stage_ratio)}</span>
          </>
        ) : (
          "-"
        );
      },
    },
    ...(isPartial
      ? [{ id: "sections_missing", title: "Not sorted in", hint: "Sections that may have been of this session", isNumber: true, value: (s: SessionFacts) => s.n_sections_missing }]
      : []),
    { id: "findings", title: "Findings", isNumber: true, value: ({ activity }) => activity.findings.found.length },
    {
      id: "worst_finding",
      title: "Most severe",
      value: ({ activity }) => activity.findings.found[0]?.issue ?? null,
      show: ({ activity }) => {
        const worst = activity.findings.found[0];
        return worst ? (
          <>
            <Severity grade={worst.severity} /> {visible(worst.issue)}
          </>
        ) : (
          "-"
        );
      },
    },
  ];
}

/** What the process used from a session's begin to its end. */
function usedColumns(): Column<SessionFacts>[] {
  const figure = (
    id: string,
    title: string,
    hint: string,
    value: (session: SessionFacts) => number | null,
    show: (value: number | null) => string,
  ): Column<SessionFacts> => ({ id, title, hint, isNumber: true, value, show: (session) => show(value(session)) });
  return [
    figure("cpu_ns", "CPU", "Processor time of the whole process meanwhile", ({ used }) => used?.process.cpu_ns ?? null, duration),
    figure("read_bytes", "Read", "Fetched from storage by the whole process meanwhile", ({ used }) => used?.process.read_bytes ?? null, bytes),
    figure("growth_bytes", "Memory grew", "Resident memory at its end less at its begin", ({ used }) => used?.growth_bytes ?? null, growth),
  ];
}

function tagText({ tags }: SessionFacts): string {
  return Object.entries(tags)
    .map(([name, value]) => `${name}: ${valueText(value)}`)
    .join(", ");
}
