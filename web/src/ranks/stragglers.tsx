// Who is slow, and who only waits: each rank's own time against the median of all.

import { duration } from "../data/quantity";
import type { Job, Straggler } from "../data/ranks";
import { visible } from "../parts/name";
import { type Column, Table } from "../parts/table";
import { Key, Stacked } from "./stacked";
import { Short, VERDICTS, rankName } from "./words";

const SHOWN = 16;

export function StragglersPart({ job }: { job: Job }) {
  const { ranks, basis, is_waiting_known: isKnown } = job.stragglers;
  if (ranks.length < 2) {
    return (
      <section class="part">
        <h2>Slow ranks</h2>
        <p class="muted">{job.members.length < 2 ? "There is only one rank." : "Fewer than two ranks have a figure to compare."}</p>
      </section>
    );
  }
  return (
    <section class="part" data-part="stragglers">
      <Table id="stragglers" caption="Slow ranks" columns={columns(job)} rows={ranks} first={SHOWN} tools={<Key names={isKnown ? [OWN, WAITS] : [OWN]} />} />
      <p class="muted table-note">
        Compared: {visible(basis)} The score is the own time against the median of all ranks.
        {!isKnown && " Waiting is not known, so the own time may hold some."}
      </p>
    </section>
  );
}

const OWN = ["own time", "--c0"] as const;
const WAITS = ["waits for others", "--c1"] as const;

function columns(job: Job): Column<Straggler>[] {
  const caused = new Map((job.waiting?.ranks ?? []).map((rank) => [rank.place, rank]));
  const most = job.stragglers.ranks.reduce((most, { own_ns, waiting_ns }) => Math.max(most, own_ns + (waiting_ns ?? 0)), 0);
  return [
    { id: "rank", title: "Rank", value: ({ place }) => job.members[place]?.rank ?? rankName(job, place), show: ({ place }) => <span class="nowrap">{rankName(job, place)}</span> },
    { id: "host", title: "Host", value: ({ place }) => job.members[place]?.host ?? null, show: ({ place }) => <Short text={job.members[place]?.host ?? ""} /> },
    {
      id: "verdict",
      title: "Is",
      value: ({ verdict }) => VERDICTS[verdict].word,
      show: ({ verdict }) => <span class={VERDICTS[verdict].tone === "" ? "muted" : `pill ${VERDICTS[verdict].tone}`}>{VERDICTS[verdict].word}</span>,
    },
    { id: "score", title: "Score", hint: "Own time against the median of all ranks", isNumber: true, value: ({ score }) => score, show: ({ score }) => signed(score) },
    {
      id: "bar",
      title: "Own time and waiting",
      value: ({ own_ns, waiting_ns }) => own_ns + (waiting_ns ?? 0),
      show: ({ own_ns, waiting_ns }) => <Stacked most={most} pieces={[{ ns: own_ns, colour: OWN[1] }, { ns: waiting_ns ?? 0, colour: WAITS[1] }]} />,
    },
    { id: "own_ns", title: "Own time", isNumber: true, value: ({ own_ns }) => own_ns, show: ({ own_ns }) => duration(own_ns) },
    { id: "waiting_ns", title: "Waits", isNumber: true, value: ({ waiting_ns }) => waiting_ns, show: ({ waiting_ns }) => duration(waiting_ns) },
    ...(caused.size > 0
      ? [
          {
            id: "caused_ns",
            title: "Made others wait",
            hint: "What the others waited for it, on average over the others",
            isNumber: true,
            value: ({ place }: Straggler) => caused.get(place)?.caused_ns ?? null,
            show: ({ place }: Straggler) => duration(caused.get(place)?.caused_ns ?? null),
          },
        ]
      : []),
  ];
}

/** `+25.6 %`, `−1.2 %`. */
export function signed(ratio: number): string {
  return `${Math.abs(ratio) < 0.0005 ? "" : ratio > 0 ? "+" : "\u2212"}${(Math.abs(ratio) * 100).toFixed(1)} %`;
}
