// Pictures of a comparison: how long steps took on both sides, one after the other and as distributions, and what held the runs up as one
// flame graph of the differences.

import { useMemo } from "preact/hooks";

import type { ComparedPath, DrawnComparison, DrawnRun } from "../../model/page";
import { change, duration, percent } from "../data/quantity";
import { setState, useAddress, type Window } from "../data/state";
import { TreeFlame } from "../flame/canvas";
import { compared, type Frame } from "../flame/tree";
import { Chart } from "../parts/chart";
import type { Line } from "../parts/chart_drawing";
import { FactList } from "../parts/facts";
import { Name } from "../parts/name";
import { cssColour, faded } from "../parts/palette";

/** What the sides are called, and their colours: those of the bars above. */
const SIDES = [["before", 8], ["after", 0]] as const;

export function Comparison({ comparison: { sides, paths, not_drawn } }: { comparison: DrawnComparison }) {
  const steps = useMemo(() => sides.map((runs) => runs.filter(({ step_ns }) => step_ns.length > 1)), [sides]);
  const most = Math.max(...steps.flat().map(({ step_ns }) => step_ns.length));
  const each = steps.map((runs) => runs.flatMap(({ step_ns }) => step_ns.filter((ns) => ns !== null)));
  const walls = sides.map((runs) => runs.map(({ wall_ns }) => wall_ns));
  const hasSteps = each.every(({ length }) => length > 0);
  const hasRepeats = walls.every(({ length }) => length > 2);
  return (
    <>
      {hasSteps && (
        <Chart
          title="Time per step"
          lines={steps.map(stepLine)}
          show={duration}
          window={[-0.5, most - 0.5]}
          wall={null}
          showX={(at) => `step ${Math.round(at) + 1}`}
          sync="steps"
          height={180}
        />
      )}
      {hasSteps && <Distribution title="Distribution of steps: share that took no longer" samples={each} />}
      {hasRepeats && <Distribution title="Distribution of runs: share that took no longer" samples={walls} />}
      {paths.length > 0 && <Difference paths={paths} />}
      {not_drawn.length > 0 && <p class="muted">{not_drawn.join(" ")}</p>}
    </>
  );
}

/** Of several runs the median of each step, between the shortest and the longest. */
function stepLine(runs: readonly DrawnRun[], side: number): Line {
  const [label, colour] = SIDES[side]!;
  const n = Math.max(0, ...runs.map(({ step_ns }) => step_ns.length));
  const at = Array.from({ length: n }, (_, step) => step);
  const sorted = at.map((step) => ascending(runs.flatMap(({ step_ns }) => step_ns[step] ?? [])));
  const range = { low: sorted.map((all) => all[0] ?? NaN), high: sorted.map((all) => all.at(-1) ?? NaN) };
  const values = sorted.map((all) => all[(all.length - 1) >> 1] ?? NaN);
  const called = runs.length > 1 ? `${label} (${runs.length} runs)` : label;
  return { label: called, colour, isDashed: side === 0, at, values, hasDots: n <= 100, ...(runs.length > 1 && { range }), figures: figuresOf(sorted.flat()) };
}

const ascending = (values: readonly number[]) => [...values].sort((a, b) => a - b);

function figuresOf(values: readonly number[]): Line["figures"] {
  const sum = values.reduce((sum, value) => sum + value, 0);
  const most = (least: boolean) => values.reduce((a, b) => (least === b < a ? b : a));
  return values.length > 0 ? { min: most(true), mean: sum / values.length, max: most(false) } : null;
}

/** What share of the samples of each side is at most so long. */
function Distribution({ title, samples }: { title: string; samples: readonly (readonly number[])[] }) {
  const lines = samples.map((values, side): Line => {
    const [label, colour] = SIDES[side]!;
    const sorted = ascending(values);
    return { label: `${label} (${values.length})`, colour, style: "steps", at: sorted, values: sorted.map((_, n) => (n + 1) / sorted.length) };
  });
  const all = lines.flatMap(({ at }) => Array.from(at));
  const [least, most] = [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
  const air = (most - least) * 0.03 || 1;
  const window: Window = [Math.max(0, least - air), most + air];
  return <Chart title={title} lines={lines} show={percent} window={window} wall={null} isTime showX={duration} sync={title} height={140} limit={1} />;
}

/** Call paths as wide as they are now, in the colour of their change. */
function Difference({ paths }: { paths: readonly ComparedPath[] }) {
  const flame = useMemo(() => compared(paths), [paths]);
  const { focus } = useAddress();
  const focused = flame.frames.find(({ place }) => String(place) === focus) ?? null;
  const gone = paths.filter(({ held_ns: [before, after], parent }) => before > 0 && after === 0 && (parent === null || (paths[parent]?.held_ns[1] ?? 0) > 0));
  const open = (frame: Frame | null) => setState({ focus: frame ? String(frame.place) : null, section: frame?.name ?? null, row: null });
  const looks = [["bad", "longer than before"], ["accent", "shorter"], ["muted", "about as before"]] as const;
  return (
    <section class="part">
      <h2>
        What changed where <span class="muted">as wide as its time after</span>
      </h2>
      <p class="rank-legend">
        {looks.map(([colour, text]) => (
          <span key={text}>
            <i style={{ background: faded(cssColour(colour), colour === "muted" ? 0.2 : 0.6) }} /> {text}
          </span>
        ))}
        <span>the stronger, the more of the largest change. Click zooms in, a click on what fills the width goes back out.</span>
      </p>
      <TreeFlame label="Call paths by their change" flame={flame} focused={focused} onFocus={open} tip={(frame) => <Tip frame={frame} />} />
      {gone.length > 0 && (
        <p class="muted">
          Gone:{" "}
          {gone.slice(0, 20).map(({ name, held_ns: [before] }, at) => (
            <span key={at}>
              {at > 0 && ", "}
              <Name text={name} limit={40} /> ({duration(before)})
            </span>
          ))}
          {gone.length > 20 && ` and ${gone.length - 20} more`}
        </p>
      )}
    </section>
  );
}

function Tip({ frame: { name, time, before } }: { frame: Frame }) {
  const by = time - (before ?? 0);
  const ratio = before ? ` (${change(time / before)})` : " (new)";
  return (
    <>
      <b>
        <Name text={name} />
      </b>
      <FactList
        facts={[
          { what: "before", value: duration(before ?? 0) },
          { what: "after", value: duration(time) },
          { what: "change", value: `${by < 0 ? "−" : by > 0 ? "+" : ""}${duration(Math.abs(by))}${ratio}` },
        ]}
      />
    </>
  );
}
