// Caches: when each hit and missed, how close it was, and what it held.

import type { ComponentChildren } from "preact";

import type { CacheMoment, Pictures } from "../../model/page";
import { bytes, count, number } from "../data/quantity";
import { Name } from "../parts/name";
import { ticks, timeLabel, timeStep } from "../parts/ticks";
import type { Picture } from ".";

export const caches: Picture = {
  id: "caches",
  title: "Caches",
  isShown: ({ pictures: { caches, wall_ns: wall } }) => caches.length > 0 && wall > 0,
  Body: ({ model: { pictures } }) => <>{pictures.caches.map((cache) => <Cache key={cache.name} cache={cache} pictures={pictures} />)}</>,
};

/** Places across and down; the drawing is stretched to the width that it has. */
const WIDE = 2000;
const HIGH = 200;

type Point = { at: number; value: number };

const KINDS = [
  { id: "hit", title: "hits", colour: "--c2" },
  { id: "miss", title: "misses", colour: "--c1" },
  { id: "eviction", title: "evictions", colour: "--c5" },
  { id: "lookup", title: "lookups", colour: "--c8" },
] as const;

function Cache({ cache, pictures }: { cache: Pictures["caches"][number]; pictures: Pictures }) {
  const { wall_ns: wall, cache_events: all } = pictures;
  const events = all.filter((event) => event.cache === cache.name);
  const timesOf = (outcome: string) => events.filter((event) => event.outcome === outcome).map((event) => event.at_ns);
  const kinds = KINDS.map((kind) => ({ ...kind, times: timesOf(kind.id) })).filter(({ times }) => times.length > 0);
  const held = pointsOf(events, (event) => event.held_bytes);
  return (
    <section class="cache">
      <h2>
        <Name text={cache.name || "cache"} />
      </h2>
      <div class="lanes">
        <span />
        <TimeAxis wall={wall} />
        <Legend kinds={kinds} />
        <Strip height={kinds.length * 16}>
          {kinds.map(({ id, colour, times }, at) => (
            <path key={id} d={tickPath(times, wall, (at + 0.12) * (HIGH / kinds.length), 0.76 * (HIGH / kinds.length))} stroke={`var(${colour})`} vector-effect="non-scaling-stroke" />
          ))}
        </Strip>
        <Scores events={events} wall={wall} />
        {held.length > 0 && (
          <>
            <span class="muted">
              held
              <br />0 to {bytes(cache.peak_held_bytes)}
            </span>
            <Strip height={56}>
              <path d={stepPath(held, cache.peak_held_bytes ?? 0, wall)} stroke="var(--c0)" vector-effect="non-scaling-stroke" />
            </Strip>
          </>
        )}
      </div>
    </section>
  );
}

function TimeAxis({ wall }: { wall: number }) {
  const step = timeStep(wall, 8, 1);
  return (
    <span class="axis" aria-hidden="true">
      {ticks(0, wall * 0.97, step).map((at) => (
        <span key={at} style={{ left: `${(at / wall) * 100}%` }}>
          {timeLabel(at, step)}
        </span>
      ))}
    </span>
  );
}

function Legend({ kinds }: { kinds: readonly { id: string; title: string; colour: string; times: readonly number[] }[] }) {
  return (
    <span class="muted lane-names">
      {kinds.map(({ id, title, colour, times }) => (
        <span key={id}>
          <i class="swatch" style={{ background: `var(${colour})` }} /> {title} {count(times.length)}
        </span>
      ))}
    </span>
  );
}

/** Scores that were compared, and what they were compared with. */
function Scores({ events, wall }: { events: readonly CacheMoment[]; wall: number }) {
  const limit = pointsOf(events, (event) => event.threshold);
  const scoresOf = (outcome: string) => pointsOf(events, (event) => (event.outcome === outcome ? event.score : null));
  const kinds = KINDS.map(({ id, colour }) => ({ id, colour, points: scoresOf(id) })).filter(({ points }) => points.length > 0);
  if (kinds.length === 0) {
    return null;
  }
  const top = [...kinds.flatMap(({ points }) => points), ...limit].reduce((most, { value }) => Math.max(most, value), 0);
  return (
    <>
      <span class="muted">
        score
        <br />0 to {number(top)}
        {limit.length > 0 && (
          <>
            <br />
            <i class="swatch line" /> threshold
          </>
        )}
      </span>
      <Strip height={110}>
        <path d={stepPath(limit, top * 1.05, wall)} class="limit" vector-effect="non-scaling-stroke" />
        {kinds.map(({ id, colour, points }) => (
          <path key={id} d={dotPath(points, top * 1.05, wall)} class="dots" stroke={`var(${colour})`} vector-effect="non-scaling-stroke" />
        ))}
      </Strip>
    </>
  );
}

function pointsOf(events: readonly CacheMoment[], of: (event: CacheMoment) => number | null): Point[] {
  return events.flatMap((event) => {
    const value = of(event);
    return value === null ? [] : [{ at: event.at_ns, value }];
  });
}

/** Marks over the time of the run, one path a kind. */
function Strip({ height, children }: { height: number; children: ComponentChildren }) {
  return (
    <svg class="strip" viewBox={`0 0 ${WIDE} ${HIGH}`} preserveAspectRatio="none" aria-hidden="true" style={{ height: `${height}px` }}>
      {children}
    </svg>
  );
}

function across(at: number, wall: number): number {
  return wall > 0 ? Math.round((Math.min(at, wall) / wall) * WIDE) : 0;
}

function down(value: number, top: number): number {
  return top > 0 ? Math.round((1 - Math.min(1, Math.max(0, value / top))) * (HIGH - 8)) + 4 : HIGH - 4;
}

function tickPath(times: readonly number[], wall: number, y: number, height: number): string {
  return times.map((at) => `M${across(at, wall)} ${y}v${height}`).join("");
}

function dotPath(points: readonly Point[], top: number, wall: number): string {
  return points.map(({ at, value }) => `M${across(at, wall)} ${down(value, top)}h0`).join("");
}

/** Each value holds up to the next one. */
function stepPath(points: readonly Point[], top: number, wall: number): string {
  const steps = points.map(({ at, value }, n) => `${n === 0 ? "M" : "H"}${across(at, wall)}${n === 0 ? " " : "V"}${down(value, top)}`);
  return steps.length > 0 ? `${steps.join("")}H${WIDE}` : "";
}
