// Memory snapshots: the allocator over time, what was there at its peak, what did not fit, and what is held for nothing.

import { bytes, count, counted, moment, percent } from "../data/quantity";
import type { Report } from "../data/report";
import type { AliveInSection, AliveRow, DeviceMemory, Frame, GrowthPoint, OutOfMemory, PoolUse, SnapshotFile, Stack } from "../data/snapshot";
import { useAddress } from "../data/state";
import { Facts } from "../diffusion/facts";
import { Chart } from "../parts/chart";
import { cut, Name, Path } from "../parts/name";
import type { Band, Line } from "../parts/plot";
import { type Column, Table } from "../parts/table";
import { useWindow } from "../parts/window";

type SnapshotsProps = { report: Report; bands: readonly Band[] };

export function Snapshots({ report, bands }: SnapshotsProps) {
  return (
    <>
      {(report.snapshot_files ?? []).map((file, at) => (
        <section key={file.file} data-snapshot={at}>
          <h2>
            Memory snapshot <Name text={file.file} />
          </h2>
          <Snapshot report={report} file={file} id={`snapshot-${at}`} bands={bands} />
        </section>
      ))}
    </>
  );
}

function Snapshot({ report, file: { answers, problem }, id, bands }: SnapshotsProps & { file: SnapshotFile; id: string }) {
  if (answers === null) {
    return (
      <p>
        Not read: <Name text={problem ?? ""} limit={300} />
      </p>
    );
  }
  return (
    <>
      {answers.warnings.map(([what, times]) => (
        <p class="muted">
          Passed over: {count(times)} {what}.
        </p>
      ))}
      {answers.is_outside_of_run === true ? <p>Its times lie outside of this run: another process, or another recording. Sections are not known.</p> : null}
      {answers.devices.length === 0 ? <p>It is empty: no device had memory or a history.</p> : null}
      {answers.devices.map((device) => (
        <Device
          key={device.device}
          report={report}
          device={device}
          id={`${id}-${device.device}`}
          bands={bands}
          isOfRun={answers.time_origin === "run"}
        />
      ))}
    </>
  );
}

type DeviceProps = SnapshotsProps & { device: DeviceMemory; id: string; isOfRun: boolean };

function Device({ report, device, id, bands, isOfRun }: DeviceProps) {
  const { peak, end, alive, growth } = device;
  return (
    <>
      <h3 class="device">cuda:{device.device}</h3>
      <Facts
        facts={[
          ["most allocated", peak && bytes(peak.allocated_bytes)],
          ["at", peak && moment(peak.at_ns)],
          ["reserved then", peak && bytes(peak.reserved_bytes)],
          ["unused then", peak && percent(peak.fragmentation_ratio)],
          ["largest free piece then", peak && bytes(peak.largest_free_bytes)],
          ["most reserved", device.reserved_peak && bytes(device.reserved_peak.reserved_bytes)],
          ["allocated at the snapshot", bytes(end.allocated_bytes)],
          ["there before the history", alive.before_recording_bytes > 0 ? bytes(alive.before_recording_bytes) : null],
        ]}
      />
      {device.n_contradictions > 0 ? (
        <p>{counted(device.n_contradictions, "event contradicts", "events contradict")} the rest: levels before the snapshot are not exact.</p>
      ) : null}
      {device.out_of_memory.map((failed) => (
        <Failure failed={failed} />
      ))}
      <Curve report={report} device={device} id={id} bands={bands} isOfRun={isOfRun} />
      <Table id={`${id}-stacks`} caption={device.n_events > 0 ? "Allocated when it was most, by stack" : "Allocated, by stack"} columns={STACKS} rows={alive.by_stack} />
      {alive.other_stacks_bytes > 0 ? <p class="muted">and {bytes(alive.other_stacks_bytes)} of other stacks</p> : null}
      {alive.by_section ? <Table id={`${id}-sections`} caption="The same by section" columns={SECTIONS} rows={alive.by_section} /> : null}
      {growth ? <GrowthTable id={`${id}-growth`} {...growth} /> : null}
      <Table id={`${id}-pools`} caption="Held at the snapshot" columns={POOLS} rows={device.pools} />
    </>
  );
}

function GrowthTable({ id, of, points }: { id: string } & NonNullable<DeviceMemory["growth"]>) {
  const columns = of === "steps" ? GROWTH : GROWTH.map((column) => (column.id === "number" ? { ...column, title: "Snapshot" } : column));
  const hasLoops = points.some((point) => point.loop_number > 0);
  return <Table id={id} caption={of === "steps" ? "After each step" : "At each snapshot"} columns={hasLoops ? [LOOP, ...columns] : columns} rows={points} />;
}

const CAUSES: Record<OutOfMemory["cause"], string> = {
  fragmentation: "enough was free, in pieces that were too small",
  awaiting_free: "enough had been given back, but other streams still needed it",
  limit: "the device had enough: a limit of the process or the driver stood in the way",
  too_large: "it is more than what was left",
  unknown: "not known",
};

function Failure({ failed: { asked_bytes, at_ns, device_free_bytes, level, cause, stack, section } }: { failed: OutOfMemory }) {
  return (
    <article class="peak" data-out-of-memory>
      <h3>Out of memory</h3>
      <Facts
        facts={[
          ["asked for", bytes(asked_bytes)],
          ["at", moment(at_ns)],
          ["left on the device", device_free_bytes === null ? null : bytes(device_free_bytes)],
          ["free within what was held", bytes(level.free_bytes)],
          ["largest piece of it", bytes(level.largest_free_bytes)],
          ["why", CAUSES[cause]],
          ["during", section.length > 0 ? <Path names={section} /> : null],
        ]}
      />
      {stack ? <Place stack={stack} /> : null}
    </article>
  );
}

// A history that is not of the run has a time axis of its own: no zoom, cursor and bands of the run.
function Curve({ report, device, id, bands, isOfRun }: DeviceProps) {
  const wall = report.run.wall_ns;
  const { window } = useWindow(wall);
  const { zero } = useAddress();
  const points = device.curve.filter((point) => point.at_ns !== null);
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
  const { peak } = device;
  return (
    <Chart
      title={`Allocator of cuda:${device.device}`}
      summary={peak ? `At most ${bytes(peak.allocated_bytes)} allocated, of ${bytes(peak.reserved_bytes)} reserved` : "Allocated and reserved"}
      lines={lines}
      show={bytes}
      isSize
      window={isOfRun ? window : [0, Math.max(1, device.recorded_ns ?? 1)]}
      wall={isOfRun ? wall : null}
      sync={isOfRun ? "time" : id}
      height={180}
      bands={isOfRun ? bands : []}
      marks={peak && peak.at_ns !== null ? [{ at: peak.at_ns, label: `peak ${bytes(peak.allocated_bytes)} at ${moment(peak.at_ns)}`, colour: "bad" }] : []}
      isFromZero={zero !== "0"}
    />
  );
}

/** The frames to look at; the others unfold. */
function Place({ stack }: { stack: Stack }) {
  return (
    <details class="stack-of-frames">
      <summary>
        <Name text={stackText(stack)} limit={90} />
      </summary>
      <ol class="frames">
        {stack.frames.map((frame) => (
          <li>
            <Name text={`${frame.file}${frame.line === null ? "" : `:${frame.line}`} ${frame.name}`} limit={160} />
          </li>
        ))}
      </ol>
      {stack.n_left_out > 0 ? <p class="muted">and {count(stack.n_left_out)} further out</p> : null}
    </details>
  );
}

function frameText(frame: Frame | undefined): string {
  return frame ? `${cut(frame.file.split("/").at(-1) ?? "", 40)}${frame.line === null ? "" : `:${frame.line}`} ${frame.name}` : "-";
}

/** As in the text: `film.py:12 generate ← attention.py:115 forward`. */
function stackText({ frames, user_frame: user, caller_frame: caller }: Stack): string {
  const places = new Set([user ?? caller ?? 0, caller ?? user ?? 0]);
  return [...places].map((at) => frameText(frames[at])).join(" ← ");
}

function placeText({ stack, is_before_recording: isBefore }: AliveRow): string {
  const place = stack ? stackText(stack) : "no stack";
  return isBefore ? `before the history: ${place}` : place;
}

const STACKS: readonly Column<AliveRow>[] = [
  {
    id: "allocated_by",
    title: "Allocated by",
    hint: "A row is a stack: the innermost place in your own code ← the innermost one outside of torch",
    value: placeText,
    show: (row) => (row.stack && !row.is_before_recording ? <Place stack={row.stack} /> : <Name text={placeText(row)} limit={80} />),
  },
  { id: "bytes", title: "Bytes", value: (row) => row.bytes, show: (row) => bytes(row.bytes), isNumber: true },
  { id: "share", title: "Share", value: (row) => row.share, show: (row) => percent(row.share), isNumber: true },
  { id: "count", title: "Count", value: (row) => row.count, show: (row) => count(row.count), isNumber: true },
  { id: "largest_bytes", title: "Largest", value: (row) => row.largest_bytes, show: (row) => bytes(row.largest_bytes), isNumber: true },
];

const sectionText = (row: AliveInSection) =>
  row.is_before_recording ? "before the history" : row.path.length > 0 ? row.path.join(" / ") : "under no section";

const SECTIONS: readonly Column<AliveInSection>[] = [
  { id: "section", title: "Section", value: sectionText, show: (row) => (row.path.length > 0 ? <Path names={row.path} /> : sectionText(row)) },
  { id: "bytes", title: "Bytes", value: (row) => row.bytes, show: (row) => bytes(row.bytes), isNumber: true },
  { id: "share", title: "Share", value: (row) => row.share, show: (row) => percent(row.share), isNumber: true },
  { id: "count", title: "Count", value: (row) => row.count, show: (row) => count(row.count), isNumber: true },
];

const signed = (size: number | null) => (size !== null && size > 0 ? `+${bytes(size)}` : bytes(size));

const LOOP: Column<GrowthPoint> = { id: "loop", title: "Loop", value: (row) => row.loop_number, isNumber: true };

const GROWTH: readonly Column<GrowthPoint>[] = [
  { id: "number", title: "Step", value: (row) => row.number, isNumber: true },
  { id: "at_ns", title: "At", value: (row) => row.at_ns, show: (row) => moment(row.at_ns), isNumber: true },
  { id: "allocated_bytes", title: "Allocated", value: (row) => row.allocated_bytes, show: (row) => bytes(row.allocated_bytes), isNumber: true },
  { id: "growth_bytes", title: "Growth", value: (row) => row.growth_bytes, show: (row) => signed(row.growth_bytes), isNumber: true },
];

const poolText = ({ kind, pool, stream }: PoolUse) =>
  `${kind}${pool && (pool[0] !== 0 || pool[1] !== 0) ? ` pool ${pool[0]}.${pool[1]}` : ""}${stream ? ` stream ${stream}` : ""}`;

const POOLS: readonly Column<PoolUse>[] = [
  { id: "pool", title: "Pool", value: poolText },
  { id: "segments", title: "Segments", value: (row) => row.n_segments, isNumber: true },
  { id: "reserved_bytes", title: "Reserved", value: (row) => row.reserved_bytes, show: (row) => bytes(row.reserved_bytes), isNumber: true },
  { id: "allocated_bytes", title: "Allocated", value: (row) => row.allocated_bytes, show: (row) => bytes(row.allocated_bytes), isNumber: true },
  { id: "free_bytes", title: "Free", value: (row) => row.free_bytes, show: (row) => bytes(row.free_bytes), isNumber: true },
  { id: "pieces", title: "Pieces", hint: "Of what is free", value: (row) => row.n_free, isNumber: true },
  { id: "largest_free_bytes", title: "Largest piece", value: (row) => row.largest_free_bytes, show: (row) => bytes(row.largest_free_bytes), isNumber: true },
];
