// System: on what the run ran and how it was called, what else it said, and what could not be read.

import { bytes, duration, number, percent } from "../data/quantity";
import { leftOut } from "../data/cuts";
import { type Model, isOfTrace } from "../data/page";
import type { Report, SamplerUse } from "../data/report";
import { placesOf } from "../data/places";
import { type Fact, FactList, known } from "../parts/facts";
import { cut, Long, Name, Path, visible } from "../parts/name";
import { ProfilerWindows } from "../parts/profiler_windows";
import { Table } from "../parts/table";
import { valueText } from "../parts/value";
import type { View } from "./view";

export const system: View = {
  id: "system",
  title: "System",
  isShown: () => true,
  Body: ({ model, model: { report } }) => (
    <>
      <Command report={report} />
      <div class="columns">
        {groups(report).map(([title, facts]) => (
          <section key={title}>
            <h2>{title}</h2>
            <FactList facts={facts} />
          </section>
        ))}
      </div>
      <Samplers report={report} />
      <Attributes model={model} />
      <ProfilerWindows model={model} />
      <Events model={model} />
      <Unavailable model={model} />
      <p class="muted">Durations: {visible(report.quality.how_measured)}.</p>
      <Synchronised report={report} />
    </>
  ),
};

function Command({ report: { run } }: { report: Report }) {
  return run.command.length === 0 ? null : (
    <section>
      <h2>Command</h2>
      <pre class="command">
        <Long text={run.command.map(visible).map(quoted).join(" ")} limit={1000} />
      </pre>
    </section>
  );
}

function quoted(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
}

/** Facts by what they are about. */
function groups(report: Report): [string, Fact[]][] {
  const { run, activity } = report;
  const gpus = activity.telemetry.gpus?.each ?? [];
  const isHardware = /^(host|cgroup|nvidia|amd|gpu|cpu)\.|^(processors?|kernel)$/;
  const isVersion = /(^|\.)version$|^(marey|python|torch|diffusers|transformers|cuda|rust|numpy)(\.|$)/;
  const isSetting = /^(profiling|config|setting)\./;
  const facts = (isOf: (key: string) => boolean): Fact[] =>
    run.facts.filter(([key]) => isOf(key)).map(([key, value]) => ({ what: cut(key, 80), value: <Long text={factText(key, value)} limit={200} /> }));
  const all: [string, Fact[]][] = [
    [
      "Hardware",
      [
        ...gpus.map(({ index, name, uuid, memory_total, power_limit }) => ({
          what: index === null ? "GPU" : `GPU ${visible(index)}`,
          value: <Name text={name ?? uuid} />,
          note: [memory_total && bytes(memory_total.max), power_limit && `at most ${number(power_limit.max)} W`, name && visible(uuid)].filter(Boolean).join(" · "),
        })),
        ...facts((key) => isHardware.test(key) && !isVersion.test(key)),
      ],
    ],
    ["Versions", facts((key) => isVersion.test(key) && !isSetting.test(key))],
    ["Configuration", facts((key) => isSetting.test(key))],
    [
      "Run",
      known([
        { what: "id", value: <Name text={run.id} limit={120} /> },
        run.job_id !== null && { what: "job", value: <Name text={run.job_id} limit={120} /> },
        run.clock !== null && { what: "clock", value: <Name text={run.clock} /> },
        run.world_size !== null && { what: "ranks in the job", value: String(run.world_size) },
        ...facts((key) => !isHardware.test(key) && !isVersion.test(key) && !isSetting.test(key)),
      ]),
    ],
  ];
  return all.filter(([, list]) => list.length > 0);
}

function factText(key: string, value: string): string {
  const size = Number(value);
  return key.endsWith("_bytes") && value !== "" && Number.isFinite(size) ? bytes(size) : value;
}

function Samplers({ report: { activity } }: { report: Report }) {
  const rows = activity.telemetry.samplers;
  const late = ({ late_s }: SamplerUse) => (late_s === null ? null : late_s.max * 1e9);
  return rows.length === 0 ? null : (
    <Table
      id="samplers"
      caption="Samplers"
      rows={rows}
      columns={[
        { id: "sampler", title: "Sampler", value: ({ name }) => name },
        { id: "rounds", title: "Rounds", isNumber: true, value: ({ late_s }) => late_s?.n_readings ?? null },
        { id: "latest_ns", title: "Latest by", hint: "How late a round began at most", isNumber: true, value: late, show: (row) => duration(late(row)) },
        { id: "missed", title: "Missed", hint: "Rounds that were left out", isNumber: true, value: ({ missed }) => missed, show: ({ missed }) => number(missed) },
        {
          id: "core_ratio",
          title: "Of one core",
          hint: "Processor time of its thread",
          isNumber: true,
          value: ({ cpu }) => cpu?.per_second.mean ?? null,
          show: ({ cpu }) => percent(cpu?.per_second.mean),
        },
      ]}
    />
  );
}

function Attributes({ model, model: { report } }: { model: Model }) {
  const places = placesOf(report);
  const rows = report.attributes.by_section;
  return rows.length === 0 ? null : (
    <Table
      id="attributes"
      caption="What was said about sections"
      rows={rows}
      leftOut={leftOut(model, "attributes.by_section")}
      columns={[
        { id: "section", title: "Section", value: ({ node }) => places.path(node).join(" / "), show: ({ node }) => <Path names={places.path(node)} /> },
        { id: "attribute", title: "Attribute", value: ({ name }) => name, show: ({ name }) => <Name text={name} /> },
        {
          id: "values",
          title: "Values",
          value: ({ values, has_more_values }) => values.map(valueText).join(", ") + (has_more_values ? ", …" : ""),
        },
        { id: "calls", title: "Calls", isNumber: true, value: ({ n_calls }) => n_calls },
      ]}
    />
  );
}

function Events({ model }: { model: Model }) {
  const { activity } = model.report;
  return activity.events.length === 0 ? null : (
    <Table
      id="events"
      caption="Events"
      rows={activity.events}
      leftOut={leftOut(model, "activity.events")}
      columns={[
        { id: "event", title: "Event", value: ({ name }) => name, show: ({ name }) => <Name text={name} /> },
        { id: "at_ns", title: "At", isNumber: true, value: ({ at_ns }) => at_ns, show: ({ at_ns }) => `${(at_ns / 1e9).toFixed(3)} s` },
        {
          id: "data",
          title: "Data",
          value: ({ data }) =>
            Object.entries(data)
              .map(([name, value]) => `${name}: ${valueText(value)}`)
              .join(", "),
        },
      ]}
    />
  );
}

function Unavailable({ model }: { model: Model }) {
  const { quality } = model.report;
  return quality.unavailable.length === 0 ? null : (
    <Table
      id="unavailable"
      caption={isOfTrace(model) ? "What these views leave out of the trace" : "What could not be read, and why"}
      rows={quality.unavailable}
      columns={[
        { id: "what", title: "What", value: ({ what }) => what },
        { id: "why", title: "Why", value: ({ why }) => why },
      ]}
    />
  );
}

function Synchronised({ report }: { report: Report }) {
  const places = placesOf(report);
  return report.quality.synchronised.length === 0 ? null : (
    <Table
      id="synchronised"
      caption="Sections that waited for the GPU at both ends"
      rows={report.quality.synchronised}
      columns={[
        { id: "section", title: "Section", value: ({ node }) => places.path(node).join(" / "), show: ({ node }) => <Path names={places.path(node)} /> },
        {
          id: "calls",
          title: "Calls",
          isNumber: true,
          value: ({ n_calls }) => n_calls,
          show: ({ n_calls, is_at_least }) => `${is_at_least ? "at least " : ""}${n_calls}`,
        },
      ]}
    />
  );
}
