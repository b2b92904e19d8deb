// How far the figures can be trusted.

import type { NodeId } from "./value";

export type Quality = {
  is_complete: boolean;
  /** Completed calls, and those that were recorded one by one. */
  n_calls: number;
  n_recorded: number;
  how_measured: string;
  synchronised: { node: NodeId; n_calls: number; is_at_least: boolean }[];
  losses: { kind: string; count: number; meaning: string; is_only_risk: boolean }[];
  warnings: string[];
  open: { node: NodeId; thread: string | null; start_ns: number; so_far_ns: number }[];
  unavailable: { what: string; why: string }[];
};
