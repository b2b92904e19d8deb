// The flame graph: sections in the order of time, call paths with the longest first, callers and callees of one name.

import { useMemo } from "preact/hooks";

import type { RunModel } from "../data/page";
import { setState, useAddress } from "../data/state";
import { HeavyFlame } from "../flame/heavy";
import { OrderFlame } from "../flame/time_order";
import { SandwichFlame } from "../flame/sandwich";
import type { Picture } from "./view";

const MODES = [
  { id: "order", title: "Time order", hint: "Sections of one thread as they ran" },
  { id: "heavy", title: "Left-heavy", hint: "Calls of one call path put together, the longest first" },
  { id: "sandwich", title: "Sandwich", hint: "One name with its callers and its callees" },
] as const;

export const flame: Picture = {
  id: "flame",
  title: "Flame graph",
  isShown: ({ pictures }) => pictures.call_paths.length > 0,
  Body,
};

function Body({ model }: { model: RunModel }) {
  const { mode = "heavy", q = "" } = useAddress();
  const current = MODES.find(({ id }) => id === mode) ?? MODES[1];
  const tree = model.pictures.call_paths;
  const found = useMemo(() => matches(tree.map((row) => row.name), q), [tree, q]);
  return (
    <>
      <div class="controls">
        <div class="choice" role="radiogroup" aria-label="Kind of flame graph">
          {MODES.map(({ id, title, hint }) => (
            <button key={id} type="button" role="radio" aria-checked={id === current.id} title={hint} onClick={() => setState({ mode: id, focus: null })}>
              {title}
            </button>
          ))}
        </div>
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
      {current.id === "order" ? <OrderFlame model={model} search={q} /> : null}
      {current.id === "heavy" ? <HeavyFlame tree={tree} search={q} /> : null}
      {current.id === "sandwich" ? <SandwichFlame tree={tree} search={q} /> : null}
    </>
  );
}

function matches(names: readonly string[], search: string): number {
  const wanted = search.toLowerCase();
  return names.filter((name) => name.toLowerCase().includes(wanted)).length;
}
