// A table of values as every format shows it: cells know their unit.

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";

import { UNKNOWN, bytes, count, duration, moment, number, percent } from "../data/quantity";
import type { TraceCell, TraceTable } from "../data/trace";
import type { Cell } from "./download";
import { Long, Name, visible } from "./name";
import { type Column, Table } from "./table";

/** Characters of a text that are shown at once. */
const TEXT = 120;

type ValuesTableProps = {
  table: TraceTable;
  /** Tells it from other tables of the page. */
  id: string;
  /** So many rows are shown before all are asked for. */
  first?: number;
  /** Stands in its head. */
  tools?: ComponentChildren;
};

export function ValuesTable({ table, id, first, tools }: ValuesTableProps) {
  const columns = useMemo(() => columnsOf(table), [table]);
  return (
    <>
      <Table id={id} caption={visible(table.title)} columns={columns} rows={table.rows} leftOut={table.n_left_out} first={first} tools={tools} />
      {table.notes.map((note, at) => (
        <p key={at} class="muted table-note">
          <Name text={note} limit={600} />
        </p>
      ))}
    </>
  );
}

function columnsOf({ columns, rows }: TraceTable): Column<TraceCell[]>[] {
  return columns.map(({ key, title }, at) => ({
    id: key,
    title,
    value: (row) => valueOf(row[at]),
    show: (row) => shown(row[at]),
    isNumber: rows.some((row) => isFigure(row[at])) && !rows.some((row) => row[at]?.unit === "text"),
  }));
}

function isFigure(cell: TraceCell | undefined): boolean {
  return cell !== undefined && cell.unit !== "text" && cell.unit !== "absent";
}

function valueOf(cell: TraceCell | undefined): Cell {
  return cell === undefined || cell.unit === "absent" ? null : cell.value;
}

function shown(cell: TraceCell | undefined): ComponentChildren {
  if (cell === undefined || cell.unit === "absent" || cell.value === null) {
    return UNKNOWN;
  }
  switch (cell.unit) {
    case "text":
      return <Long text={cell.value} limit={TEXT} />;
    case "count":
      return count(cell.value);
    case "duration":
    case "mean":
      return duration(cell.value);
    case "moment":
      return moment(cell.value);
    case "bytes":
      return bytes(cell.value);
    case "bytes_per_second":
      return `${bytes(cell.value)}/s`;
    case "ratio":
      return percent(cell.value);
    default:
      return number(cell.value);
  }
}
