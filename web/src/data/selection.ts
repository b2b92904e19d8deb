// What is selected, the same in every view: a section, one call of it, a range of time. It is in the address: `section=attention`,
// `row=17` (the number of a slice), `range=1000-2000` (nanoseconds).

import { type Slices, SUMMARY } from "./slices";
import { currentState, setState, useAddress, type Window } from "./state";

let names: readonly string[] = [];
let sections = new Set<string>();

/** Gives the names of all call paths, by their numbers: nothing else can be selected. */
export function knowSections(all: readonly string[]): void {
  names = all;
  sections = new Set(all.filter(Boolean).map(sectionOf));
}

/** What a GPU does for a section is the section's, and so is what tables say of it as a loop. */
export function sectionOf(name: string): string {
  return name.replace(/ \((GPU|iteration)\)$/, "");
}

/** The section that a name stands for; undefined for what is none. */
export function sectionNamed(name: string | undefined): string | undefined {
  const section = name && sectionOf(name);
  return section && sections.has(section) ? section : undefined;
}

/** The section that a cell of a table names. Names of call paths carry marks there: `~` beside its parent, failed calls, `*` is open. */
export function sectionInCell(name: string | undefined): string | undefined {
  return sectionNamed(name) ?? sectionNamed(name && unmarked(name));
}

/** As marked_name of marey-report marks it: `~fetch`, `step (iteration) (2 failed) *`. */
function unmarked(name: string): string {
  return name.replace(/ \*$/, "").replace(/ \(\d+ failed\)$/, "").replace(/ \((GPU|iteration)\)$/, "").replace(/^~/, "");
}

/** The section of a call path. */
export function sectionAt(path: number | null): string | undefined {
  return path === null ? undefined : sectionNamed(names[path]);
}

/** Selects a section; the selected one, or none, takes that back. */
export function select(section: string | null): void {
  setState({ section: section === currentState()["section"] ? null : section, row: null });
}

/** Selects one call, and its section; null: none. */
export function selectSlice(slices: Slices, slice: number | null): void {
  const isOne = slice !== null && !(slices.flags[slice]! & SUMMARY);
  setState({ row: slice === null ? null : String(slice), section: (isOne && sectionNamed(slices.name(slice))) || null });
}

export function clearSelection(): void {
  setState({ section: null, row: null, range: null });
}

/** The selected section, for a component that is drawn anew when another one is. */
export function useSection(): string | undefined {
  return sectionNamed(useAddress()["section"]);
}

/** The selected range, likewise. */
export function useRange(): Window | null {
  return rangeOf(useAddress());
}

export function rangeOf({ range = "" }: Readonly<Record<string, string>>): Window | null {
  const [from = NaN, to = NaN] = range === "" ? [] : range.split("-").map(Number);
  return to >= from ? [from, to] : null;
}
