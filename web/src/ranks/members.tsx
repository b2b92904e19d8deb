// The ranks: which process stands for each, how it ended, and where it lies on the common axis.

import { count, duration, moment } from "../data/quantity";
import type { Job, Member } from "../data/ranks";
import { Name, cut } from "../parts/name";
import { type Column, Table } from "../parts/table";
import { METHODS, Short, endedText, rankName } from "./words";

const SHOWN = 16;
const TONES = { whole: "", running: "warn", cut: "bad", damaged: "bad" } as const;

type Row = { member: Member; place: number };

export function Members({ job }: { job: Job }) {
  const rows = job.members.map((member, place): Row => ({ member, place }));
  return <Table id="ranks" caption="Ranks" columns={columns(job)} rows={rows} first={SHOWN} />;
}

function columns(job: Job): Column<Row>[] {
  const clock = ({ place }: Row) => job.clocks.each[place];
  const has = (is: (member: Member) => boolean) => job.members.some(is);
  return [
    { id: "rank", title: "Rank", value: ({ member, place }) => member.rank ?? rankName(job, place), show: ({ place }) => rankName(job, place) },
    { id: "host", title: "Host", value: ({ member }) => member.host, show: ({ member }) => <Short text={member.host} /> },
    { id: "local_rank", title: "Local", hint: "Its place among the ranks of its host", isNumber: true, value: ({ member }) => member.local_rank },
    { id: "pid", title: "Process", isNumber: true, value: ({ member }) => member.pid || null },
    {
      id: "ended",
      title: "Ended",
      value: ({ member }) => endedText(member),
      show: ({ member }) => <span class={member.state === "whole" ? "muted" : `pill ${TONES[member.state]}`}>{member.state === "damaged" ? "file is damaged" : cut(endedText(member), 80)}</span>,
    },
    { id: "wall_ns", title: "Took", isNumber: true, value: ({ member }) => member.wall_ns, show: ({ member }) => duration(member.wall_ns) },
    { id: "start_ns", title: "Began", hint: "On the common axis", isNumber: true, value: (row) => clock(row)?.start_ns ?? null, show: (row) => moment(clock(row)?.start_ns) },
    { id: "error_ns", title: "Within", hint: "The beginning is right within this much, either way", isNumber: true, value: (row) => clock(row)?.error_ns ?? null, show: (row) => (clock(row)?.error_ns == null ? "-" : `±${duration(clock(row)?.error_ns)}`) },
    { id: "method", title: "By", hint: "How its place on the axis is known", value: (row) => METHODS[clock(row)?.method ?? "not_known"], show: (row) => <Short text={METHODS[clock(row)?.method ?? "not_known"]} /> },
    ...(has(({ n_lost }) => n_lost > 0) ? [{ id: "n_lost", title: "Lost", hint: "Sections and notes that were not recorded", isNumber: true, value: ({ member }: Row) => member.n_lost, show: ({ member }: Row) => count(member.n_lost) }] : []),
    ...(has(({ n_others }) => n_others > 0) ? [{ id: "n_others", title: "Others", hint: "Other processes of this rank, in no figure", isNumber: true, value: ({ member }: Row) => member.n_others }] : []),
    { id: "source", title: "From", value: ({ member }) => member.source },
    { id: "file", title: "File", value: ({ member }) => member.file, show: ({ member }) => <Name text={member.file} limit={60} /> },
  ];
}
