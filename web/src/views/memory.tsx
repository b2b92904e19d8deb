// Memory: the curve under the phases, who was there at the peak, fragmentation, labelled readings, what sections used, what the program reported.

import { useMemo } from "preact/hooks";

import type { Model } from "../data/page";
import { leftOut } from "../data/left_out";
import { useTimeline } from "../data/use_timeline";
import { AllocationsPart } from "../memory/allocations";
import { MemoryCurves } from "../memory/curves";
import { Peaks } from "../memory/peaks";
import { Fragmentation, Readings } from "../memory/readings";
import { SectionPeaks } from "../memory/section_peaks";
import { Snapshots } from "../memory/snapshots";
import { Resources } from "../memory/used_resources";
import { PhaseStrip, phaseBands, usePhases } from "../parts/phases";
import type { View } from "./view";

export const memory: View = {
  id: "memory",
  title: "Memory",
  isShown: ({ report: { memory: readings, section_peaks, used_resources, activity, snapshot_files: files } }) => {
    const { memory: host, gpus } = activity.telemetry;
    if (activity.allocations !== null) {
      return true;
    }
    const isRead = readings !== null || section_peaks.length > 0 || used_resources.length > 0 || (files?.length ?? 0) > 0;
    return isRead || host !== null || (gpus?.each.some((gpu) => gpu.memory_used !== null) ?? false);
  },
  Body,
};

function Body({ model }: { model: Model }) {
  const { report } = model;
  const { memory: readings, activity } = report;
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
        </>
      ) : null}
      <SectionPeaks report={report} />
      <Resources report={report} />
      {activity.allocations ? (
        <AllocationsPart allocations={activity.allocations} leftOut={(list) => leftOut(model, `activity.allocations.${list}`)} />
      ) : null}
      <Snapshots report={report} bands={bands} />
    </>
  );
}
