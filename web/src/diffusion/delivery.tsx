// Delivery to a viewer: frames that arrived against frames that are played, and when the viewer stood still.

import { useMemo } from "preact/hooks";

import type { Delivery } from "../../model/page";
import { duration, number } from "../data/quantity";
import { Chart } from "../parts/chart";
import type { Band, Line } from "../parts/plot";
import { useWindow } from "../parts/window";

export function DeliveryChart({ delivery, wall }: { delivery: Delivery; wall: number }) {
  const { window } = useWindow(wall);
  const lines = useMemo(() => linesOf(delivery, wall), [delivery, wall]);
  const stalls = useMemo(() => stallsOf(delivery), [delivery]);
  return (
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
