// How much a finding matters, in colour and in words.

import type { Grade } from "../data/report";

const TONES: Record<Grade, string> = { high: "bad", medium: "warn", low: "calm" };

export function Severity({ grade }: { grade: Grade }) {
  return <span class={`severity ${TONES[grade]}`}>{grade}</span>;
}
