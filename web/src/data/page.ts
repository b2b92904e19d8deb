// What a page carries: the model as gzip'd JSON, and columns of slices as gzip'd bytes, both in base64.

import { embedded } from "./embedded";
import type { Comparison } from "./comparison";
import type { RanksModel } from "./ranks";
import type { Report } from "./report";
import type { TimelineModel } from "./slices";
import type { TraceFile } from "./trace";

/** A page about a run. */
export type Model = {
  kind: "run";
  /** As marey-report's model serializes it, long lists cut. */
  report: Report;
  /** Which lists of the report are not whole: `*` stands for entries of lists. Figures beside them are of all entries. */
  left_out: ShortList[];
  /** What the page is called; null: as its run. A page about a trace has one. */
  title: string | null;
  /** What traces say: those beside the run, or that the page is about. */
  traces: TraceFile[];
  /** Slices and points of it are in the page's columns. */
  timeline: TimelineModel;
};

/** Whether the page is about a trace, not about a run that may have traces beside it. */
export function isOfTrace({ title, traces }: Model): boolean {
  return title !== null && traces.length > 0;
}

export type ShortList = { list: string; kept: number; left_out: number };

/** A page about two runs. */
export type ComparisonModel = { kind: "comparison"; comparison: Comparison };

/** Reads the model that the page carries. */
export async function readModel(): Promise<Model | ComparisonModel | RanksModel> {
  const bytes = await embedded("marey-model");
  return JSON.parse(new TextDecoder().decode(bytes)) as Model | ComparisonModel | RanksModel;
}
