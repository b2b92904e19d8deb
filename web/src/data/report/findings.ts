// Findings with their evidence.

import type { Interval, NodeId } from "./value";

export type Findings = {
  /** Most severe first. */
  found: Finding[];
  passed: { rule: string; checks: string; what: string }[];
  unchecked: { rule: string; checks: string; why: string }[];
};

export type Grade = "low" | "medium" | "high";

export type Finding = {
  rule: string;
  category: "performance" | "memory" | "io" | "thermal" | "streaming" | "diffusion" | "cache" | "scaling";
  severity: Grade;
  issue: string;
  remedy: string;
  evidence: { what: string; figure: { value: number; unit: FigureUnit }; limit: number | null }[];
  intervals: Interval[];
  node: NodeId | null;
  saving: {
    estimate_ns: number | null;
    at_most_ns: number | null;
    at_most_bytes: number | null;
    how: string;
  } | null;
  confidence: Grade;
};

export type FigureUnit =
  | "count"
  | "ns"
  | "bytes"
  | "bytes_per_second"
  | "ratio"
  | "per_second"
  | "celsius"
  | "watts"
  | "joules"
  | "hertz"
  | "number";
