// Each step and block over ranks, as tables.

import { count, duration } from "../data/quantity";
import type { Job, Turns, TurnSpread } from "../data/ranks";
import { type Column, Table } from "../parts/table";
import { spreadColumns } from "./spread";
import { rankName } from "./words";

const SHOWN = 16;

export function TurnsPart({ job }: { job: Job }) {
  return (
    <>
      {job.steps && <Of job={job} turns={job.steps} one="step" several="steps" />}
      {job.blocks && <Of job={job} turns={job.blocks} one="block" several="blocks" />}
    </>
  );
}

function Of({ job, turns, one, several }: { job: Job; turns: Turns; one: string; several: string }) {
  const columns: Column<TurnSpread>[] = [
    { id: "first", title: turns.per_cell > 1 ? `First ${one}` : one.replace(/^./, (c) => c.toUpperCase()), isNumber: true, value: ({ first }) => first, show: ({ first }) => count(first) },
    { id: "warm_up", title: "Kind", value: ({ is_warm_up }) => (is_warm_up ? "warm-up" : ""), show: ({ is_warm_up }) => <span class="nowrap">{is_warm_up ? "warm-up" : ""}</span> },
    { id: "ranks", title: "Ranks", isNumber: true, value: ({ durations }) => durations.n_ranks },
    ...spreadColumns<TurnSpread>(job, ({ durations }) => durations),
    ...(turns.each.some(({ own }) => own)
      ? [
          { id: "own_median_ns", title: "Without communication, median", hint: "Less all time in collectives", isNumber: true, value: ({ own }: TurnSpread) => own?.median_ns ?? null, show: ({ own }: TurnSpread) => duration(own?.median_ns) },
          { id: "own_max_ns", title: "Without communication, max", isNumber: true, value: ({ own }: TurnSpread) => own?.max_ns ?? null, show: ({ own }: TurnSpread) => duration(own?.max_ns) },
          {
            id: "own_slowest",
            title: "Slowest without communication",
            value: ({ own }: TurnSpread) => (own ? rankName(job, own.slowest) : null),
            show: ({ own }: TurnSpread) => (own && own.spread_ns > 0 ? rankName(job, own.slowest) : "-"),
          },
        ]
      : []),
  ];
  const note = turns.per_cell > 1 ? `each row is the mean of ${count(turns.per_cell)} ${several}` : "";
  return <Table id={several} caption={`${several.replace(/^./, (c) => c.toUpperCase())} over ranks`} columns={columns} rows={turns.each} first={SHOWN} tools={<span class="muted">{note}</span>} />;
}
