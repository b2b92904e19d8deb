// Denoising steps: each one, the warm-up apart from the others, and those that took much longer.

import { useMemo } from "preact/hooks";

import type { StepPoint, Steps } from "../../model/page";
import { duration, moment } from "../data/quantity";
import { useAddress } from "../data/state";
import { Chart } from "../parts/chart";
import { Choice } from "../parts/choice";
import type { Colour } from "../parts/palette";
import type { Band, Line } from "../parts/plot";
import { useWindow } from "../parts/window";

/** What a step is: the look of its point. */
type Look = "computed" | "cached" | "warm-up" | "outlier";

const LOOKS: readonly (readonly [Look, Colour])[] = [
  ["computed", 0],
  ["cached", 2],
  ["warm-up", 8],
  ["outlier", "warn"],
];

export function StepChart({ steps, wall, bands }: { steps: Steps; wall: number; bands: readonly Band[] }) {
  const { by = "time", zero, fit } = useAddress();
  const { window } = useWindow(wall);
  const isByTime = by !== "number";
  const isFitted = fit === "steady";
  const lines = useMemo(() => linesOf(steps, isByTime), [steps, isByTime]);
  const last = Math.max(1, steps.each.length);
  const summary = lines.map((line) => `${line.at.length} ${line.label}`).join(", ");
  return (
    <>
      <div class="controls">
        <Choice name="by" value={isByTime ? "time" : "number"} options={[["time", "Over time"], ["number", "One after the other"]]} />
        {steps.steady && steps.warm_up && steps.warm_up.max_ns > steps.steady.max_ns ? (
          <Choice name="fit" value={isFitted ? "steady" : "all"} options={[["all", "All"], ["steady", "Steady steps"]]} />
        ) : null}
      </div>
      <Chart
        title="Duration of each step"
        summary={summary}
        lines={lines}
        show={duration}
        window={isByTime ? window : [-0.5, last - 0.5]}
        wall={isByTime ? wall : null}
        showX={(at) => (isByTime ? moment(at) : `step ${Math.round(at) + 1}`)}
        sync={isByTime ? "time" : "steps"}
        height={200}
        bands={isByTime ? bands : []}
        isFromZero={zero !== "0"}
        limit={isFitted && steps.steady ? steps.steady.max_ns * 1.08 : undefined}
      />
    </>
  );
}

function linesOf(steps: Steps, isByTime: boolean): Line[] {
  const outliers = new Set(steps.outliers);
  const look = (step: StepPoint, at: number): Look =>
    step.is_warm_up ? "warm-up" : outliers.has(at) ? "outlier" : step.is_cached ? "cached" : "computed";
  const measured = steps.each.map((step, at) => ({ step, at })).filter(({ step }) => step.gpu_ns !== null);
  const onGpu: Line = {
    label: `on the GPU (${measured.length})`,
    colour: 4,
    style: "points",
    at: measured.map(({ step, at }) => (isByTime ? step.end_ns : at)),
    values: measured.map(({ step }) => step.gpu_ns ?? NaN),
  };
  const lines = LOOKS.flatMap(([label, colour]) => {
    const of = steps.each.map((step, at) => ({ step, at })).filter(({ step, at }) => step.duration_ns !== null && look(step, at) === label);
    const line: Line = {
      label: `${label} (${of.length})`,
      colour,
      style: "points",
      at: of.map(({ step, at }) => (isByTime ? step.end_ns : at)),
      values: of.map(({ step }) => step.duration_ns ?? NaN),
    };
    return of.length > 0 ? [line] : [];
  });
  return measured.length > 0 ? [...lines, onGpu] : lines;
}
