// Delivery to a viewer: frames that arrived against frames that are played, and when the viewer stood still.

import { useMemo } from "preact/hooks";

import { count, duration, moment, number, percent, rate } from "../data/quantity";
import type { Delivery, Streaming } from "../data/report";
import { Chart } from "../parts/chart";
import { TimeLink } from "../parts/link";
import type { Band, Line } from "../parts/plot";
import { type Column, Table } from "../parts/table";
import { useWindow } from "../parts/window";
import { DurationsTable } from "./durations";
import { Facts } from "./facts";

type DeliveryProps = { delivery: Delivery; streaming: Streaming | null; wall: number; leftOut: number | undefined };

export function DeliveryPart({ delivery, streaming, wall, leftOut }: DeliveryProps) {
  const { window } = useWindow(wall);
  const lines = useMemo(() => linesOf(delivery, wall), [delivery, wall]);
  const stalls = useMemo(() => stallsOf(delivery), [delivery]);
  const rows = useMemo(() => [{ what: "between deliveries", durations: delivery.between }], [delivery]);
  const deadlines = delivery.deadlines_met + delivery.deadlines_missed;
  return (
    <section class="part">
      <h2>Streaming</h2>
      <Facts
        facts={[
          ["the viewer plays", rate(delivery.playback_per_second, "frames")],
          ["delivered", streaming && rate(streaming.frames_per_second, "frames")],
          ["real-time factor", delivery.real_time_factor === null ? null : `${delivery.real_time_factor.toFixed(2)} ×`],
          ["first frames after", duration(delivery.time_to_first_ns)],
          ["deadlines met", deadlines > 0 ? `${count(delivery.deadlines_met)} of ${count(deadlines)}` : null],
          ["stood still", duration(delivery.stalled_ns)],
          ["needed ahead", delivery.frames_ahead_needed > 0 ? `${count(delivery.frames_ahead_needed)} frames` : null],
          ["jitter", duration(delivery.jitter_ns)],
          ["dropped", streaming && streaming.dropped_frames > 0 ? `${count(streaming.dropped_frames)} frames (${percent(streaming.drop_ratio)})` : null],
          ["encoding", streaming && duration(streaming.encoding_mean_ns)],
          ["network", streaming && duration(streaming.latency_mean_ns)],
          ["viewer's buffer", streaming?.buffer ? `${number(streaming.buffer.min)} to ${number(streaming.buffer.max)}, mean ${number(streaming.buffer.mean)}` : null],
        ]}
      />
      <Chart
        title="Frames delivered and played"
        summary={`${stalls.length} times the viewer stood still, ${duration(delivery.stalled_ns)} in all`}
        lines={lines}
        show={(frames) => number(Math.round(frames))}
        window={window}
        wall={wall}
        sync="time"
        height={200}
        bands={stalls}
      >
        {stalls.length > 0 ? (
          <p class="chart-note">
            <span class="band-mark stalled" /> the viewer stands still
          </p>
        ) : null}
      </Chart>
      <DurationsTable id="delivery-durations" caption="Time between deliveries" rows={rows} />
      <Deliveries delivery={delivery} leftOut={leftOut} />
    </section>
  );
}

/** When the viewer had nothing to play: from the deadline that was missed to the delivery. */
export function stallsOf({ each }: Delivery): Band[] {
  return each.flatMap(({ at_ns: to, deadline_ns: from, stalled_ns: stalled }) =>
    stalled > 0 && from !== null ? [{ from, to, colour: "bad" as const, isStrong: true }] : [],
  );
}

/** Each session has a viewer of its own; the lines of all have the same looks. */
function linesOf({ each, playback_per_second: playback }: Delivery, wall: number): Line[] {
  const bySession = new Map<number | null, Point[]>();
  for (const delivery of each) {
    const { session } = delivery;
    bySession.set(session, bySession.get(session) ?? []);
    bySession.get(session)?.push(delivery);
  }
  return [...bySession.values()].flatMap((deliveries, at) => viewerLines(deliveries, playback, wall, at === 0));
}

function viewerLines(deliveries: readonly Point[], playback: number, wall: number, isFirst: boolean): Line[] {
  const first = deliveries[0]?.at_ns ?? 0;
  const [at, sum] = [[first], [0]];
  const played: [number, number][] = [[first, 0]];
  let frames = 0;
  for (const delivery of deliveries) {
    if (delivery.stalled_ns > 0 && delivery.deadline_ns !== null) {
      played.push([delivery.deadline_ns, frames], [delivery.at_ns, frames]);
    }
    frames += delivery.frames;
    at.push(delivery.at_ns);
    sum.push(frames);
  }
  // The viewer goes on to play what it has, until the run ends.
  const [from, before] = played.at(-1) as [number, number];
  const end = Math.max(from, Math.min(from + ((frames - before) / playback) * 1e9, wall));
  played.push([end, before + ((end - from) / 1e9) * playback]);
  at.push(Math.max(end, at.at(-1) as number));
  sum.push(frames);
  return [
    { label: isFirst ? "delivered" : "", colour: 0, style: "steps", at, values: sum },
    { label: isFirst ? "played" : "", colour: 1, at: played.map(([t]) => t), values: played.map(([, n]) => n) },
  ];
}

type Point = Delivery["each"][number];

const COLUMNS: readonly Column<Point>[] = [
  { id: "at_ns", title: "At", value: (row) => row.at_ns, show: (row) => <At {...row} />, isNumber: true },
  { id: "frames", title: "Frames", value: (row) => row.frames, isNumber: true },
  { id: "deadline_ns", title: "Deadline", value: (row) => row.deadline_ns, show: (row) => moment(row.deadline_ns), isNumber: true },
  {
    id: "outcome",
    title: "In time",
    value: (row) => outcome(row),
    show: (row) => <span class={outcome(row) === "late" ? "late" : undefined}>{outcome(row) ?? "-"}</span>,
  },
  { id: "stalled_ns", title: "Stood still", value: (row) => row.stalled_ns, show: (row) => (row.stalled_ns > 0 ? duration(row.stalled_ns) : "-"), isNumber: true },
];

function At({ at_ns: at, stalled_ns: stalled }: Point) {
  return (
    <TimeLink from={at - Math.max(stalled, 50e6)} to={at + 50e6}>
      {moment(at)}
    </TimeLink>
  );
}

function outcome({ deadline_ns: deadline, stalled_ns: stalled }: Point): string | null {
  return deadline === null ? null : stalled > 0 ? "late" : "in time";
}

function Deliveries({ delivery, leftOut }: { delivery: Delivery; leftOut: number | undefined }) {
  return <Table id="deliveries" caption="Deliveries" columns={COLUMNS} rows={delivery.each} leftOut={leftOut} />;
}
