// Memory over time, under the phases: what is held, how fragmented that is, and what snapshots say of the allocator.

import { useMemo } from "preact/hooks";

import type { RunModel } from "../data/page";
import { useTimeline } from "../data/use_timeline";
import { MemoryCurves } from "../memory/curves";
import { Fragmentation } from "../memory/fragmentation";
import { Snapshots } from "../memory/snapshots";
import { PhaseStrip, phaseBands, usePhases } from "../parts/phases";
import type { Picture } from "./view";

export const memory: Picture = {
  id: "memory",
  title: "Memory",
  isShown: ({ pictures: { memory: readings, telemetry, snapshots } }) => {
    const { memory: host, gpus } = telemetry;
    return readings !== null || host !== null || snapshots.length > 0 || (gpus?.each.some((gpu) => gpu.memory_used !== null) ?? false);
  },
  Body,
};

function Body({ model }: { model: RunModel }) {
  const { memory, snapshots, wall_ns: wall } = model.pictures;
  const threads = usePhases(model);
  const bands = useMemo(() => phaseBands(threads), [threads]);
  const timeline = useTimeline(model);
  return (
    <>
      <PhaseStrip model={model} threads={threads} />
      {timeline ? <MemoryCurves model={model} tracks={timeline.tracks} bands={bands} /> : null}
      {memory ? <Fragmentation wall={wall} memory={memory} /> : null}
      <Snapshots snapshots={snapshots} wall={wall} bands={bands} />
    </>
  );
}
