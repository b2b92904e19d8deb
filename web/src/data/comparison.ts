// The shape of a comparison, as marey-analysis serializes it. What is not known is null.

import type { FigureUnit } from "./report";

export type Verdict = "same" | "better" | "worse" | "different" | "cannot_tell" | "new" | "gone" | "renamed";

export type Subject =
  | "run"
  | { path: string[] }
  | { name: string }
  | { loop: string }
  | { memory: string }
  | { memory_during: { path: string[]; source: string } }
  | { gpu: string }
  | { rate: string }
  | { cache: string }
  | { kernel: string }
  | { kernel_class: string }
  | { transfer: string }
  | { phase: string }
  | { attention: string }
  | { idle_cause: string };

export type Observed = { value: number; min: number; max: number; n_samples: number };

export type Change = {
  difference: number;
  ratio: number | null;
  interval: [number, number] | null;
  p_value: number | null;
  adjusted_p_value: number | null;
};

export type Measure = {
  kind: string;
  subject: Subject;
  unit: FigureUnit;
  better: "less" | "more" | "neither";
  baseline: Observed | null;
  candidate: Observed | null;
  change: Change | null;
  basis: "repeats" | "calls" | "single_values";
  verdict: Verdict;
  confidence: "low" | "medium" | "high";
  reason: string;
  impact_ns: number | null;
};

export type Side = { n_runs: number; n_unfinished: number; wall_ns: number | null; n_with_losses: number };

export type Headline = {
  verdict: Verdict;
  what: string;
  subject: Subject;
  figures: { kind: string; subject: Subject; unit: FigureUnit; baseline: number | null; candidate: number | null }[];
  measure: number;
};

export type SectionMatch = { path: string[]; candidate_path: string[] | null; presence: Verdict; is_loop: boolean };

export type Obstacle = { verdict: Verdict; text: string };

export type Comparison = {
  verdict: Verdict;
  obstacles: Obstacle[];
  basis: Measure["basis"];
  baseline: Side;
  candidate: Side;
  environment: { category: string; name: string; baseline: string[]; candidate: string[] }[];
  unknown_environment: string[];
  headline: Headline[];
  sections: SectionMatch[];
  measures: Measure[];
  n_tests: number;
  notes: string[];
};
