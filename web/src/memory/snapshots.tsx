// Memory snapshots: the allocator over time.

import type { SnapshotCurve } from "../../model/page";
import { bytes, moment } from "../data/quantity";
import { useAddress } from "../data/state";
import { Chart } from "../parts/chart";
import { cut } from "../parts/name";
import type { Band, Line } from "../parts/plot";
import { useWindow } from "../parts/window";

type SnapshotCurvesProps = { snapshots: readonly SnapshotCurve[]; wall: number; bands: readonly Band[] };

export function SnapshotCurves({ snapshots, wall, bands }: SnapshotCurvesProps) {
  return (
    <>
      {snapshots.map((snapshot, at) => (
        <Curve key={at} id={`snapshot-${at}`} snapshot={snapshot} wall={wall} bands={bands} />
      ))}
    </>
  );
}

type CurveProps = { id: string; snapshot: SnapshotCurve; wall: number; bands: readonly Band[] };

// A history that is not of the run has a time axis of its own: no zoom, cursor and bands of the run.
function Curve({ id, snapshot, wall, bands }: CurveProps) {
  const { is_of_run: isOfRun, peak } = snapshot;
  const { window } = useWindow(wall);
  const { zero } = useAddress();
  const points = snapshot.curve.filter((point) => point.at_ns !== null);
  if (points.length === 0) {
    return null;
  }
  const at = points.map((point) => point.at_ns ?? NaN);
  const of = (figure: "allocated_min_bytes" | "allocated_max_bytes" | "reserved_max_bytes") => points.map((point) => point[figure]);
  const lines: Line[] = [
    {
      label: "allocated",
      colour: 0,
      at,
      values: of("allocated_max_bytes"),
      range: { low: of("allocated_min_bytes"), high: of("allocated_max_bytes") },
      style: "steps",
    },
    { label: "reserved", colour: 6, at, values: of("reserved_max_bytes"), style: "steps" },
  ];
  return (
    <Chart
      title={`Allocator of cuda:${snapshot.device}, ${cut(snapshot.file, 60)}`}
      summary={peak ? `At most ${bytes(peak.allocated_bytes)} allocated, of ${bytes(peak.reserved_bytes)} reserved` : "Allocated and reserved"}
      lines={lines}
      show={bytes}
      isSize
      window={isOfRun ? window : [0, Math.max(1, snapshot.recorded_ns ?? 1)]}
      wall={isOfRun ? wall : null}
      sync={isOfRun ? "time" : id}
      height={180}
      bands={isOfRun ? bands : []}
      marks={peak && peak.at_ns !== null ? [{ at: peak.at_ns, label: `peak ${bytes(peak.allocated_bytes)} at ${moment(peak.at_ns)}`, colour: "bad" }] : []}
      isFromZero={zero !== "0"}
    />
  );
}
