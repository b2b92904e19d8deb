// Caches: when each hit and missed, how close it was, what it held, and what that saved.

import { bytes, count, duration, moment, number, percent } from "../data/quantity";
import { leftOut } from "../data/cuts";
import type { CacheMoment, CacheUse, Durations, Report } from "../data/report";
import { TimeAxis } from "../parts/axis";
import { Cards, FactList, known } from "../parts/facts";
import { TimeLink } from "../parts/link";
import { Name } from "../parts/name";
import { type Kind, type Point, Scatter, Steps, Ticks } from "../parts/strip";
import { type Column, Table } from "../parts/table";
import type { View } from "./view";

export const caches: View = {
  id: "caches",
  title: "Caches",
  isShown: ({ report }) => report.activity.caches !== null,
  Body: ({ model }) => {
    const { report } = model;
    const each = report.activity.caches?.each ?? [];
    return (
      <>
        <Saved report={report} />
        {each.map((cache) => (
          <Cache key={cache.name} cache={cache} report={report} />
        ))}
        <Table
          id="cache_events"
          caption="Each cache event"
          columns={columns(report)}
          rows={report.activity.cache_timeline}
          leftOut={leftOut(model, "activity.cache_timeline")}
        />
      </>
    );
  },
};

const KINDS = [
  { id: "hit", title: "hits", colour: "--c2" },
  { id: "miss", title: "misses", colour: "--c1" },
  { id: "eviction", title: "evictions", colour: "--c5" },
  { id: "lookup", title: "lookups", colour: "--c8" },
] as const;

/** What steps gained from caches. */
function Saved({ report }: { report: Report }) {
  const caching = report.activity.diffusion?.caching;
  return caching ? (
    <Cards
      facts={known([
        { what: "Saved time", value: duration(caching.saved_ns), note: "median computed step less median cached step, times the cached steps" },
        { what: "Cached steps", value: count(caching.n_cached), note: each(caching.n_cached, caching.cached) },
        { what: "Computed steps", value: count(caching.n_computed), note: each(caching.n_computed, caching.computed) },
      ])}
    />
  ) : null;
}

function each(steps: number, durations: Durations | null): string {
  if (steps === 0) {
    return "";
  }
  return durations ? `${duration(durations.p50_ns)} each, median` : "how long they took is not known";
}

function Cache({ cache, report }: { cache: CacheUse; report: Report }) {
  const wall = report.run.wall_ns;
  const events = report.activity.cache_timeline.filter((event) => event.cache === cache.name);
  const kinds = KINDS.map(({ id, title, colour }) => ({ id, title, colour, times: timesOf(events, id) })).filter(({ times }) => times.length > 0);
  const held = pointsOf(events, (event) => event.held_bytes);
  return (
    <section class="cache">
      <h2>
        <Name text={cache.name || "cache"} />
      </h2>
      <FactList
        facts={known([
          { what: "hit rate", value: <b>{percent(cache.hit_ratio)}</b>, note: `${count(cache.hits)} of ${count(cache.lookups)} lookups` },
          { what: "misses", value: count(cache.misses) },
          { what: "evictions", value: count(cache.evictions) },
          { what: "held at most", value: bytes(cache.peak_held_bytes) },
        ])}
      />
      {wall > 0 && (
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
      )}
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

function columns({ run, activity }: Report): Column<CacheMoment>[] {
  const has = (of: (event: CacheMoment) => unknown) => activity.cache_timeline.some((event) => of(event) !== null);
  const around = (at: number) => ({ from: Math.max(0, at - run.wall_ns / 200), to: Math.min(run.wall_ns, at + run.wall_ns / 200) });
  const all: (Column<CacheMoment> | false)[] = [
    {
      id: "at_ns",
      title: "At",
      isNumber: true,
      value: ({ at_ns }) => at_ns,
      show: ({ at_ns }) => <TimeLink {...around(at_ns)}>{moment(at_ns)}</TimeLink>,
    },
    { id: "cache", title: "Cache", value: ({ cache }) => cache, show: ({ cache }) => <Name text={cache} limit={40} /> },
    { id: "outcome", title: "Outcome", value: ({ outcome }) => outcome },
    has((e) => e.block) && { id: "block", title: "Block", isNumber: true, value: ({ block }) => block },
    has((e) => e.step) && { id: "step", title: "Step", isNumber: true, value: ({ step }) => step },
    has((e) => e.score) && { id: "score", title: "Score", isNumber: true, value: ({ score }) => score, show: ({ score }) => number(score) },
    has((e) => e.threshold) && {
      id: "threshold",
      title: "Threshold",
      isNumber: true,
      value: ({ threshold }) => threshold,
      show: ({ threshold }) => number(threshold),
    },
    has((e) => e.held_bytes) && {
      id: "held_bytes",
      title: "Held",
      isNumber: true,
      value: ({ held_bytes }) => held_bytes,
      show: ({ held_bytes }) => bytes(held_bytes),
    },
  ];
  return all.filter((column): column is Column<CacheMoment> => column !== false);
}
