// Call paths by number.

import type { NodeId, Report, SectionRow } from "./report";

export class Places {
  readonly #rows: Map<NodeId, SectionRow>;

  constructor(report: Report) {
    this.#rows = new Map(report.sections.tree.map((row) => [row.node, row]));
  }

  row(node: NodeId): SectionRow | undefined {
    return this.#rows.get(node);
  }

  /** Names from the top level down; empty when the report has no row for it. */
  path(node: NodeId | null): string[] {
    const names: string[] = [];
    for (let row = node === null ? undefined : this.row(node); row; row = row.parent === null ? undefined : this.row(row.parent)) {
      names.unshift(row.name);
    }
    return names;
  }
}

const known = new WeakMap<Report, Places>();

/** The call paths of a report, made once. */
export function placesOf(report: Report): Places {
  const places = known.get(report) ?? new Places(report);
  known.set(report, places);
  return places;
}
