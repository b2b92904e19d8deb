// Autoregressive blocks: each one, the time between them, and how steps grow with the context.

import { useMemo } from "preact/hooks";

import { bytes, count, duration, moment, number, percent, rate } from "../data/quantity";
import type { Blocks, Diffusion } from "../data/report";
import { useAddress } from "../data/state";
import { Chart } from "../parts/chart";
import { TimeLink } from "../parts/link";
import { Name } from "../parts/name";
import type { Line } from "../parts/plot";
import { type Column, Table } from "../parts/table";
import { DurationsTable } from "./durations";
import { Facts } from "./facts";
import { Source } from "./steps";

export function BlocksPart({ diffusion, blocks, leftOut = 0 }: { diffusion: Diffusion; blocks: Blocks; leftOut: number | undefined }) {
  const { growth, clean_passes: clean } = diffusion;
  const rows = useMemo(
    () => [
      { what: "first block", durations: blocks.warm_up },
      { what: "all others", durations: blocks.steady },
      { what: "between two ends", durations: blocks.between },
      { what: "clean context", durations: clean?.calls },
    ],
    [blocks, clean],
  );
  return (
    <section class="part">
      <h2>
        Blocks of frames <Source source={blocks.source} />
      </h2>
      <Facts
        facts={[
          ["blocks", count(blocks.each.length + leftOut + blocks.not_recorded)],
          ["blocks a second", blocks.per_second === null ? null : rate(blocks.per_second, "blocks")],
          ["first block after", duration(blocks.time_to_first_ns)],
          ["jitter", duration(blocks.jitter_ns)],
          ["latent frames a block", blocks.frames && number(blocks.frames.mean)],
          ["step grows by", growth && `${duration(growth.per_block_ns)} a block (95 %: ${duration(growth.interval_ns[0])} to ${duration(growth.interval_ns[1])}), from ${duration(growth.first_ns)} to ${duration(growth.last_ns)} over ${count(growth.n_blocks)} blocks`],
          [
            "clean context",
            clean && (
              <>
                {clean.share_ratio === null ? duration(clean.calls.total_ns) : `${percent(clean.share_ratio)} of the time`} in <Name text={clean.name} limit={40} />
              </>
            ),
          ],
        ]}
      />
      <BlockCharts blocks={blocks} diffusion={diffusion} />
      <DurationsTable id="block-durations" caption="Durations of blocks" rows={rows} />
      <EachBlock blocks={blocks} leftOut={leftOut} />
    </section>
  );
}

function BlockCharts({ blocks, diffusion }: { blocks: Blocks; diffusion: Diffusion }) {
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

function EachBlock({ blocks, leftOut }: { blocks: Blocks; leftOut: number }) {
  const columns = useMemo((): Column<Blocks["each"][number]>[] => {
    const isKnown = (of: (block: Blocks["each"][number]) => number | null) => blocks.each.some((block) => of(block) !== null);
    return [
      { id: "block", title: "Block", value: (row) => row.index, isNumber: true },
      { id: "duration_ns", title: "Took", value: (row) => row.duration_ns, show: (row) => duration(row.duration_ns), isNumber: true },
      ...(isKnown((row) => row.frames)
        ? [{ id: "frames", title: "Latent frames", value: (row: Blocks["each"][number]) => row.frames, isNumber: true }]
        : []),
      ...(isKnown((row) => row.memory_bytes)
        ? [
            {
              id: "memory_bytes",
              title: "Memory",
              value: (row: Blocks["each"][number]) => row.memory_bytes,
              show: (row: Blocks["each"][number]) => bytes(row.memory_bytes),
              isNumber: true,
            },
          ]
        : []),
      {
        id: "end_ns",
        title: "Ended at",
        value: (row) => row.end_ns,
        show: (row) => (
          <TimeLink from={row.end_ns - (row.duration_ns ?? 0)} to={row.end_ns}>
            {moment(row.end_ns)}
          </TimeLink>
        ),
        isNumber: true,
      },
    ];
  }, [blocks]);
  return <Table id="blocks" caption="Each block" columns={columns} rows={blocks.each} leftOut={leftOut} />;
}
