// What a page does not have of its run: long lists are cut, and short slices put together. Figures count all of them.

import type { Model } from "./page";

/** What the entries of lists are, by the end of the list's place in the report. */
const NAMES: [string, string][] = [
  ["activity.stages.each", "stages"],
  ["gpu_times.sections", "GPU times of sections"],
  ["phases.each", "phases"],
  ["sections.by_name", "names of sections"],
  ["sections.tree", "call paths"],
  ["iterations.*.series", "turns of loops"],
  ["diffusion.steps.each", "denoising steps"],
  ["diffusion.blocks.each", "blocks of frames"],
  ["diffusion.delivery.each", "deliveries"],
  ["section_peaks", "memory peaks of sections"],
  ["used_resources", "resources of sections"],
  ["attributes.by_section", "values of sections"],
  ["activity.events", "events"],
  ["activity.cache_timeline", "uses of caches"],
  ["timeline", "points of curves"],
  ["series", "points of curves"],
  ["windows.each", "windows of profilers"],
  ["sessions", "sessions"],
];

/** What the entries of a list of the report are, in words. */
export function listName(list: string): string {
  const known = NAMES.find(([end]) => list === end || list.endsWith(`.${end}`))?.[1];
  const name = known ?? `entries of ${list.replaceAll(".each", "").replaceAll(/[._*]+/g, " ").trim()}`;
  return list.startsWith("sessions.") ? `${name} in sessions` : name;
}

/** Entries of a list of the report, by its keys, that the page does not have. */
export function leftOut({ left_out }: Model, list: string): number {
  return left_out.find((short) => short.list === list)?.left_out ?? 0;
}
