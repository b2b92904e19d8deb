// What is said of a box that is pointed at.

import { count, duration, moment, percent } from "../data/quantity";
import { FAILED, OPEN, PAUSED, type Slices } from "../data/slices";
import { Name } from "../parts/name";
import type { Box } from "./picture";
import type { Frame } from "./tree";

/** A call path, or several: its figures. `whole` is what shares are of. */
export function FrameTip({ frame, whole, of }: { frame: Frame; whole: number; of: string }) {
  const calls = frame.rows.reduce((sum, row) => sum + row.n_calls, 0);
  const open = frame.rows.reduce((sum, row) => sum + row.n_open, 0);
  const only = frame.rows.length === 1 ? frame.rows[0] : undefined;
  const facts: [string, string][] = [
    ["calls", `${count(calls)}${open > 0 ? ` and ${count(open)} open` : ""}${frame.kind === "iteration" ? " (turns of a loop)" : ""}`],
    ["time", `${duration(frame.time)} · ${percent(frame.time / whole)} of ${of}`],
    ["self", frame.self === null ? "-" : duration(frame.self)],
  ];
  if (only) {
    const { mean_ns, max_ns } = only;
    facts.push(["mean, longest", `${duration(mean_ns)}, ${duration(max_ns)}`]);
  }
  return (
    <>
      <b>
        {frame.rows.every((row) => row.is_detached) && frame.rows.length > 0 ? "~ " : ""}
        <Name text={frame.name} />
      </b>
      <Facts facts={facts} />
    </>
  );
}

/** One call, or several that are too short to be kept one by one. */
export function SliceTip({ box, slices }: { box: Box; slices: Slices }) {
  const flags = slices.flags[box.slice ?? 0] ?? 0;
  const ended = flags & OPEN ? "never ended" : flags & FAILED ? "left by an error" : flags & PAUSED ? "suspended in between" : null;
  const parts = box.slice === undefined ? [] : slices.parts(box.slice).slice(0, 6);
  return (
    <>
      <b>
        <Name text={box.name} />
      </b>
      <Facts
        facts={[
          ["took", duration(box.to - box.from)],
          ["from", moment(box.from)],
          ["to", moment(box.to)],
          ...(ended ? [["", ended] as const] : []),
        ]}
      />
      {parts.map(({ path, count: n, busy }) => (
        <div>
          <span>
            {count(n)} × <Name text={slices.names[path] ?? ""} limit={40} />
          </span>
          <span>{duration(busy)}</span>
        </div>
      ))}
    </>
  );
}

function Facts({ facts }: { facts: readonly (readonly [string, string])[] }) {
  return (
    <dl>
      {facts.map(([what, figure]) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd>{figure}</dd>
        </div>
      ))}
    </dl>
  );
}
