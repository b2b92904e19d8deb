// Autoregressive blocks: each one, and how steps grow with the context.

import { useMemo } from "preact/hooks";

import type { Blocks, Diffusion } from "../../model/page";
import { bytes, duration } from "../data/quantity";
import { useAddress } from "../data/state";
import { Chart } from "../parts/chart";
import type { Line } from "../parts/plot";

export function BlockCharts({ blocks, diffusion }: { blocks: Blocks; diffusion: Diffusion }) {
  const { zero } = useAddress();
  const lines = useMemo(() => blockLines(blocks), [blocks]);
  const steps = useMemo(() => stepLines(blocks, diffusion), [blocks, diffusion]);
  const last = blocks.each.length;
  const shared = {
    window: [-0.5, Math.max(0.5, last - 0.5)] as const,
    wall: null,
    showX: (at: number) => (blocks.each[Math.round(at)] ? `block ${blocks.each[Math.round(at)]?.index}` : ""),
    sync: "blocks",
    height: 120,
    isFromZero: zero !== "0",
  };
  return (
    <>
      {lines.duration ? <Chart title="Duration of each block" summary={`${last} blocks`} lines={[lines.duration]} show={duration} {...shared} /> : null}
      {steps.length > 0 ? <Chart title="Steps by block" summary={`${steps.length} lines`} lines={steps} show={duration} {...shared} /> : null}
      {lines.memory ? <Chart title="Memory after each block" summary="as the program read it" lines={[lines.memory]} show={bytes} isSize {...shared} /> : null}
    </>
  );
}

function blockLines({ each, steady, memory_bytes: memory }: Blocks): { duration: Line | null; memory: Line | null } {
  const at = each.map((_, place) => place);
  const durations = each.map((block) => block.duration_ns ?? NaN);
  const sizes = each.map((block) => block.memory_bytes ?? NaN);
  const has = (values: number[]) => values.some((value) => Number.isFinite(value));
  return {
    duration: has(durations)
      ? {
          label: "block",
          colour: 0,
          style: "bars",
          at,
          values: durations,
          figures: steady && { min: steady.min_ns, mean: steady.mean_ns, max: steady.max_ns },
        }
      : null,
    memory: has(sizes) ? { label: "in use", colour: 2, at, values: sizes, figures: memory, isFilled: true } : null,
  };
}

/** Computed steady steps over their blocks, and the straight line of the growth. */
function stepLines(blocks: Blocks, { steps, growth }: Diffusion): Line[] {
  if (!steps) {
    return [];
  }
  const points = steps.each
    .filter((step) => !step.is_warm_up && !step.is_cached && step.duration_ns !== null && step.block_at !== null)
    .map((step) => ({ at: step.block_at as number, value: step.duration_ns as number }))
    .sort((a, b) => a.at - b.at);
  // Points of one block lie beside one another, so that their places ascend.
  const inBlock = new Map<number, number>();
  const spread = points.map(({ at, value }) => {
    const n = inBlock.get(at) ?? 0;
    inBlock.set(at, n + 1);
    return { at: at - 0.2 + Math.min(0.4, 0.12 * n) + n * 1e-6, value };
  });
  const computed: Line = { label: "computed step", colour: 0, style: "points", at: spread.map((p) => p.at), values: spread.map((p) => p.value) };
  if (!growth) {
    return [computed];
  }
  const [first, last] = growth.between;
  const number = (at: number): number => blocks.each[at]?.index ?? at;
  const grown = growth.per_block_ns * (number(last) - number(first));
  return [computed, { label: "growth", colour: "warn", isDashed: true, at: [first, last], values: [growth.first_ns, growth.first_ns + grown] }];
}
