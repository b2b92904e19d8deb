// What is known of one slice, of one reading: shown beside the pointer, and below the timeline once it is selected.

import type { NamedValues, Pictures } from "../../model/page";
import { CATEGORIES, FAILED, OPEN, PAUSED, SUMMARY } from "../data/slices";
import type { Slices } from "../data/slices";
import { count, counted, duration, percent } from "../data/quantity";
import { titleOf } from "../data/series";
import { type Fact, FactList } from "../parts/facts";
import { Name, Path } from "../parts/name";
import { timeLabel } from "../parts/ticks";
import { readingText } from "./curve";
import type { Flow } from "./flows";
import type { Pointed } from "./timeline";

/** Parts of a summary that are listed. */
const PARTS = 8;

/** What a group is to a slice in it. */
const WHERE = { sessions: "in", thread: "thread", device: "on" } as const;

/** Slices that one led to, as far as they are listed. */
const LED_TO = 8;

/** What led to a slice, and what it led to; each is selected by a press. */
export function FlowFacts({ slices, slice, flows, onSelect }: { slices: Slices; slice: number; flows: readonly Flow[]; onSelect: (slice: number) => void }) {
  const fact = ([from, to]: Flow): Fact => {
    const other = from === slice ? to : from;
    return {
      what: from === slice ? "led to" : "led to by",
      value: (
        <>
          <button type="button" class="link" onClick={() => onSelect(other)}>
            <Name text={slices.name(other)} limit={80} />
          </button>{" "}
          <span class="muted">
            in <Name text={slices.rowOf(other).group.title} />, {duration(slices.start[to]! - slices.start[from]!)} {from === slice ? "later" : "before"}
          </span>
        </>
      ),
    };
  };
  const rest = flows.length - LED_TO;
  return <FactList facts={[...flows.slice(0, LED_TO).map(fact), rest > 0 && { what: "", value: `and ${count(rest)} more` }]} />;
}

type Known = { slices: Slices; pictures: Pictures };

export function SliceFacts({ slices, pictures, slice, isShort }: Known & { slice: number; isShort: boolean }) {
  const row = slices.rowOf(slice);
  const path = slices.path[slice]!;
  const flags = slices.flags[slice]!;
  const start = slices.start[slice]!;
  const length = slices.end[slice]! - start;
  const isMoment = row.kind === "events";
  const category = CATEGORIES[slices.category(path)] ?? "section";
  const kind = [
    flags & SUMMARY ? "short ones put together" : category,
    flags & FAILED ? "left by an error" : "",
    flags & OPEN ? "open at the end of the run" : "",
    flags & PAUSED ? "was suspended: drawn as long as it ran" : "",
  ];
  const given = Object.entries(attributesOf(pictures, slices, slice, length) ?? {});
  const callPath = slices.callPath(path);
  return (
    <>
      <strong>
        <Name text={slices.name(slice)} limit={isShort ? 80 : 300} />
      </strong>{" "}
      <span class="muted">{kind.filter(Boolean).join(", ")}</span>
      <FactList
        facts={[
          { what: isMoment ? "at" : "start", value: timeLabel(start, 1) },
          !isMoment && {
            what: "duration",
            value: <>{duration(length)} <span class="muted">({percent(pictures.wall_ns > 0 ? length / pictures.wall_ns : null)} of the run)</span></>,
          },
          !isMoment && !isShort && { what: "end", value: timeLabel(start + length, 1) },
          { what: WHERE[row.group.kind], value: <Name text={row.group.title} /> },
          callPath.length > 1 && { what: "call path", value: <Path names={callPath} /> },
          ...(flags & SUMMARY ? partsOf(slices, slice) : []),
          ...given.slice(0, isShort ? 6 : 50).map(([name, value]) => ({
            what: <Name text={name} />,
            value: <Name text={value === null ? "-" : String(value)} limit={isShort ? 80 : 300} />,
          })),
        ]}
      />
    </>
  );
}

function partsOf(slices: Slices, slice: number): Fact[] {
  const parts = slices.parts(slice).sort((a, b) => b.busy - a.busy);
  const rest = parts.slice(PARTS).reduce((sum, part) => sum + part.count, 0);
  const shown = parts.slice(0, PARTS).map(({ path, count: n, busy }) => ({
    what: <Name text={slices.names[path] ?? ""} limit={40} />,
    value: <>{count(n)} × <span class="muted">{duration(busy)} together</span></>,
  }));
  return rest > 0 ? [...shown, { what: "others", value: count(rest) }] : shown;
}

/** What was said about a call or an event, when the page has it. */
function attributesOf(pictures: Pictures, slices: Slices, slice: number, length: number): NamedValues | undefined {
  const path = slices.path[slice]!;
  const start = slices.start[slice]!;
  // Times of slices may be rounded.
  const isNear = (a: number, b: number) => Math.abs(a - b) <= slices.unit_ns;
  const category = CATEGORIES[slices.category(path)];
  if (category === "event") {
    return pictures.events.find(({ at_ns, name }) => isNear(at_ns, start) && name === slices.name(slice))?.data;
  }
  if (category === "session") {
    return pictures.sessions.find(({ start_ns, name }) => isNear(start_ns, start) && name === slices.name(slice))?.tags;
  }
  return pictures.calls.find(({ node, start_ns, duration_ns }) => node === path && isNear(start_ns, start) && isNear(duration_ns, length))
    ?.attributes;
}

/** What is pointed at, beside the pointer. */
export function Tip({ slices, pictures, pointed, x, y, width }: Known & { pointed: Pointed; x: number; y: number; width: number }) {
  const { slice, track, t } = pointed;
  if (slice === null && track === null) {
    return null;
  }
  const { title, of } = track ? titleOf(track) : { title: "", of: "" };
  const side = x > width / 2 ? { right: `${width - x + 14}px` } : { left: `${x + 14}px` };
  return (
    <div class="timeline-tip" role="tooltip" style={{ top: `${y + 14}px`, ...side }}>
      {slice !== null && <SliceFacts slices={slices} pictures={pictures} slice={slice} isShort />}
      {track && (
        <>
          <strong>
            <Name text={of ? `${title} · ${of}` : title} />
          </strong>{" "}
          <span class="muted">{track.kind === "rate" ? "growth in a second" : track.kind}</span>
          <FactList
            facts={[
              { what: "at", value: timeLabel(t, 1000) },
              { what: "value", value: readingText(track, t) || "not known" },
              { what: "series", value: <Name text={track.name} /> },
              { what: "readings", value: counted(track.n, "point", "points") },
            ]}
          />
        </>
      )}
    </div>
  );
}
