// Phases: when what went on, with preparation apart, and the figures of every call path.

import { count, duration, moment, percent } from "../data/quantity";
import { leftOut } from "../data/cuts";
import type { Model } from "../data/page";
import type { GpuTimes, Phase, Purpose, Report, SectionGpuTime, SectionRow } from "../data/report";
import { placesOf } from "../data/places";
import { useAddress } from "../data/state";
import { TimeAxis } from "../parts/axis";
import { TimeLink } from "../parts/link";
import { Name, Path } from "../parts/name";
import { Scrolled } from "../parts/scrolled";
import { type Column, Table } from "../parts/table";
import type { View } from "./view";

export const phases: View = {
  id: "phases",
  title: "Phases",
  isShown: ({ report }) => report.sections.tree.length > 0,
  Body: ({ model }) => (
    <>
      <Purposes report={model.report} />
      <Waterfall report={model.report} />
      <CallPaths model={model} />
    </>
  ),
};

const PURPOSES: Record<Purpose, { title: string; colour: string }> = {
  load: { title: "load", colour: "--c1" },
  compile: { title: "compile", colour: "--c3" },
  warm_up: { title: "warm-up", colour: "--c7" },
  work: { title: "work", colour: "--c0" },
};

/** Preparation and work as parts of the wall time. */
function Purposes({ report }: { report: Report }) {
  const parts = report.phases.purposes.filter(({ ratio }) => ratio !== null);
  if (parts.length === 0) {
    return null;
  }
  return (
    <section class="purposes">
      <h2>Preparation and work</h2>
      <div class="stack" aria-hidden="true">
        {parts.map(({ purpose, ratio }) => (
          <span key={purpose} style={{ width: `${(ratio ?? 0) * 100}%`, background: `var(${PURPOSES[purpose].colour})` }} />
        ))}
      </div>
      <ul class="legend">
        {report.phases.purposes.map(({ purpose, covered_ns, ratio }) => (
          <li key={purpose}>
            <Swatch purpose={purpose} /> {PURPOSES[purpose].title} <b>{duration(covered_ns)}</b>{" "}
            <span class="muted">{percent(ratio)}</span>
          </li>
        ))}
        {report.under_no_section_ratio !== null && (
          <li class="muted">
            <i class="swatch" /> under no section {percent(report.under_no_section_ratio)}
          </li>
        )}
      </ul>
    </section>
  );
}

function Swatch({ purpose }: { purpose: Purpose }) {
  return <i class="swatch" style={{ background: `var(${PURPOSES[purpose].colour})` }} />;
}

type Placed = { row: SectionRow; phase: Phase };

function placed(report: Report): Placed[] {
  const places = placesOf(report);
  return report.phases.each.flatMap((phase) => {
    const row = places.row(phase.node);
    return row ? [{ row, phase }] : [];
  });
}

const SHOWN = 60;

/** The two upper levels over time: those that took longest, parents before their children, by start. */
function inWaterfall(report: Report): { shown: Placed[]; more: number } {
  const start = ({ phase }: Placed) => phase.span?.start_ns ?? 0;
  const high = placed(report).filter(({ row, phase }) => row.depth <= 1 && phase.span !== null);
  const longest = [...high].sort((a, b) => a.row.depth - b.row.depth || b.row.inclusive_ns - a.row.inclusive_ns).slice(0, SHOWN);
  const byStart = longest.sort((a, b) => start(a) - start(b) || a.row.node - b.row.node);
  const shown = byStart
    .filter(({ row }) => row.depth === 0)
    .flatMap((top) => [top, ...byStart.filter(({ row }) => row.parent === top.row.node)]);
  return { shown, more: high.length - shown.length };
}

function Waterfall({ report }: { report: Report }) {
  const wall = report.run.wall_ns;
  const { shown, more } = inWaterfall(report);
  if (shown.length === 0 || wall === 0) {
    return null;
  }
  return (
    <section class="waterfall">
      <h2>When what went on</h2>
      <Scrolled label="Phases by their start">
        <table aria-label="Phases by their start">
          <thead>
            <tr>
              <th scope="col">Phase</th>
              <th scope="col" aria-label="Over time">
                <TimeAxis wall={wall} />
              </th>
              <th scope="col" class="number">
                Lasts
              </th>
              <th scope="col" class="number">
                Calls
              </th>
              <th scope="col" class="number">
                Busy
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((each) => (
              <WaterfallRow key={each.row.node} {...each} wall={wall} />
            ))}
          </tbody>
        </table>
      </Scrolled>
      <p class="muted">
        From the first start to the last end; the fuller the colour, the busier. The two upper levels are shown.
        {more > 0 && ` ${count(more)} shorter ones are only in the table.`}
      </p>
    </section>
  );
}

function WaterfallRow({ row, phase, wall }: Placed & { wall: number }) {
  const { start_ns, end_ns } = phase.span ?? { start_ns: 0, end_ns: 0 };
  const from = Math.min(1, start_ns / wall);
  const width = Math.min(1 - from, (end_ns - start_ns) / wall);
  const busy = phase.busy_ratio;
  const bar = {
    left: `${from * 100}%`,
    width: `${width * 100}%`,
    opacity: String(0.3 + 0.7 * (busy ?? 0)),
    background: `var(${PURPOSES[phase.purpose].colour})`,
  };
  return (
    <tr>
      <th scope="row" class={row.depth > 0 ? "under" : undefined}>
        <TimeLink from={start_ns} to={end_ns}>
          <Name text={row.name} limit={34} />
        </TimeLink>
      </th>
      <td class="track" title={`${moment(start_ns)} to ${moment(end_ns)}${phase.is_span_exact ? "" : ", or longer"}`}>
        <span class="span" style={bar} />
      </td>
      <td class="number">{duration(end_ns - start_ns)}</td>
      <td class="number">{count(row.calls.count)}</td>
      <td class="number">{percent(busy)}</td>
    </tr>
  );
}

/** The table: every call path. */
function CallPaths({ model }: { model: Model }) {
  const { report } = model;
  const places = placesOf(report);
  const rows = placed(report);
  const address = useAddress();
  // Where a row no longer stands under its parent, it says what that is.
  const isTree = !address["sort.phases"] && !address["find.phases"];
  const name = (row: SectionRow) => (isTree ? <Name text={row.name} /> : <Path names={places.path(row.node)} limit={36} />);
  const columns: Column<Placed>[] = [
    {
      id: "section",
      title: "Section",
      value: ({ row }) => places.path(row.node).join(" / "),
      show: ({ row, phase }) => (
        <span class="indented" style={isTree ? { paddingLeft: `${Math.min(row.depth, 12) * 14}px` } : {}}>
          {phase.span ? (
            <TimeLink from={phase.span.start_ns} to={phase.span.end_ns}>
              {name(row)}
            </TimeLink>
          ) : (
            name(row)
          )}
          {row.is_detached && <span class="muted" title="ran beside its parent"> ~</span>}
          {row.open && <span class="warn-text" title={`${count(row.open.count)} had not ended`}> *</span>}
        </span>
      ),
    },
    {
      id: "purpose",
      title: "For",
      hint: "By its name: load, compile, warm-up, or work",
      value: ({ phase }) => phase.purpose,
      show: ({ phase }) => (
        <span class="nowrap">
          <Swatch purpose={phase.purpose} /> <span class="muted">{PURPOSES[phase.purpose].title}</span>
        </span>
      ),
    },
    { id: "is_iteration", title: "Iteration", value: ({ row }) => row.kind === "iteration", isExportOnly: true },
    figure("count", "Count", "Completed calls", (p) => p.row.calls.count, count),
    figure("errors", "Failed", "Calls that were left by an error", (p) => p.row.calls.errors, (n) => (n ? count(n) : "")),
    figure("total_ns", "Total", "All calls, with what is under them, open ones included", (p) => p.row.inclusive_ns, duration),
    figure("self_ns", "Self", "Without what is under it", (p) => p.row.self_ns, duration),
    figure("share_ratio", "Share", "Part of the wall time during which one was open", (p) => p.row.share_of_wall_ratio, percent),
    figure("first_ns", "First", "The first call, which often loads and compiles", (p) => p.row.calls.first_ns, duration),
    figure("rest_mean_ns", "Rest mean", "All but the first", (p) => p.row.calls.rest_mean_ns, duration),
    figure("mean_ns", "Mean", "All calls", (p) => p.row.calls.mean_ns, duration),
    figure("min_ns", "Min", "Shortest", (p) => p.row.calls.min_ns, duration),
    figure("p50_ns", "p50", "Half took no longer", (p) => p.row.calls.percentiles?.p50_ns ?? null, duration),
    figure("p95_ns", "p95", "95 % took no longer", (p) => p.row.calls.percentiles?.p95_ns ?? null, duration),
    figure("max_ns", "Max", "Longest", (p) => p.row.calls.max_ns, duration),
    figure("busy_ratio", "Busy", "Part of the time from first start to last end", (p) => p.phase.busy_ratio, percent),
    { id: "start_ns", title: "Start", value: ({ phase }) => phase.span?.start_ns ?? null, isExportOnly: true },
    { id: "end_ns", title: "End", value: ({ phase }) => phase.span?.end_ns ?? null, isExportOnly: true },
  ];
  if (report.gpu_times) {
    columns.splice(6, 0, ...gpuColumns(report.gpu_times));
  }
  const hasErrors = rows.some(({ row }) => row.calls.errors > 0);
  return (
    <>
    <Table
      id="phases"
      caption="Every call path"
      columns={hasErrors ? columns : columns.map((column) => (column.id === "errors" ? { ...column, isExportOnly: true } : column))}
      rows={rows}
      leftOut={leftOut(model, "sections.tree")}
    />
    {report.gpu_times && <GpuNote gpu={report.gpu_times} />}
    </>
  );
}

/** What the GPU did for each call path, between events at both ends of its calls. */
function gpuColumns({ sections }: GpuTimes): Column<Placed>[] {
  const byNode = new Map(sections.map((row) => [row.node, row]));
  const of = (value: (row: SectionGpuTime) => number | null) => (placed: Placed) => {
    const row = byNode.get(placed.row.node);
    return row ? value(row) : null;
  };
  return [
    figure("gpu_total_ns", "GPU", "On the GPU, from the first to the last event of each call: all calls", of((row) => row.gpu.total_ns), duration),
    figure("gpu_mean_ns", "GPU mean", "On the GPU: one call", of((row) => row.gpu.mean_ns), duration),
    figure("gpu_p95_ns", "GPU p95", "On the GPU: 95 % took no longer", of((row) => row.gpu.p95_ns), duration),
    figure(
      "queue_delay_mean_ns",
      "Queue delay",
      "From the begin of a call to that of its work on the GPU, mean",
      of((row) => row.delay?.mean_ns ?? null),
      duration,
    ),
  ];
}

function GpuNote({ gpu }: { gpu: GpuTimes }) {
  return (
    <p class="muted">
      GPU time: <Name text={gpu.measured_by ?? "events on the stream"} />; {count(gpu.n_calls - gpu.n_not_measured)} of {count(gpu.n_calls)} calls of these
      call paths were measured. All other times are the host's.
    </p>
  );
}

function figure(
  id: string,
  title: string,
  hint: string,
  value: (placed: Placed) => number | null,
  show: (value: number | null) => string,
): Column<Placed> {
  return { id, title, hint, isNumber: true, value, show: (placed) => show(value(placed)) };
}
