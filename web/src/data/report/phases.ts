// Phases and what they are for.

import type { Interval, NodeId } from "./value";

export type Phases = {
  /** Each row of `sections.tree`. */
  each: Phase[];
  purposes: { purpose: Purpose; covered_ns: number | null; ratio: number | null }[];
};

export type Purpose = "load" | "compile" | "warm_up" | "work";

export type Phase = {
  node: NodeId;
  purpose: Purpose;
  span: Interval | null;
  is_span_exact: boolean;
  /** Share of the span. */
  busy_ratio: number | null;
};
