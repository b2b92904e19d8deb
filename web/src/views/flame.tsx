// The flame graph: sections in the order of time, call paths with the longest first, callers and callees of one name.

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";

import type { CallPath, Cell } from "../../model/page";
import type { RunModel } from "../data/page";
import { count, duration, percent } from "../data/quantity";
import { useRange, useSection } from "../data/selection";
import { setState, useAddress, type Window } from "../data/state";
import { useTimeline } from "../data/timeline";
import { TreeFlame } from "../flame/canvas";
import { OrderFlame } from "../flame/time_order";
import { callees, callers, type Flame, type Frame, leftHeavy, outermost, pathsWithin } from "../flame/tree";
import { Choice, windowText } from "../parts/controls";
import { FactList } from "../parts/facts";
import { Name } from "../parts/name";
import { ownTable, type Shown, Table } from "../parts/table";
import type { Picture } from ".";

const MODES = [
  ["order", "Time order", "Sections of one thread as they ran"],
  ["heavy", "Left-heavy", "Calls of one call path put together, the longest first"],
  ["sandwich", "Sandwich", "One name with its callers and its callees"],
] as const;

export const flame: Picture = {
  id: "flame",
  title: "Flame graph",
  isShown: ({ pictures }) => pictures.call_paths.length > 0,
  Body,
};

function Body({ model }: { model: RunModel }) {
  const { mode = "heavy", q = "" } = useAddress();
  const [current] = MODES.find(([id]) => id === mode) ?? MODES[1];
  const tree = model.pictures.call_paths;
  const found = useMemo(() => matches(tree.map((row) => row.name), q), [tree, q]);
  const range = useRange();
  const drawn = (tree: readonly CallPath[]) => (current === "heavy" ? <HeavyFlame tree={tree} search={q} /> : <SandwichFlame tree={tree} search={q} />);
  return (
    <>
      <div class="controls">
        <Choice name="mode" value={current} options={MODES} label="Kind of flame graph" usual="heavy" clears="focus" />
        <input
          type="search"
          aria-label="Search names"
          placeholder="Search names"
          value={q}
          onInput={(event) => setState({ q: event.currentTarget.value || null })}
        />
        <span class="muted" role="status">
          {q === "" ? "" : `${found} of ${tree.length} call paths`}
        </span>
      </div>
      {current === "order" && <OrderFlame model={model} search={q} />}
      {current !== "order" && (range ? <Within model={model} range={range}>{drawn}</Within> : drawn(tree))}
    </>
  );
}

type WithinProps = { model: RunModel; range: Window; children: (tree: readonly CallPath[]) => ComponentChildren };

/** Only what ran in the selected range. */
function Within({ model, range, children }: WithinProps) {
  const slices = useTimeline(model)?.slices;
  const [from, to] = range;
  const tree = useMemo(() => (slices ? pathsWithin(slices, model.pictures.call_paths, [from, to]) : []), [slices, model, from, to]);
  return (
    <>
      <p class="note">
        Only what ran in {windowText(range)}. <button type="button" class="link" onClick={() => setState({ range: null })}>Whole run</button>
      </p>
      {tree.length > 0 ? children(tree) : slices && <p class="muted">No section was recorded there.</p>}
    </>
  );
}

function matches(names: readonly string[], search: string): number {
  const wanted = search.toLowerCase();
  return names.filter((name) => name.toLowerCase().includes(wanted)).length;
}

/** Calls of one call path put together, wide as the time that they took. */
function HeavyFlame({ tree, search }: { tree: readonly CallPath[]; search: string }) {
  const flame = useMemo(() => leftHeavy(tree), [tree]);
  const { focus } = useAddress();
  const focused = focus === undefined ? null : (flame.frames.find((frame) => String(frame.rows[0]?.node) === focus) ?? null);
  const tip = (frame: Frame) => <FrameTip frame={frame} whole={flame.width} of="all sections" />;
  return (
    <>
      <Crumbs focused={focused} whole={flame.width} />
      <TreeFlame label="Call paths, the longest first" flame={flame} search={search} focused={focused} onFocus={setFocus} tip={tip} />
      <p class="muted">Wide as the time of all calls in all threads. Click zooms in, a click on what fills the width goes back out.</p>
    </>
  );
}

function setFocus(frame: Frame | null) {
  setState({ focus: frame ? String(frame.rows[0]?.node) : null, section: frame?.name ?? null, row: null });
}

function Crumbs({ focused, whole }: { focused: Frame | null; whole: number }) {
  const path: Frame[] = [];
  for (let frame = focused; frame; frame = frame.parent) {
    path.unshift(frame);
  }
  return (
    <nav class="crumbs" aria-label="What is shown">
      <button type="button" class="link" disabled={focused === null} onClick={() => setFocus(null)}>
        all sections
      </button>
      {path.map((frame) => (
        <span key={frame.rows[0]?.node}>
          {" › "}
          <button type="button" class="link" disabled={frame === focused} onClick={() => setFocus(frame)}>
            <Name text={frame.name} limit={40} />
          </button>
        </span>
      ))}
      <span class="muted"> {duration(focused ? focused.time : whole)}</span>
    </nav>
  );
}

/** A call path, or several: its figures. `whole` is what shares are of. */
function FrameTip({ frame, whole, of }: { frame: Frame; whole: number; of: string }) {
  const calls = frame.rows.reduce((sum, row) => sum + row.n_calls, 0);
  const open = frame.rows.reduce((sum, row) => sum + row.n_open, 0);
  const only = frame.rows.length === 1 ? frame.rows[0] : undefined;
  const facts = [
    { what: "calls", value: `${count(calls)}${open > 0 ? ` and ${count(open)} open` : ""}${frame.kind === "iteration" ? " (iterations of a loop)" : ""}` },
    { what: "time", value: `${duration(frame.time)} · ${percent(frame.time / whole)} of ${of}` },
    { what: "self", value: duration(frame.self) },
    ...(only?.mean_ns != null ? [{ what: "mean, longest", value: `${duration(only.mean_ns)}, ${duration(only.max_ns)}` }] : []),
  ];
  return (
    <>
      <b>
        {frame.rows.every((row) => row.is_detached) && frame.rows.length > 0 ? "~ " : ""}
        <Name text={frame.name} />
      </b>
      <FactList facts={facts} />
    </>
  );
}

function SandwichFlame({ tree, search }: { tree: readonly CallPath[]; search: string }) {
  const table = useMemo(() => namesOf(tree), [tree]);
  const section = useSection();
  const [longest] = table.rows[0] ?? [];
  const name = tree.find((row) => row.name === section)?.name ?? (longest?.unit === "name" ? longest.value : "");
  const [above, below] = useMemo(() => [callers(tree, name), callees(tree, name)] as const, [tree, name]);
  return (
    <div class="sandwich">
      <Table table={table} first={Infinity} />
      <div class="sandwich-flames">
        <h3>
          Callers of <Name text={name} />
        </h3>
        <Half flame={above} search={search} name={name} isUpward />
        <h3>
          What <Name text={name} /> spent its time in
        </h3>
        <Half flame={below} search={search} name={name} />
      </div>
    </div>
  );
}

function Half({ flame, search, name, isUpward = false }: { flame: Flame; search: string; name: string; isUpward?: boolean }) {
  return (
    <TreeFlame
      label={isUpward ? "Callers" : "Callees"}
      flame={flame}
      search={search}
      mostHeight={260}
      isUpward={isUpward}
      tip={(frame) => <FrameTip frame={frame} whole={flame.width} of={isUpward ? "its time" : "this name's time"} />}
      onFocus={(frame) => frame && frame.name !== name && setState({ section: frame.name, row: null })}
    />
  );
}

/** All call paths of one name together, the longest first. Calls within calls of the same name are part of the outer ones. */
function namesOf(tree: readonly CallPath[]): Shown {
  const byName = new Map(tree.map(({ name }): [string, CallPath[]] => [name, []]));
  for (const row of tree) {
    byName.get(row.name)?.push(row);
  }
  const all = [...byName].map(([name, rows]) => ({
    name,
    calls: rows.reduce((sum, row) => sum + row.n_calls, 0),
    total: outermost(tree, name).reduce((sum, row) => sum + row.inclusive_ns, 0),
    self: rows.reduce<number | null>((sum, row) => (sum === null || row.self_ns === null ? null : sum + row.self_ns), 0),
  }));
  const rows = all.sort((a, b) => b.total - a.total).map(({ name, calls, total, self }): Cell[] => [
    { unit: "name", value: name },
    { unit: "count", value: calls },
    { unit: "duration", value: total },
    self === null ? { unit: "absent" } : { unit: "duration", value: self },
  ]);
  return ownTable("names", "Names", { name: "Name", calls: "Calls", total_ns: "Total", self_ns: "Self" }, rows);
}
