// A table that can be sorted, searched and exported. Order, search and page are in the address.

import type { ComponentChildren } from "preact";
import { useContext, useMemo } from "preact/hooks";

import { setState, useAddress } from "../data/state";
import { count } from "../data/quantity";
import { type Cell, csv, download, json } from "./download";
import { Long, visible } from "./name";
import { Paper } from "./shown";

export type Column<Row> = {
  /** In the address and in exports; with its unit: `total_ns`. */
  id: string;
  /** Above the column. */
  title: string;
  /** What it means, shown when pointed at. */
  hint?: string;
  /** The figure itself: what is sorted by and exported. */
  value: (row: Row) => Cell;
  /** The figure as it is shown; the value itself when absent. */
  show?: (row: Row) => ComponentChildren;
  /** Numbers stand to the right. */
  isNumber?: boolean;
  /** Not shown, only exported. */
  isExportOnly?: boolean;
};

export type TableProps<Row> = {
  /** In the address and in file names. */
  id: string;
  caption: string;
  /** False where what stands above it says what it is. */
  isTitled?: boolean;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** What a row looks like: a class. */
  rowClass?: (row: Row) => string | undefined;
  /** So many rows are shown before all are asked for; all when absent. */
  first?: number | undefined;
  /** Stands in the head, before what every table has. */
  tools?: ComponentChildren;
};

const PAGE = 500;
/** Names up to so many characters need no wide column. */
const SHORT_NAME = 16;
/** Shorter tables need no search. */
const SEARCHED = 12;

export function Table<Row>({ id, caption, isTitled = true, columns, rows, rowClass, first, tools }: TableProps<Row>) {
  const address = useAddress();
  const [sorted, direction] = (address[`sort.${id}`] ?? "").split(":");
  const search = address[`find.${id}`] ?? "";
  const shown = columns.filter((column) => !column.isExportOnly);
  const found = useMemo(() => matching(rows, columns, search), [rows, columns, search]);
  const ordered = useMemo(
    () => inOrder(found, columns.find((column) => column.id === sorted), direction === "down"),
    [found, columns, sorted, direction],
  );
  const isOnPaper = useContext(Paper);
  const isWhole = isOnPaper || first === undefined || ordered.length <= first || address[`rows.${id}`] === "all";
  const pages = isWhole ? Math.max(1, Math.ceil(ordered.length / PAGE)) : 1;
  const page = Math.min(pages - 1, Math.max(0, (Number(address[`page.${id}`]) || 1) - 1));
  const [from, to] = isWhole ? [page * PAGE, (page + 1) * PAGE] : [0, first];
  const hasShortNames = useMemo(() => rows.every((row) => shown[0] && String(shown[0].value(row) ?? "").length <= SHORT_NAME), [rows, columns]);
  const title = `table-${id}`;
  return (
    <div class="table">
      <div class="table-head">
        <span id={title} class={isTitled ? "table-title" : "table-title unseen"}>
          {caption}
        </span>
        {tools}
        <Tools id={id} columns={columns} rows={ordered} all={rows.length} search={search} />
      </div>
      <div class="table-scroll" tabIndex={0} role="region" aria-labelledby={title}>
        <table aria-labelledby={title} class={hasShortNames ? "short-names" : undefined}>
          <thead>
            <tr>
              {shown.map((column) => (
                <Heading key={column.id} table={id} column={column} order={column.id === sorted ? direction : undefined} />
              ))}
            </tr>
          </thead>
          <tbody>
            {ordered.slice(from, to).map((row, at) => (
              <tr key={at} class={rowClass?.(row)}>
                {shown.map((column, place) => {
                  const content = column.show ? column.show(row) : plain(column.value(row));
                  const side = column.isNumber ? "number" : undefined;
                  return place === 0 ? (
                    <th key={column.id} scope="row" class={side}>
                      {content}
                    </th>
                  ) : (
                    <td key={column.id} class={side}>
                      {content}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {isOnPaper && ordered.length > to && (
        <p class="muted">
          the first {count(to)} of {count(ordered.length)} rows
        </p>
      )}
      {first !== undefined && ordered.length > first && <More id={id} first={first} n={ordered.length} isWhole={isWhole} />}
      {pages > 1 && <Pages id={id} page={page} pages={pages} n={ordered.length} />}
    </div>
  );
}

function Heading<Row>({ table, column, order }: { table: string; column: Column<Row>; order: string | undefined }) {
  // Numbers are most often asked for from the top, names from the front. A third click gives the given order back.
  const first = column.isNumber ? "down" : "up";
  const next = order === undefined ? first : order === first ? (first === "up" ? "down" : "up") : undefined;
  const spoken = order === undefined ? "none" : order === "down" ? "descending" : "ascending";
  return (
    <th scope="col" class={column.isNumber ? "number" : undefined} aria-sort={spoken}>
      <button
        type="button"
        class="sort"
        title={column.hint}
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

type ToolsProps<Row> = {
  id: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  all: number;
  search: string;
};

function Tools<Row>({ id, columns, rows, all, search }: ToolsProps<Row>) {
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
  const turn = (to: number) => setState({ [`page.${id}`]: to > 0 ? String(to + 1) : null });
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

function plain(value: Cell): ComponentChildren {
  return value === null ? "-" : typeof value === "string" ? <Long text={value} /> : String(value);
}

function matching<Row>(rows: readonly Row[], columns: readonly Column<Row>[], search: string): readonly Row[] {
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
function inOrder<Row>(rows: readonly Row[], column: Column<Row> | undefined, isDown: boolean): readonly Row[] {
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

function compare(a: string | number | boolean, b: string | number | boolean): number {
  return typeof a === "string" && typeof b === "string" ? texts.compare(a, b) : Number(a) - Number(b);
}
