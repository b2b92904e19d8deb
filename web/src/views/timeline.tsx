// The timeline: threads, sessions and readings on one time axis.

import { useEffect, useRef, useState } from "preact/hooks";

import type { RunModel } from "../data/page";
import { count, counted, duration, percent } from "../data/quantity";
import { onStateChange, setState, useAddress, zoomOut } from "../data/state";
import { onThemeChange } from "../data/theme";
import { type TimelineData, useTimeline } from "../data/timeline";
import { FlowFacts, SliceFacts, Tip } from "../timeline/facts";
import { listen } from "../timeline/input";
import { RangeTable } from "../timeline/range";
import { type Pointed, Timeline } from "../timeline/timeline";
import type { Picture } from ".";

export const timeline: Picture = {
  id: "timeline",
  title: "Timeline",
  isShown: ({ timeline }) => timeline.n_slices > 0 || timeline.tracks.length > 0,
  Body,
};

function Body({ model }: { model: RunModel }) {
  const data = useTimeline(model);
  return (
    <>
      <Notes model={model} />
      {data ? <Stage model={model} data={data} /> : <p class="muted">Reading {count(model.timeline.n_slices)} slices …</p>}
    </>
  );
}

/** What of the run is not drawn one by one. */
function Notes({ model: { timeline, pictures } }: { model: RunModel }) {
  const { summarised, n_tracks_left_out, paths } = timeline;
  const notes = [
    summarised &&
      `${counted(summarised.n_slices, "section", "sections")} shorter than ${duration(summarised.shorter_than_ns)} are drawn as ${count(summarised.n_summaries)} put together, because a page holds a million: their number and time are exact, their places are not.`,
    ...pictures.not_drawn,
    n_tracks_left_out > 0 && `${counted(n_tracks_left_out, "series is", "series are")} not drawn.`,
    paths.n_without_name > 0 && `${count(paths.n_without_name)} events or sessions stand under “(other names)”.`,
  ];
  return (
    <>
      {notes.filter(Boolean).map((note, at) => (
        <p key={at} class="note warn">
          {note}
        </p>
      ))}
    </>
  );
}

type Tipped = { pointed: Pointed; x: number; y: number };

function Stage({ model, data }: { model: RunModel; data: TimelineData }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [engine, setEngine] = useState<Timeline | null>(null);
  const [tip, setTip] = useState<Tipped | null>(null);
  const [, changed] = useState(0);
  useEffect(() => {
    const place = canvas.current;
    if (!place) {
      return;
    }
    const engine = new Timeline(place, data, model.pictures.wall_ns);
    engine.onChange = () => changed((n) => n + 1);
    const sizes = new ResizeObserver(() => engine.resize());
    sizes.observe(place);
    const endings = [
      listen(engine, (pointed, x, y) => setTip(pointed && { pointed, x, y })),
      onStateChange(() => engine.follow()),
      onThemeChange(() => engine.requestDraw()),
      () => sizes.disconnect(),
    ];
    engine.drawNow();
    announce(engine);
    setEngine(engine);
    return () => endings.forEach((end) => end());
  }, [data, model]);
  return (
    <div class="timeline">
      <Tools engine={engine} />
      <div class="timeline-stage" style={{ maxHeight: `${Math.max(260, (engine?.fullHeight ?? 0) + 10)}px` }}>
        <canvas
          ref={canvas}
          tabIndex={0}
          role="application"
          aria-roledescription="timeline"
          aria-label={`Timeline of ${counted(data.slices.n, "slice", "slices")} in ${counted(data.slices.rows.length, "row", "rows")}. Tables below say what is in the part that is shown.`}
        />
        {tip && <Tip slices={data.slices} pictures={model.pictures} width={canvas.current?.clientWidth ?? 0} {...tip} />}
      </div>
      {engine && <Below engine={engine} model={model} />}
    </div>
  );
}

/** For tests and benches: `draw` shows a part and returns how long drawing took, in milliseconds. */
function announce(engine: Timeline): void {
  const draw = (from: number, to: number) => {
    Object.assign(engine, { from, to });
    const begun = performance.now();
    engine.drawNow();
    return performance.now() - begun;
  };
  Object.assign(window, { marey: { ready: performance.now(), draw, slices: engine.slices, lines: () => engine.layout.lines, flows: () => engine.flows } });
}

function Tools({ engine }: { engine: Timeline | null }) {
  const { q = "" } = useAddress();
  const search = (query: string) => setState({ q: query || null });
  const found = engine?.found ?? null;
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "Enter") {
      event.preventDefault();
      engine?.goToHit(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      search("");
    }
  };
  const { selected } = engine ?? { selected: null };
  const place = found && selected !== null && found.isHit(selected) ? found.place(selected) : null;
  return (
    <div class="timeline-tools" role="toolbar" aria-label="Timeline">
      <input
        type="search"
        placeholder="Search names ( / )"
        aria-label="Search names in the timeline"
        value={q}
        onInput={(event) => search(event.currentTarget.value)}
        onKeyDown={pressed}
      />
      <button type="button" title="Previous (N)" aria-label="Previous hit" disabled={!found?.count} onClick={() => engine?.goToHit(-1)}>
        ‹
      </button>
      <button type="button" title="Next (n, Enter)" aria-label="Next hit" disabled={!found?.count} onClick={() => engine?.goToHit(1)}>
        ›
      </button>
      <span class="muted timeline-found" role="status">
        {found && `${place === null ? "" : `${count(place)} of `}${engine?.search ? counted(found.count, "hit", "hits") : counted(found.count, "call", "calls")}`}
      </span>
      <span class="push" />
      <button type="button" title="Time under no section (g)" aria-pressed={engine?.idle != null} onClick={() => engine?.toggleIdle()}>
        Gaps
      </button>
      <button type="button" title="Zoom out (s, -)" aria-label="Zoom out" onClick={() => engine?.zoom(1.5)}>
        −
      </button>
      <button type="button" title="Zoom in (w, +)" aria-label="Zoom in" onClick={() => engine?.zoom(1 / 1.5)}>
        +
      </button>
      <button type="button" title="Whole run (0)" onClick={zoomOut}>
        All
      </button>
    </div>
  );
}

function Below({ engine, model }: { engine: Timeline; model: RunModel }) {
  const { slices, from, to, selected, range, idle } = engine;
  const { unit_ns } = model.timeline;
  return (
    <>
      <p class="timeline-status">
        <span>
          {duration(to - from)} of {duration(engine.end)} shown
        </span>
        <span>{counted(slices.n, "slice", "slices")}</span>
        <span>{unit_ns === 1 ? "to the nanosecond" : `rounded to ${duration(unit_ns)}`}</span>
        {idle && (
          <span>
            under no section: {duration(idle.total)} ({percent(engine.wall > 0 ? idle.total / engine.wall : null)})
          </span>
        )}
        <span>
          wheel or <kbd>w</kbd> <kbd>s</kbd> zoom · drag or <kbd>a</kbd> <kbd>d</kbd> pan · shift-drag sums up · <kbd>f</kbd> fits what is
          selected · <kbd>0</kbd> all
        </span>
      </p>
      {selected !== null && (
        <div class="timeline-detail" role="region" aria-label="Selected slice">
          <SliceFacts slices={slices} pictures={model.pictures} slice={selected} isShort={false} />
          <FlowFacts slices={slices} slice={selected} flows={engine.flows} onSelect={(slice) => engine.reveal(slice)} />
        </div>
      )}
      <button type="button" title="As a range, to which the flame graph is limited, too" onClick={() => engine.choose({ from, to })}>
        Sum up what is shown
      </button>
      {range && <RangeTable slices={slices} {...range} />}
    </>
  );
}
