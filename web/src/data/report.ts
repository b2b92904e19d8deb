// The shape of a report, as marey-report's model serializes it. Times are nanoseconds since the start of the run, sizes
// bytes, ratios 0 to 1; what is not known is null. Names are as the user gave them: they are shown through `parts/name`.

import type { Activity, SessionFacts, SessionScope } from "./report/activity";
import type { Pipeline } from "./report/pipelines";
import type { Phases } from "./report/phases";
import type { Quality } from "./report/quality";
import type { Attributed, Counter, Memory, UsedResources } from "./report/readings";
import type { RunFacts, RunStatus } from "./report/run";
import type { GpuTimes, Iterations, SectionPeak, Sections } from "./report/sections";
import type { SnapshotFile } from "./snapshot";

export type * from "./report/activity";
export type * from "./report/diffusion";
export type * from "./report/findings";
export type * from "./report/machine";
export type * from "./report/phases";
export type * from "./report/pipelines";
export type * from "./report/quality";
export type * from "./report/readings";
export type * from "./report/run";
export type * from "./report/sections";
export type * from "./report/value";
export type * from "./report/windows";

export type Report = {
  run: RunFacts;
  status: RunStatus;
  sections: Sections;
  phases: Phases;
  /** Each loop. */
  iterations: Iterations[];
  memory: Memory | null;
  /** GPU time of sections; null when none was measured. */
  gpu_times: GpuTimes | null;
  /** Most that torch's allocator held during sections. */
  section_peaks: SectionPeak[];
  /** What outer sections used. */
  used_resources: UsedResources[];
  counters: Counter[];
  attributes: Attributed;
  activity: Activity;
  /** The session that the report is about; null when it is about the whole run. */
  session: SessionScope | null;
  /** In the order of their first calls. */
  pipelines: Pipeline[];
  sessions: SessionFacts[];
  under_no_section_ratio: number | null;
  /** Memory snapshots that lie beside the capture; absent when there are none. */
  snapshot_files?: SnapshotFile[];
  quality: Quality;
};
