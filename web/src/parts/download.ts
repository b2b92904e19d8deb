// Tables as files. What is exported are the figures themselves, not the texts that are shown.

export type Cell = string | number | boolean | null;

/** A table as CSV (RFC 4180); unknown figures are empty cells. */
export function csv(titles: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [titles, ...rows].map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}

/** A table as JSON: a list of objects, a key a column. */
export function json(titles: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const objects = rows.map((row) => Object.fromEntries(titles.map((title, at) => [title, row[at] ?? null])));
  return `${JSON.stringify(objects, null, 1)}\n`;
}

/** Hands a text to the browser as a file to be saved. */
export function download(name: string, type: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  link.download = name;
  link.click();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function csvCell(cell: Cell): string {
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
