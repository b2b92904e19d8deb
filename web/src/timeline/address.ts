// The timeline in the page's address: `from`, `to`, `q` for the search, `row` for the slice that is selected.

import { currentState, onAddressChange, setState } from "../data/state";
import type { Timeline } from "./timeline";

/** The address follows when nothing has moved for so many milliseconds: browsers limit how often it may change. */
const REST = 150;

/** Does what the address says, and keeps it true, until the returned function is called. */
export function followAddress(timeline: Timeline, onSearch: (query: string) => void): () => void {
  let written = "";
  let timer = 0;
  const read = () => {
    const { view, from, to, q = "", row } = currentState();
    if (view !== "timeline" || key(from, to, q, row) === written) {
      return;
    }
    written = key(from, to, q, row);
    if ((timeline.search?.query ?? "") !== q) {
      onSearch(q);
    }
    if (row !== undefined) {
      timeline.reveal(Number(row));
    }
    if (from !== undefined && to !== undefined) {
      timeline.show(Number(from), Number(to));
    } else if (row === undefined) {
      timeline.showAll();
    }
  };
  const write = () => {
    timer = 0;
    if (currentState().view !== "timeline") {
      return;
    }
    const { time, search, selected } = timeline;
    const from = time.isAll ? undefined : String(Math.round(time.from));
    const to = time.isAll ? undefined : String(Math.round(time.to));
    const row = selected === null ? undefined : String(selected);
    const now = key(from, to, search?.query ?? "", row);
    if (now !== written) {
      written = now;
      setState({ from: from ?? null, to: to ?? null, q: search?.query ?? null, row: row ?? null });
    }
  };
  const ending = onAddressChange(read);
  read();
  timeline.onMove = () => {
    clearTimeout(timer);
    timer = setTimeout(write, REST) as unknown as number;
  };
  return () => {
    clearTimeout(timer);
    timeline.onMove = () => {};
    ending();
  };
}

function key(from: string | undefined, to: string | undefined, q: string, row: string | undefined): string {
  return [from, to, q, row].join("&");
}
