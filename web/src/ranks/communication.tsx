// Communication: what moves data, and what is waiting for the last rank to come.

import { bytes, count, duration, percent } from "../data/quantity";
import type { CollectiveWaiting, Job, RankWaiting } from "../data/ranks";
import { Name } from "../parts/name";
import { type Column, Table } from "../parts/table";
import { Key, Stacked } from "./stacked";
import { placesList, rankName } from "./words";

const SHOWN = 16;
const TRANSFER = ["transfer", "--c2"] as const;
const WAITING = ["waiting", "--c1"] as const;

export function Communication({ job, leftOut }: { job: Job; leftOut: number }) {
  const { waiting } = job;
  if (!waiting || waiting.ranks.length === 0) {
    return (
      <section class="part">
        <h2>Communication</h2>
        <p class="muted">
          {job.members.length < 2 ? "There is only one rank, which waits for nobody." : "No two ranks recorded calls of the same collective, so transfer and waiting are not known."}
        </p>
      </section>
    );
  }
  return (
    <section class="part" data-part="communication">
      <Table id="waiting" caption="Communication of ranks" columns={rankColumns(job, waiting.ranks)} rows={waiting.ranks} first={SHOWN} tools={<Key names={[TRANSFER, WAITING]} />} />
      <Table id="collectives" caption="Collectives" columns={collectiveColumns(job)} rows={waiting.collectives} leftOut={leftOut} first={SHOWN} />
      {waiting.collectives.some(({ name }) => name.endsWith(" wait")) && <p class="muted">Times of “… wait” are those of waiting for the end of asynchronous calls.</p>}
      {waiting.collectives.some((row) => row.n_ranks > 1 && row.n_calls !== null && row.transfer_ns === null) && (
        <p class="muted">Messages between two ranks, and calls that nobody waited for, are not matched.</p>
      )}
      {waiting.collectives.some((row) => row.is_ambiguous) && (
        <p class="muted">Where several groups have one name, and neither their calls nor clocks tell which ranks are one, nothing is matched.</p>
      )}
    </section>
  );
}

function rankColumns(job: Job, ranks: readonly RankWaiting[]): Column<RankWaiting>[] {
  const most = ranks.reduce((most, { transfer_ns, waiting_ns }) => Math.max(most, transfer_ns + waiting_ns), 0);
  return [
    { id: "rank", title: "Rank", value: ({ place }) => job.members[place]?.rank ?? rankName(job, place), show: ({ place }) => rankName(job, place) },
    {
      id: "bar",
      title: "Transfer and waiting",
      value: ({ transfer_ns, waiting_ns }) => transfer_ns + waiting_ns,
      show: ({ transfer_ns, waiting_ns }) => <Stacked most={most} pieces={[{ ns: transfer_ns, colour: TRANSFER[1] }, { ns: waiting_ns, colour: WAITING[1] }]} />,
    },
    { id: "transfer_ns", title: "Transfer", hint: "What the fastest rank of each call took", isNumber: true, value: (row) => row.transfer_ns, show: (row) => duration(row.transfer_ns) },
    { id: "waiting_ns", title: "Waiting", isNumber: true, value: (row) => row.waiting_ns, show: (row) => duration(row.waiting_ns) },
    { id: "waiting_ratio", title: "Of both", hint: "Waiting as a share of transfer and waiting", isNumber: true, value: (row) => row.waiting_ratio, show: (row) => percent(row.waiting_ratio) },
    { id: "n_calls", title: "Calls", isNumber: true, value: (row) => row.n_calls, show: (row) => count(row.n_calls) },
    { id: "n_matched", title: "Matched", hint: "With calls of other ranks: the figures are of these", isNumber: true, value: (row) => row.n_matched, show: (row) => count(row.n_matched) },
    { id: "n_last", title: "Came last", hint: "Calls in which others waited for it", isNumber: true, value: (row) => row.n_last, show: (row) => count(row.n_last) },
    { id: "caused_ns", title: "Made others wait", hint: "What the others waited for it, on average over the others", isNumber: true, value: (row) => row.caused_ns, show: (row) => duration(row.caused_ns) },
  ];
}

function collectiveColumns(job: Job): readonly Column<CollectiveWaiting>[] {
  return [
    { id: "name", title: "Collective", value: ({ name }) => name, show: ({ name, is_start_up }) => <Name text={is_start_up ? `${name} (start-up)` : name} /> },
    { id: "group", title: "Group", value: ({ group }) => group, show: (row) => <Group job={job} row={row} /> },
    { id: "measured", title: "Measured", value: ({ is_device }) => (is_device ? "on devices" : "on the host") },
    { id: "n_ranks", title: "Ranks", isNumber: true, value: (row) => row.n_ranks, show: (row) => count(row.n_ranks) },
    { id: "n_calls", title: "Calls of each", hint: "Nothing where ranks differ: then no call is matched", isNumber: true, value: (row) => row.n_calls, show: (row) => count(row.n_calls) },
    { id: "transfer_ns", title: "Transfer", isNumber: true, value: (row) => row.transfer_ns, show: (row) => duration(row.transfer_ns) },
    { id: "waiting_ns", title: "Waiting, all ranks", isNumber: true, value: (row) => row.waiting_ns, show: (row) => duration(row.waiting_ns) },
    { id: "bytes", title: "Data, all ranks", isNumber: true, value: (row) => row.bytes, show: (row) => bytes(row.bytes) },
    { id: "n_failed", title: "Failed", hint: "Calls that were left by an error: they are in no other figure", isNumber: true, value: (row) => row.n_failed, show: (row) => count(row.n_failed) },
    {
      id: "failed_ns",
      title: "Failed after",
      hint: "What they took together",
      isNumber: true,
      value: (row) => (row.n_failed > 0 ? row.failed_ns : null),
      show: (row) => (row.n_failed > 0 ? duration(row.failed_ns) : "-"),
    },
  ];
}

/** Its name, with its ranks where several groups have that. */
function Group({ job, row: { group, places } }: { job: Job; row: CollectiveWaiting }) {
  if (group === null && places.length === 0) {
    return "-";
  }
  return (
    <>
      <Name text={group ?? "?"} limit={40} />
      {places.length > 0 && ` (${placesList(job, places)})`}
    </>
  );
}
