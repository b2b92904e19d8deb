// What each rank did when, one row a rank on the common axis. Dragging zooms; so do the keys of the timeline.

import { useMemo, useState } from "preact/hooks";

import type { JobPage } from "../../model/page";
import { count, counted, duration, moment } from "../data/quantity";
import type { DrawnJob } from "../data/ranks";
import { useWindow, zoomByKey, zoomOut, zoomTo } from "../data/state";
import { arrowOf, Canvas, PLOT_LEFT, plotOf, revealRow, rowLayout, spanOf, useView } from "../parts/canvas";
import { WholeButton } from "../parts/controls";
import { Notes } from "../parts/heatmap";
import { cut, visible } from "../parts/name";
import { type Colour, cssColour } from "../parts/palette";
import { AXIS, drawStrips, pieceAt, type StripRow } from "./strip_drawing";

const COMMUNICATION: Colour = 1;
const OTHERS: Colour = "muted";
const STAGES: readonly Colour[] = [0, 2, 3, 4, 5, 6, 7, 8, 9];

export function Strips({ drawn, places }: { drawn: DrawnJob; places: readonly number[] }) {
  const { job, strips } = drawn;
  const { names, communication } = job.strips;
  const rows = useMemo(() => stripRows(drawn, places), [drawn, places]);
  const colours = useMemo(() => coloursOf(names, communication), [names, communication]);
  const wall = Math.max(1, job.span_ns);
  const { window, isZoomed } = useWindow(wall);
  const view = useView();
  const [at, setAt] = useState<{ row: number; piece: number } | null>(null);
  const layout = rowLayout(rows.length, AXIS, 20, view);
  const span = spanOf(window, view.width);
  if (strips.every(({ start }) => start.length === 0)) {
    return (
      <section class="part">
        <h2>What ranks did when</h2>
        <p class="muted">No file says what ranks did when.</p>
      </section>
    );
  }
  const keyed = (key: string) => {
    const move = arrowOf(key);
    if (!move) {
      return zoomByKey(key, window, wall);
    }
    const [down, right] = move;
    const row = at ? Math.max(0, Math.min(rows.length - 1, at.row + down)) : layout.first;
    const last = (rows[row]?.strip?.start.length ?? 0) - 1;
    setAt({ row, piece: Math.max(Math.min(0, last), Math.min(last, at ? Math.max(0, at.piece) + right : 0)) });
    revealRow(view, layout, row);
    return true;
  };
  return (
    <section class="part" data-part="strips">
      <h2>
        What ranks did when{" "}
        <span class="muted">
          {isZoomed ? `${moment(window[0])} to ${moment(window[1])}` : `${duration(wall)} from the first start to the last end`}{" "}
          <WholeButton isZoomed={isZoomed} of="job" />
        </span>
      </h2>
      <div class="heatmap strips">
        <Canvas
          view={view}
          class="heatmap-scroll"
          label={`What ${counted(strips.length, "rank", "ranks")} did over ${duration(wall)}. Arrow keys go from stage to stage; w and s zoom, a and d move, 0 shows all.`}
          height={AXIS + layout.seen}
          full={AXIS + layout.full}
          draw={(ctx, palette) => drawStrips(ctx, palette, { rows, names, colours, job, span, layout, at })}
          onPoint={(point) => {
            const row = point && point.y >= AXIS ? Math.floor((point.y - AXIS + layout.top) / layout.height) : -1;
            setAt(point && rows[row] ? { row, piece: point.x < PLOT_LEFT ? -1 : pieceAt(rows[row].strip, span.at(point.x)) } : null);
          }}
          plotted={plotOf(wall, view.width)}
          onSpan={(from, to) => zoomTo(span.at(from), span.at(to), wall)}
          onDblClick={zoomOut}
          onKey={keyed}
        />
        <p class="heatmap-foot">
          <span class="rank-legend">
            {legendOf(names, colours).map(([name, colour]) => (
              <span key={name}>
                <i class="faded" style={{ "--tone": cssColour(colour) }} /> <bdi>{name}</bdi>
              </span>
            ))}
          </span>
          <output class="heatmap-cell" aria-live="polite">
            {at ? described(drawn, rows[at.row], at.piece) : ""}
          </output>
        </p>
      </div>
      <Notes of={notesOf(drawn)} />
    </section>
  );
}

/** The colour of each name, and last that of all others: communication has one of its own, the longest other stages one each. */
function coloursOf(names: readonly string[], communication: readonly number[]): Colour[] {
  let stage = 0;
  const colours = names.map((_, at): Colour => (communication.includes(at) ? COMMUNICATION : (STAGES[stage++] ?? OTHERS)));
  return [...colours, OTHERS];
}

/** What each colour means. */
function legendOf(names: readonly string[], colours: readonly Colour[]): [name: string, colour: Colour][] {
  const shown = names.map((name, at): [string, Colour] => [cut(name, 30), colours[at] as Colour]);
  const of = (wanted: Colour) => shown.filter(([, colour]) => colour === wanted);
  const communication = of(COMMUNICATION).map(([name]) => name);
  const said = `${communication.slice(0, 3).join(", ")}${communication.length > 3 ? ", …" : ""}`;
  const more: [string, Colour][] = [[`communication and waiting (${said})`, COMMUNICATION], [`${of(OTHERS).length} other stages`, OTHERS]];
  return [...shown.filter(([, colour]) => colour !== OTHERS && colour !== COMMUNICATION), ...more.filter(([, colour]) => of(colour).length > 0)];
}

/** A rank with its host: `rank 3 on studio-a`. Safe to show. */
export function rankOnHost({ ranks }: JobPage, place: number): string {
  const rank = ranks[place];
  if (!rank) {
    return `place ${place}`;
  }
  const name = /^\d+$/.test(rank.label) ? `rank ${rank.label}` : rank.label;
  return `${name}${rank.host === "" ? "" : ` on ${cut(rank.host, 40)}`}`;
}

/** A row a rank; in order of rank, those of which nothing is known stand where they would. */
function stripRows({ job, strips }: DrawnJob, places: readonly number[]): StripRow[] {
  const byPlace = new Map(strips.map((strip) => [strip.place, strip]));
  const rows = places
    .filter((place) => byPlace.has(place))
    .map((place): StripRow => ({ label: job.ranks[place]?.label ?? "?", place, strip: byPlace.get(place), isSlow: job.ranks[place]?.is_slow ?? false, isUnread: false }));
  if (!places.every((place, at) => place === at)) {
    return rows;
  }
  const absent = job.absent.map(([rank, isUnread]): StripRow => ({ label: String(rank), place: null, strip: undefined, isSlow: false, isUnread }));
  // Processes without a rank stand last.
  const rankOf = ({ label }: StripRow) => (/^\d+$/.test(label) ? Number(label) : Infinity);
  return [...rows, ...absent].sort((a, b) => {
    const [left, right] = [rankOf(a), rankOf(b)];
    return left === right ? (a.place ?? 0) - (b.place ?? 0) : left - right;
  });
}

function described({ job }: DrawnJob, row: StripRow | undefined, piece: number): string {
  if (!row) {
    return "";
  }
  if (row.place === null) {
    return `rank ${row.label}: ${row.isUnread ? "nothing could be read of its file" : "no file tells of it"}`;
  }
  const rank = rankOnHost(job, row.place);
  const { strip } = row;
  if (!strip || piece < 0 || piece >= strip.start.length) {
    return rank;
  }
  const [from, to] = [strip.start[piece] as number, strip.end[piece] as number];
  const name = job.strips.names[strip.names[piece] as number];
  return `${rank}: ${name === undefined ? "other stages" : visible(name)} ${duration(to - from)}, from ${moment(from)} to ${moment(to)}`;
}

/** How exactly ranks lie on the axis, and what is not drawn. */
function notesOf({ job: { ranks, strips: { n_left_out: leftOut } }, strips }: DrawnJob) {
  const nUnknown = ranks.filter(({ start_ns }) => start_ns === null).length;
  const nVague = ranks.filter(({ start_ns, error_ns }) => start_ns !== null && error_ns === null).length;
  const error = ranks.reduce((most, { error_ns }) => Math.max(most, error_ns ?? 0), 0);
  return [
    ranks.length > 1 && error > 0 && `Clocks of ranks agree within ${duration(error)}.`,
    nVague > 0 && ranks.length > 1 && `How exactly ${counted(nVague, "rank lies", "ranks lie")} on the axis is not known.`,
    nUnknown > 0 && `When ${counted(nUnknown, "rank", "ranks")} ran is not known: drawn from the beginning.`,
    leftOut > 0 && `${counted(leftOut, "rank is", "ranks are")} not drawn: ${count(strips.length)} are, those with the highest scores and others evenly.`,
  ];
}
