// One name between its callers, above, and its callees, below.

import { useMemo } from "preact/hooks";

import type { CallPath } from "../../model/page";
import { count, duration } from "../data/quantity";
import { setState, useAddress } from "../data/state";
import { Name } from "../parts/name";
import { cssColour, colourOfName } from "../parts/palette";
import { type Column, Table } from "../parts/table";
import { FlameCanvas } from "./canvas";
import { treePicture } from "./picture";
import { FrameTip } from "./tip";
import { callees, callers, type Flame, outermost } from "./tree";

/** All call paths of one name. */
type NameFigures = { name: string; calls: number; total: number; self: number | null };

export function SandwichFlame({ tree, search }: { tree: readonly CallPath[]; search: string }) {
  const names = useMemo(() => namesOf(tree), [tree]);
  const { focus } = useAddress();
  const name = names.find((row) => row.name === focus)?.name ?? names[0]?.name ?? "";
  const [above, below] = useMemo(() => [callers(tree, name), callees(tree, name)] as const, [tree, name]);
  return (
    <div class="sandwich">
      <Table id="names" caption="Names" columns={columnsFor(name)} rows={names} rowClass={(row) => (row.name === name ? "is-chosen" : undefined)} />
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
  const picture = useMemo(() => treePicture(flame, isUpward), [flame, isUpward]);
  return (
    <FlameCanvas
      label={isUpward ? "Callers" : "Callees"}
      picture={picture}
      from={0}
      to={flame.width}
      search={search}
      mostHeight={260}
      tip={({ frame }) => frame && <FrameTip frame={frame} whole={flame.width} of={isUpward ? "its time" : "this name's time"} />}
      onOpen={({ frame }) => frame && frame.name !== name && setState({ focus: frame.name })}
      onBack={() => setState({ focus: null })}
    />
  );
}

function columnsFor(chosen: string): Column<NameFigures>[] {
  return [
    {
      id: "name",
      title: "Name",
      value: (row) => row.name,
      show: (row) => (
        <button type="button" class="link" aria-current={row.name === chosen ? "true" : undefined} onClick={() => setState({ focus: row.name })}>
          <span class="line-mark" style={{ color: cssColour(colourOfName(row.name)) }} />
          <Name text={row.name} limit={36} />
        </button>
      ),
    },
    { id: "calls", title: "Calls", value: (row) => row.calls, show: (row) => count(row.calls), isNumber: true },
    { id: "total_ns", title: "Total", value: (row) => row.total, show: (row) => duration(row.total), isNumber: true },
    { id: "self_ns", title: "Self", value: (row) => row.self, show: (row) => duration(row.self), isNumber: true },
  ];
}

/** Longest first. Calls within calls of the same name are part of the outer ones. */
function namesOf(tree: readonly CallPath[]): NameFigures[] {
  const names = [...new Set(tree.map((row) => row.name))];
  const byName = new Map(names.map((name): [string, CallPath[]] => [name, []]));
  for (const row of tree) {
    byName.get(row.name)?.push(row);
  }
  const all = [...byName].map(([name, rows]) => ({
    name,
    calls: rows.reduce((sum, row) => sum + row.n_calls, 0),
    total: outermost(tree, name).reduce((sum, row) => sum + row.inclusive_ns, 0),
    self: rows.reduce<number | null>((sum, row) => (sum === null || row.self_ns === null ? null : sum + row.self_ns), 0),
  }));
  return all.sort((a, b) => b.total - a.total);
}
