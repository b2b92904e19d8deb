// Caches: when each hit and missed, how close it was, and what it held.

import type { CacheMoment, Pictures } from "../../model/page";
import { bytes, count, number } from "../data/quantity";
import { TimeAxis } from "../parts/axis";
import { Name } from "../parts/name";
import { type Kind, type Point, Scatter, Steps, Ticks } from "../parts/strip";
import type { Picture } from "./view";

export const caches: Picture = {
  id: "caches",
  title: "Caches",
  isShown: ({ pictures: { caches, wall_ns: wall } }) => caches.length > 0 && wall > 0,
  Body: ({ model: { pictures } }) => <>{pictures.caches.map((cache) => <Cache key={cache.name} cache={cache} pictures={pictures} />)}</>,
};

const KINDS = [
  { id: "hit", title: "hits", colour: "--c2" },
  { id: "miss", title: "misses", colour: "--c1" },
  { id: "eviction", title: "evictions", colour: "--c5" },
  { id: "lookup", title: "lookups", colour: "--c8" },
] as const;

function Cache({ cache, pictures }: { cache: Pictures["caches"][number]; pictures: Pictures }) {
  const { wall_ns: wall, cache_events: all } = pictures;
  const events = all.filter((event) => event.cache === cache.name);
  const kinds = KINDS.map(({ id, title, colour }) => ({ id, title, colour, times: timesOf(events, id) })).filter(({ times }) => times.length > 0);
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
        <Ticks kinds={kinds} wall={wall} />
        <Scores events={events} wall={wall} />
        {held.length > 0 && (
          <>
            <span class="muted">
              held
              <br />0 to {bytes(cache.peak_held_bytes)}
            </span>
            <Steps points={held} top={cache.peak_held_bytes ?? 0} wall={wall} colour="--c0" />
          </>
        )}
      </div>
    </section>
  );
}

function Legend({ kinds }: { kinds: readonly (Kind & { title: string })[] }) {
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
  const kinds = KINDS.map(({ id, colour }) => ({
    id,
    colour,
    points: pointsOf(
      events.filter((event) => event.outcome === id),
      (event) => event.score,
    ),
  })).filter(({ points }) => points.length > 0);
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
      <Scatter kinds={kinds} limit={limit} top={top * 1.05} wall={wall} />
    </>
  );
}

function timesOf(events: readonly CacheMoment[], outcome: CacheMoment["outcome"]): number[] {
  return events.filter((event) => event.outcome === outcome).map((event) => event.at_ns);
}

function pointsOf(events: readonly CacheMoment[], of: (event: CacheMoment) => number | null): Point[] {
  return events.flatMap((event) => {
    const value = of(event);
    return value === null ? [] : [{ at: event.at_ns, value }];
  });
}
