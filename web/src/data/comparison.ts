// A comparison as `marey compare --format json` has it: docs/schema/comparison.schema.json. What is not known is null.

import type { FigureUnit } from "./report";

export type Verdict = "same" | "better" | "worse" | "different" | "cannot_tell" | "new" | "gone" | "renamed";

/** What something is of: a kind, and the names that belong to it. */
export type Subject = {
  kind:
    | "run"
    | "path"
    | "name"
    | "loop"
    | "memory"
    | "memory_during"
    | "gpu"
    | "rate"
    | "cache"
    | "kernel"
    | "kernel_class"
    | "transfer"
    | "phase"
    | "attention"
    | "idle_cause";
  path: string[] | null;
  name: string | null;
};

/** Times are seconds. */
export type Unit = Exclude<FigureUnit, "ns"> | "seconds";

export type Observed = { value: number; min: number; max: number; samples: number };

export type Change = {
  difference: number;
  ratio: number | null;
  interval: [number, number] | null;
  p_value: number | null;
  adjusted_p_value: number | null;
};

export type Measure = {
  kind: string;
  area: "time" | "memory" | "io" | "machine" | "generation" | "cache" | "device";
  meaning: string;
  subject: Subject;
  unit: Unit;
  better: "less" | "more" | "neither";
  baseline: Observed | null;
  candidate: Observed | null;
  change: Change | null;
  basis: "repeats" | "calls" | "single_values";
  verdict: Verdict;
  confidence: "low" | "medium" | "high";
  reason: string;
  impact_s: number | null;
};

export type Side = {
  path: string;
  n_runs: number;
  n_unfinished: number;
  n_with_losses: number;
  wall_s: number | null;
  ranks: number[];
  unreadable: string[];
};

export type Decided = { basis: Measure["basis"]; tests: number };

export type Headline = {
  verdict: Verdict;
  what: string;
  text: string;
  subject: Subject;
  figures: { kind: string; subject: Subject; unit: Unit; baseline: number | null; candidate: number | null }[];
  measure: number;
};

export type SectionMatch = { path: string[]; candidate_path: string[] | null; presence: Verdict; is_loop: boolean };

export type Obstacle = { verdict: Verdict; text: string };

export type Comparison = {
  verdict: Verdict;
  obstacles: Obstacle[];
  passed: boolean;
  baseline: Side;
  candidate: Side;
  environment: { category: string; name: string; baseline: string[]; candidate: string[] }[];
  unknown_environment: string[];
  headline: Headline[];
  sections: SectionMatch[];
  measures: Measure[];
  decided: Decided;
  notes: string[];
};
