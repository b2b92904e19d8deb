// The timeline in the page's address: `from`, `to`, `q` for the search, `row` for the slice that is selected, `range` for the stretch that
// is summed up: `range=1000-2000`.

import { currentState, onAddressChange, setState } from "../data/state";
import type { Timeline } from "./timeline";

/** The address follows when nothing has moved for so many milliseconds: browsers limit how often it may change. */
const REST = 150;

const KEYS = ["from", "to", "q", "row", "range"] as const;

type Place = Readonly<Record<(typeof KEYS)[number], string | null>>;

/** Does what the address says, and keeps it true, until the returned function is called. */
export function followAddress(timeline: Timeline, onSearch: (query: string) => void): () => void {
  let written = "";
  let timer = 0;
  const read = () => {
    const state = currentState();
    const { from, to, q = "", row, range } = state;
    const said = JSON.stringify(KEYS.map((key) => state[key] ?? null));
    if (state.view !== "timeline" || said === written) {
      return;
    }
    written = said;
    if ((timeline.search?.query ?? "") !== q) {
      onSearch(q);
    }
    const [begin = NaN, end = NaN] = (range ?? "").split("-").map(Number);
    timeline.choose(end >= begin ? { from: begin, to: end } : null);
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
    const place = placeOf(timeline);
    const now = JSON.stringify(KEYS.map((key) => place[key]));
    if (currentState().view === "timeline" && now !== written) {
      written = now;
      setState(place);
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

function placeOf({ time, search, selected, chosen }: Timeline): Place {
  return {
    from: time.isAll ? null : String(Math.round(time.from)),
    to: time.isAll ? null : String(Math.round(time.to)),
    q: search?.query ?? null,
    row: selected === null ? null : String(selected),
    range: chosen && `${Math.round(chosen.from)}-${Math.round(chosen.to)}`,
  };
}
