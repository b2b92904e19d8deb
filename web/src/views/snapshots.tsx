// Memory snapshots: the allocator over time, and what its memory was for when there was most.

import { useMemo, useState } from "preact/hooks";

import type { DrawnSnapshot } from "../../model/page";
import { bytes, moment, percent } from "../data/quantity";
import { TreeFlame } from "../flame/canvas";
import { type Frame, stacked } from "../flame/tree";
import { Chart } from "../parts/chart";
import type { Band, Line } from "../parts/chart_drawing";
import { cut, Name } from "../parts/name";

type SnapshotsProps = { snapshots: readonly DrawnSnapshot[]; wall: number; bands: readonly Band[] };

export function Snapshots({ snapshots, wall, bands }: SnapshotsProps) {
  return (
    <>
      {snapshots.map((snapshot, at) => (
        <div key={at}>
          <Curve id={`snapshot-${at}`} snapshot={snapshot} wall={wall} bands={bands} />
          <Stacks snapshot={snapshot} />
        </div>
      ))}
    </>
  );
}

/** Where the memory was allocated: wide as its bytes, the outermost frame above. */
function Stacks({ snapshot: { device, peak, stacks } }: { snapshot: DrawnSnapshot }) {
  const flame = useMemo(() => stacked(stacks), [stacks]);
  const [focused, setFocused] = useState<Frame | null>(null);
  if (flame.width === 0) {
    return null;
  }
  const when = peak ? "at its peak" : "at the snapshot";
  const tip = ({ name, time }: Frame) => (
    <>
      <b>
        <Name text={name} />
      </b>
      <div>
        {bytes(time)} · {percent(time / flame.width)} of what is listed {when}
      </div>
    </>
  );
  return <TreeFlame label={`Memory of cuda:${device} ${when}, by stack`} flame={flame} focused={focused} onFocus={setFocused} tip={tip} mostHeight={300} />;
}

type CurveProps = { id: string; snapshot: DrawnSnapshot; wall: number; bands: readonly Band[] };

// A history that is not of the run has a time axis of its own: no zoom, cursor and bands of the run.
function Curve({ id, snapshot, wall, bands }: CurveProps) {
  const { is_of_run: isOfRun, peak } = snapshot;
  const points = snapshot.curve.filter((point) => point.at_ns !== null);
  if (points.length === 0) {
    return null;
  }
  const at = points.map((point) => point.at_ns ?? NaN);
  const first = at[0] ?? 0;
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
      window={[first, Math.max(first + 1, at.at(-1) ?? 0)]}
      wall={isOfRun ? wall : null}
      isTime
      sync={isOfRun ? "time" : id}
      height={180}
      bands={isOfRun ? bands : []}
      marks={peak && peak.at_ns !== null ? [{ at: peak.at_ns, label: `peak ${bytes(peak.allocated_bytes)} at ${moment(peak.at_ns)}`, colour: "bad" }] : []}
    />
  );
}
