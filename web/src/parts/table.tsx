// A table of values as every format shows it: cells know their unit. It can be sorted, searched and exported; order, search and page are
// in the address. What is exported are the figures themselves, not the texts that are shown.

import { type ComponentChildren, createContext } from "preact";
import { useContext, useMemo } from "preact/hooks";

import type { Cell, Table as TableContents } from "../../model/page";
import { sectionInCell, select, useSection } from "../data/selection";
import { setState, useAddress } from "../data/state";
import { change, count, figure, moment, percent, UNKNOWN } from "../data/quantity";
import { TimeLink } from "./controls";
import { Long, Name, Path, visible } from "./name";
import { Swatch } from "./selected";

/** Whether the page is on paper, where nothing can be pressed. */
export const Paper = createContext(false);

/** What is sorted by and exported. */
type Plain = string | number | boolean | null;

type Column = {
  /** In the address and in exports; with its unit: `total_ns`. */
  id: string;
  title: string;
  value: (row: Cell[]) => Plain;
  /** Of the row; none where it is only exported. */
  at: number | null;
  /** Numbers stand to the right. */
  isNumber: boolean;
};

/** What is shown of a table. */
export type Shown = Omit<TableContents, "device">;

type TableProps = {
  table: Shown;
  /** Tells it from other tables of the page: in the address and in file names. */
  id?: string;
  /** What stands above it says what it is, where it has no title. */
  around?: string | undefined;
  /** Stands in its head, before what every table has. */
  tools?: ComponentChildren;
  /** Rows that are shown before all are asked for. */
  first?: number;
  /** What columns mean, shown when pointed at. */
  hints?: Readonly<Record<string, string>>;
};

const FIRST = 20;
const PAGE = 500;
/** Characters of a text that are shown at once. */
const TEXT = 120;
/** Deeper levels are not indented further. */
const MAX_INDENT = 12;
/** On either side of a moment, in the timeline. */
const AROUND_NS = 50e6;
/** Names up to so many characters need no wide column. */
const SHORT_NAME = 16;
/** Shorter tables need no search. */
const SEARCHED = 12;

export function Table({ table, id = table.key, around, tools, first = FIRST, hints = {} }: TableProps) {
  const { rows, notes } = table;
  const address = useAddress();
  const [sorted, direction] = (address[`sort.${id}`] ?? "").split(":");
  const search = address[`find.${id}`] ?? "";
  const columns = useMemo(() => columnsOf(table), [table]);
  const shown = columns.filter(({ at }) => at !== null);
  const found = useMemo(() => matching(rows, columns, search), [rows, columns, search]);
  const ordered = useMemo(
    () => inOrder(found, columns.find((column) => column.id === sorted), direction === "down"),
    [found, columns, sorted, direction],
  );
  // Where a row no longer stands under its parent, it is not indented.
  const isInOrder = !sorted && search === "";
  const isOnPaper = useContext(Paper);
  const isWhole = isOnPaper || ordered.length <= first || address[`rows.${id}`] === "all";
  const pages = isWhole ? Math.max(1, Math.ceil(ordered.length / PAGE)) : 1;
  const selected = useSection();
  const sectionIn = (row: readonly Cell[]) => sectionInCell(nameIn(row[shown[0]?.at ?? 0]));
  const chosen = selected === undefined || isOnPaper ? -1 : ordered.findIndex((row) => sectionIn(row) === selected);
  // The first selected row is among those that are shown: where the address says no page, on the one that is opened; among the first rows
  // only where it is one of the first PAGE.
  const asked = address[`page.${id}`] ?? Math.floor(Math.max(0, chosen) / PAGE) + 1;
  const page = Math.min(pages - 1, Math.max(0, (Number(asked) || 1) - 1));
  const few = Math.max(first, Math.min(chosen + 1, PAGE));
  const [from, to] = isWhole ? [page * PAGE, (page + 1) * PAGE] : [0, few];
  const hasShortNames = useMemo(() => rows.every((row) => String(shown[0]?.value(row) ?? "").length <= SHORT_NAME), [rows, columns]);
  const title = `table-${id}`;
  return (
    <>
      <div class="table">
        <div class="table-head">
          <span id={title} class={table.title !== "" ? "table-title" : "table-title unseen"}>
            {visible(table.title || around || table.key)}
          </span>
          {tools}
          <Tools id={id} columns={columns} rows={ordered} all={rows.length} search={search} />
        </div>
        <div class="table-scroll" tabIndex={0} role="region" aria-labelledby={title}>
          <table aria-labelledby={title} class={hasShortNames ? "short-names" : undefined}>
            <thead>
              <tr>
                {shown.map((column) => (
                  <Heading key={column.id} table={id} column={column} hint={hints[column.id]} order={column.id === sorted ? direction : undefined} />
                ))}
              </tr>
            </thead>
            <tbody>
              {ordered.slice(from, to).map((row, n) => {
                const section = sectionIn(row);
                const isChosen = section !== undefined && section === selected;
                return (
                  <tr key={n} class={isChosen ? "is-chosen" : undefined} onClick={section === undefined ? undefined : (event) => isOnText(event) && select(section)}>
                    {shown.map(({ id, at, isNumber }, place) => {
                      const Element = place === 0 ? "th" : "td";
                      return (
                        <Element key={id} scope={place === 0 ? "row" : undefined} class={isNumber ? "number" : undefined}>
                          {shownCell(row[at ?? 0], isInOrder, place === 0 && section)}
                        </Element>
                      );
                    })}
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
        {isOnPaper && ordered.length > to && (
          <p class="muted">
            the first {count(to)} of {count(ordered.length)} rows
          </p>
        )}
        {ordered.length > few && <More id={id} first={few} n={ordered.length} isWhole={isWhole} />}
        {pages > 1 && <Pages id={id} page={page} pages={pages} n={ordered.length} />}
      </div>
      {notes.map((note, at) => (
        <p key={at} class="muted table-note">
          <Name text={note} limit={600} />
        </p>
      ))}
    </>
  );
}

function Heading({ table, column, hint, order }: { table: string; column: Column; hint: string | undefined; order: string | undefined }) {
  // Numbers are most often asked for from the top, names from the front. A third click gives the given order back.
  const first = column.isNumber ? "down" : "up";
  const next = order === undefined ? first : order === first ? (first === "up" ? "down" : "up") : undefined;
  const spoken = order === undefined ? "none" : order === "down" ? "descending" : "ascending";
  return (
    <th scope="col" class={column.isNumber ? "number" : undefined} aria-sort={spoken}>
      <button
        type="button"
        class="sort"
        title={hint}
        onClick={() => setState({ [`sort.${table}`]: next ? `${column.id}:${next}` : null, [`page.${table}`]: null })}
      >
        {column.title}
        <span class="arrow" aria-hidden="true">
          {order === undefined ? "" : order === "down" ? "▾" : "▴"}
        </span>
      </button>
    </th>
  );
}

type ToolsProps = { id: string; columns: readonly Column[]; rows: readonly Cell[][]; all: number; search: string };

function Tools({ id, columns, rows, all, search }: ToolsProps) {
  const titles = columns.map((column) => column.id);
  const cells = () => rows.map((row) => columns.map((column) => column.value(row)));
  return (
    <span class="tools">
      {(all > SEARCHED || search !== "") && (
        <>
          <span class="muted" role="status">
            {search === "" ? `${count(all)} rows` : `${count(rows.length)} of ${count(all)}`}
          </span>
          <input
            type="search"
            aria-label="Search this table"
            placeholder="Search"
            value={search}
            onInput={(event) => setState({ [`find.${id}`]: event.currentTarget.value || null, [`page.${id}`]: null })}
          />
        </>
      )}
      <button type="button" class="quiet" title="Save what is shown as CSV" onClick={() => download(`${id}.csv`, "text/csv", csv(titles, cells()))}>
        CSV
      </button>
      <button
        type="button"
        class="quiet"
        title="Save what is shown as JSON"
        onClick={() => download(`${id}.json`, "application/json", json(titles, cells()))}
      >
        JSON
      </button>
    </span>
  );
}

/** From the first rows to all, and back. */
function More({ id, first, n, isWhole }: { id: string; first: number; n: number; isWhole: boolean }) {
  return (
    <div class="pages">
      {!isWhole && (
        <span>
          the first {count(first)} of {count(n)} rows
        </span>
      )}
      <button type="button" aria-expanded={isWhole} onClick={() => setState({ [`rows.${id}`]: isWhole ? null : "all", [`page.${id}`]: null })}>
        {isWhole ? `Show only the first ${count(first)}` : `Show all ${count(n)}`}
      </button>
    </div>
  );
}

function Pages({ id, page, pages, n }: { id: string; page: number; pages: number; n: number }) {
  const turn = (to: number) => setState({ [`page.${id}`]: String(to + 1) });
  return (
    <div class="pages">
      <button type="button" disabled={page === 0} onClick={() => turn(page - 1)}>
        Previous
      </button>
      <span>
        rows {count(page * PAGE + 1)} to {count(Math.min(n, (page + 1) * PAGE))} of {count(n)}
      </span>
      <button type="button" disabled={page === pages - 1} onClick={() => turn(page + 1)}>
        Next
      </button>
    </div>
  );
}

/** A table that the page makes itself; its columns by their keys. */
export function ownTable(key: string, title: string, columns: Readonly<Record<string, string>>, rows: Cell[][]): Shown {
  return { key, title, columns: Object.entries(columns).map(([key, title]) => ({ key, title })), rows, notes: [] };
}

/** Those in which something is known, and what programs need to read them. */
function columnsOf({ columns, rows }: Shown): Column[] {
  const has = (at: number, ...units: Cell["unit"][]) => rows.some((row) => units.includes(row[at]?.unit ?? "absent"));
  const isKnown = (at: number) => rows.some((row) => (row[at]?.unit ?? "absent") !== "absent");
  const exported = (id: string, value: Column["value"]): Column => ({ id, title: id, value, at: null, isNumber: false });
  const all = columns.flatMap(({ key, title }, at): Column[] => {
    const column = { id: key, title, at, value: (row: Cell[]) => plain(row[at]), isNumber: isKnown(at) && !has(at, "text", "name", "nested", "path") };
    const depth = has(at, "nested") ? [exported("depth", (row) => (row[at]?.unit === "nested" ? row[at].value[0] : null))] : [];
    return at === 0 || isKnown(at) ? [...depth, column] : [];
  });
  const unitOf = (row: Cell[]) => row.map((cell) => (cell.unit === "figure" || cell.unit === "difference" ? cell.value.unit : null)).find((unit) => unit !== null) ?? null;
  return rows.some(unitOf) ? [...all, exported("unit", unitOf)] : all;
}

function plain(cell: Cell | undefined): Plain {
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

/** The name that a cell says, the last one of a path. */
function nameIn(cell: Cell | undefined): string | undefined {
  switch (cell?.unit) {
    case "text":
    case "name":
      return cell.value;
    case "nested":
      return cell.value[1];
    case "path":
      return cell.value.at(-1);
    default:
      return undefined;
  }
}

/** A press of what is no link or button, and that marks no text. */
function isOnText({ target }: Event): boolean {
  return !(target as Element).closest("a, button") && (getSelection()?.isCollapsed ?? true);
}

/** `section`: the one that the cell names, where it can be selected. */
function shownCell(cell: Cell | undefined, isInOrder: boolean, section: string | false | undefined = false): ComponentChildren {
  if (cell === undefined || cell.unit === "absent" || cell.value === null) {
    return UNKNOWN;
  }
  const swatch = section && <Swatch name={section} />;
  switch (cell.unit) {
    case "text":
      return <>{swatch}<Long text={cell.value} limit={TEXT} /></>;
    case "name":
      return <>{swatch}<Name text={cell.value} limit={TEXT} /></>;
    case "nested": {
      const [depth, name] = cell.value;
      return (
        <span class="indented" style={isInOrder ? { paddingLeft: `${Math.min(depth, MAX_INDENT) * 14}px` } : {}}>
          {swatch}
          <Name text={name} />
        </span>
      );
    }
    case "path":
      return <>{swatch}<Path names={cell.value} /></>;
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
      return <>≈{shownCell(cell.value, isInOrder)}</>;
    case "at_least":
      return <>≥{shownCell(cell.value, isInOrder)}</>;
    case "ratio":
      return <Share ratio={cell.value} />;
    default:
      return figure(cell.value, cell.unit);
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

function matching(rows: readonly Cell[][], columns: readonly Column[], search: string): readonly Cell[][] {
  const wanted = search.toLowerCase();
  if (wanted === "") {
    return rows;
  }
  return rows.filter((row) =>
    columns.some((column) => {
      const value = column.value(row);
      return typeof value === "string" && visible(value).toLowerCase().includes(wanted);
    }),
  );
}

/** Rows by a column; what is unknown stands last either way, and equals keep their order. */
function inOrder(rows: readonly Cell[][], column: Column | undefined, isDown: boolean): readonly Cell[][] {
  if (!column) {
    return rows;
  }
  const keyed = rows.map((row) => ({ row, key: column.value(row) }));
  keyed.sort((a, b) => {
    if (a.key === null || b.key === null) {
      return Number(a.key === null) - Number(b.key === null);
    }
    return (isDown ? -1 : 1) * compare(a.key, b.key);
  });
  return keyed.map(({ row }) => row);
}

const texts = new Intl.Collator("en", { numeric: true });

function compare(a: NonNullable<Plain>, b: NonNullable<Plain>): number {
  return typeof a === "string" && typeof b === "string" ? texts.compare(a, b) : Number(a) - Number(b);
}

/** A table as CSV (RFC 4180); unknown figures are empty cells. */
function csv(titles: readonly string[], rows: readonly (readonly Plain[])[]): string {
  return [titles, ...rows].map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}

/** A table as JSON: a list of objects, a key a column. */
function json(titles: readonly string[], rows: readonly (readonly Plain[])[]): string {
  const objects = rows.map((row) => Object.fromEntries(titles.map((title, at) => [title, row[at] ?? null])));
  return `${JSON.stringify(objects, null, 1)}\n`;
}

/** Hands a text to the browser as a file to be saved. */
function download(name: string, type: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  link.download = name;
  link.click();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function csvCell(cell: Plain): string {
  if (cell === null) {
    return "";
  }
  if (typeof cell !== "string") {
    return String(cell);
  }
  // Spreadsheets take a text that begins so for a formula.
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
