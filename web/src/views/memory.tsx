// Memory: the curve under the phases, who was there at the peak, fragmentation, labelled readings, growth.

import { useMemo } from "preact/hooks";

import type { Model } from "../data/page";
import { useTimeline } from "../data/use_timeline";
import { MemoryCurves } from "../memory/curves";
import { Peaks } from "../memory/peaks";
import { Fragmentation, Growth, Readings } from "../memory/readings";
import { SectionPeaks } from "../memory/section_peaks";
import { Snapshots } from "../memory/snapshots";
import { PhaseStrip, phaseBands, usePhases } from "../parts/phases";
import type { View } from "./view";

export const memory: View = {
  id: "memory",
  title: "Memory",
  isShown: ({ report: { memory: readings, section_peaks, activity, snapshot_files: files } }) => {
    const { memory: host, gpus } = activity.telemetry;
    const isRead = readings !== null || section_peaks.length > 0 || (files?.length ?? 0) > 0;
    return isRead || host !== null || (gpus?.each.some((gpu) => gpu.memory_used !== null) ?? false);
  },
  Body,
};

function Body({ model }: { model: Model }) {
  const { report } = model;
  const { memory: readings } = report;
  const threads = usePhases(model);
  const bands = useMemo(() => phaseBands(threads), [threads]);
  const timeline = useTimeline(model);
  return (
    <>
      <PhaseStrip model={model} threads={threads} />
      {timeline ? <MemoryCurves model={model} tracks={timeline.tracks} bands={bands} /> : null}
      {readings ? (
        <>
          <Fragmentation report={report} memory={readings} />
          <h2>Who was there at the peak</h2>
          <Peaks report={report} slices={timeline?.slices} />
          <Readings memory={readings} />
          <Growth report={report} memory={readings} />
        </>
      ) : null}
      <SectionPeaks report={report} />
      <Snapshots report={report} bands={bands} />
    </>
  );
}
