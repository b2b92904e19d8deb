// What is known of one slice, of one reading: shown beside the pointer, and below the timeline once it is selected.

import type { NamedValues, Pictures } from "../../model/page";
import { CATEGORIES, FAILED, OPEN, PAUSED, SUMMARY } from "../data/slices";
import type { Slices } from "../data/slices";
import { count, counted, duration, percent } from "../data/quantity";
import { titleOf } from "../data/series";
import { Name, Path } from "../parts/name";
import { momentText } from "./axis";
import { readingText } from "./curve";
import type { Pointed } from "./timeline";

/** Parts of a summary that are listed. */
const PARTS = 8;

/** What a group is to a slice in it. */
const WHERE = { sessions: "in", thread: "thread", device: "on" } as const;

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
  const given = attributesOf(pictures, slices, slice, length);
  const callPath = slices.callPath(path);
  return (
    <>
      <strong>
        <Name text={slices.name(slice)} limit={isShort ? 80 : 300} />
      </strong>{" "}
      <span class="muted">{kind.filter(Boolean).join(", ")}</span>
      <dl class="timeline-facts">
        <Fact name={isMoment ? "at" : "start"}>{momentText(start, 1, start)}</Fact>
        {!isMoment && (
          <Fact name="duration">
            {duration(length)} <span class="muted">({percent(pictures.wall_ns > 0 ? length / pictures.wall_ns : null)} of the run)</span>
          </Fact>
        )}
        {!isMoment && !isShort && <Fact name="end">{momentText(start + length, 1, start + length)}</Fact>}
        <Fact name={WHERE[row.group.kind]}>
          <Name text={row.group.title} />
        </Fact>
        {callPath.length > 1 && (
          <Fact name="call path">
            <Path names={callPath} />
          </Fact>
        )}
        {flags & SUMMARY ? <Parts slices={slices} slice={slice} /> : null}
        {given &&
          Object.entries(given)
            .slice(0, isShort ? 6 : 50)
            .map(([name, value]) => (
              <Fact key={name} name={<Name text={name} />}>
                <Name text={value === null ? "-" : String(value)} limit={isShort ? 80 : 300} />
              </Fact>
            ))}
      </dl>
    </>
  );
}

function Fact({ name, children }: { name: preact.ComponentChildren; children: preact.ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Parts({ slices, slice }: { slices: Slices; slice: number }) {
  const parts = slices.parts(slice).sort((a, b) => b.busy - a.busy);
  const rest = parts.slice(PARTS).reduce((sum, part) => sum + part.count, 0);
  return (
    <>
      {parts.slice(0, PARTS).map((part) => (
        <Fact key={part.path} name={<Name text={slices.names[part.path] ?? ""} limit={40} />}>
          {count(part.count)} × <span class="muted">{duration(part.busy)} together</span>
        </Fact>
      ))}
      {rest > 0 && <Fact name="others">{count(rest)}</Fact>}
    </>
  );
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
          <dl class="timeline-facts">
            <Fact name="at">{momentText(t, 1000, t)}</Fact>
            <Fact name="value">{readingText(track, t) || "not known"}</Fact>
            <Fact name="series">
              <Name text={track.name} />
            </Fact>
            <Fact name="readings">{counted(track.n, "point", "points")}</Fact>
          </dl>
        </>
      )}
    </div>
  );
}
