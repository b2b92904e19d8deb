// A table of values as every format shows it: cells know their unit.

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";

import type { Cell as Value, Table as TableContents } from "../../model/page";
import { figure } from "../data/figure";
import { UNKNOWN, bytes, change, count, duration, growth, moment, number, percent, rate, short } from "../data/quantity";
import { useAddress } from "../data/state";
import type { Cell } from "./download";
import { TimeLink } from "./link";
import { Long, Name, Path, visible } from "./name";
import { type Column, Table } from "./table";

/** Rows that are shown before all are asked for. */
const FIRST = 20;
/** Characters of a text that are shown at once. */
const TEXT = 120;
/** Deeper levels are not indented further. */
const MAX_INDENT = 12;
/** On either side of a moment, in the timeline. */
const AROUND_NS = 50e6;

type ValuesTableProps = {
  table: TableContents;
  /** Tells it from other tables of the page. */
  id: string;
  /** What stands above it says what it is, where it has no title. */
  around?: string | undefined;
  /** Stands in its head. */
  tools?: ComponentChildren;
};

export function ValuesTable({ table, id, around, tools }: ValuesTableProps) {
  const address = useAddress();
  // Where a row no longer stands under its parent, it is not indented.
  const isInOrder = !address[`sort.${id}`] && !address[`find.${id}`];
  const columns = useMemo(() => columnsOf(table, isInOrder), [table, isInOrder]);
  return (
    <>
      <Table id={id} caption={visible(table.title || around || table.key)} isTitled={table.title !== ""} columns={columns} rows={table.rows} first={FIRST} tools={tools} />
      {table.notes.map((note, at) => (
        <p key={at} class="muted table-note">
          <Name text={note} limit={600} />
        </p>
      ))}
    </>
  );
}

/** Those in which something is known, and what programs need to read them. */
function columnsOf({ columns, rows }: TableContents, isInOrder: boolean): Column<Value[]>[] {
  const has = (at: number, ...units: Value["unit"][]) => rows.some((row) => units.includes(row[at]?.unit ?? "absent"));
  const isKnown = (at: number) => rows.some((row) => (row[at]?.unit ?? "absent") !== "absent");
  const all = columns.flatMap(({ key, title }, at): Column<Value[]>[] => {
    const column: Column<Value[]> = {
      id: key,
      title,
      value: (row) => plain(row[at]),
      show: (row) => shown(row[at], isInOrder),
      isNumber: isKnown(at) && !has(at, "text", "name", "nested", "path"),
    };
    const depth = has(at, "nested") ? [exported("depth", (row) => (row[at]?.unit === "nested" ? row[at].value[0] : null))] : [];
    return at === 0 || isKnown(at) ? [...depth, column] : [];
  });
  const isFigure = (cell: Value) => cell.unit === "figure" || cell.unit === "difference";
  const unitOf = (row: Value[]) => {
    const cell = row.find(isFigure);
    return cell?.unit === "figure" || cell?.unit === "difference" ? cell.value.unit : null;
  };
  return rows.some((row) => row.some(isFigure)) ? [...all, exported("unit", unitOf)] : all;
}

function exported(id: string, value: (row: Value[]) => Cell): Column<Value[]> {
  return { id, title: id, value, isExportOnly: true };
}

/** What is sorted by and exported. */
function plain(cell: Value | undefined): Cell {
  if (cell === undefined || cell.unit === "absent") {
    return null;
  }
  switch (cell.unit) {
    case "figure":
    case "difference":
      return cell.value.value;
    case "nested":
      return cell.value[1];
    case "path":
      return cell.value.join(" / ");
    case "change_between":
      return cell.value.join(" to ");
    case "about":
    case "at_least":
      return plain(cell.value);
    default:
      return cell.value;
  }
}

function shown(cell: Value | undefined, isInOrder: boolean): ComponentChildren {
  if (cell === undefined || cell.unit === "absent" || cell.value === null) {
    return UNKNOWN;
  }
  switch (cell.unit) {
    case "text":
      return <Long text={cell.value} limit={TEXT} />;
    case "name":
      return <Name text={cell.value} limit={TEXT} />;
    case "nested": {
      const [depth, name] = cell.value;
      return (
        <span class="indented" style={isInOrder ? { paddingLeft: `${Math.min(depth, MAX_INDENT) * 14}px` } : {}}>
          <Name text={name} />
        </span>
      );
    }
    case "path":
      return <Path names={cell.value} />;
    case "moment":
      return (
        <TimeLink from={Math.max(0, cell.value - AROUND_NS)} to={cell.value + AROUND_NS}>
          {moment(cell.value)}
        </TimeLink>
      );
    case "figure":
      return figure(cell.value.value, cell.value.unit);
    case "difference":
      return `${(cell.value.value ?? 0) > 0 ? "+" : ""}${figure(cell.value.value, cell.value.unit)}`;
    case "change_between":
      return `${change(cell.value[0])} … ${change(cell.value[1])}`;
    case "about":
      return <>≈{shown(cell.value, isInOrder)}</>;
    case "at_least":
      return <>≥{shown(cell.value, isInOrder)}</>;
    case "ratio":
      return <Share ratio={cell.value} />;
    default:
      return MEASURED[cell.unit](cell.value);
  }
}

/** A share, with as much of its cell filled. */
function Share({ ratio }: { ratio: number }) {
  return (
    <span class="share" style={{ "--part": `${Math.min(1, Math.max(0, ratio)) * 100}%` }}>
      {percent(ratio)}
    </span>
  );
}

const MEASURED: Record<"count" | "duration" | "mean" | "bytes" | "bytes_per_second" | "number" | "parameters" | "per_second" | "growth" | "change", (value: number) => string> = {
  count,
  duration,
  mean: duration,
  bytes,
  bytes_per_second: (speed) => `${bytes(speed)}/s`,
  number,
  parameters: short,
  per_second: (value) => rate(value, ""),
  growth,
  change,
};
