// How far the figures can be trusted: what was lost, what was odd, what had not ended, and what recording cost.

import type { ComponentChildren } from "preact";

import { count, counted, duration, moment, percent } from "../data/quantity";
import { listName } from "../data/cuts";
import { type Model, isOfTrace } from "../data/page";
import type { Report } from "../data/report";
import { placesOf } from "../data/places";
import { statusText, statusTone } from "../data/status";
import { ViewLink } from "./link";
import { Name, Path, cut, visible } from "./name";

type Line = { tone: "bad" | "warn" | "good"; text: ComponentChildren };

export function Quality({ model }: { model: Model }) {
  if (isOfTrace(model)) {
    return <TraceQuality model={model} />;
  }
  const { report } = model;
  const lines = [...ended(report), ...missing(report), ...open(report)];
  const isSound = lines.length === 0;
  return (
    <section class="quality" aria-label="Data quality">
      {lines.map(({ tone, text }, at) => (
        <p key={at} class={`note ${tone}`}>
          {text}
        </p>
      ))}
      <p class={isSound ? "note good" : "muted"}>
        {isSound && report.quality.n_calls > 0 && "Nothing was lost. "}
        {recorded(report)} {cost(report)}
        {report.quality.unavailable.length > 0 && (
          <ViewLink view="system">{counted(report.quality.unavailable.length, "thing", "things")} could not be read</ViewLink>
        )}
      </p>
      <Cuts model={model} />
    </section>
  );
}

/** What of a trace's file is damaged; all else that is left out was left out on purpose. */
const DAMAGE = new Set(["events", "open_events", "events_without_time", "end", "compressed_data"]);

function TraceQuality({ model }: { model: Model }) {
  const { quality } = model.report;
  const losses = quality.losses.map(({ count: n, meaning }) => `${count(n)} ${visible(meaning)}`);
  const damage = quality.unavailable.filter(({ what }) => DAMAGE.has(what));
  const chosen = quality.unavailable.filter(({ what }) => !DAMAGE.has(what));
  return (
    <section class="quality" aria-label="Data quality">
      {[...losses, ...damage.map(({ why }) => visible(why))].map((text, at) => (
        <p key={at} class="note warn">
          {text}
        </p>
      ))}
      <p class="muted">
        {quality.n_calls === 0 ? "The host's side is not in it." : `${counted(quality.n_calls, "operator, range or call", "operators, ranges and calls")} of the host.`}
        {chosen.length > 0 && ` ${chosen.map(({ why }) => visible(why).replace(/^\d+/, (n) => count(Number(n)))).join(". ")}.`}
      </p>
      <Cuts model={model} />
    </section>
  );
}

/** What the page, not the capture, does without. */
function Cuts({ model }: { model: Model }) {
  const lists = model.left_out;
  const together = model.timeline.summarised;
  return (
    <>
      {lists.length > 0 && (
        <p class="muted">
          For lack of room this page lists{" "}
          {lists.map(({ list, kept, left_out }) => `${count(kept)} of ${count(kept + left_out)} ${visible(listName(list))}`).join(", ")}. Figures count all.
        </p>
      )}
      {together && (
        <p class="muted">
          The timeline puts {count(together.n_slices)} sections shorter than {duration(together.shorter_than_ns)} together.
        </p>
      )}
    </>
  );
}

function ended({ status, session }: Report): Line[] {
  if (status.kind === "finished") {
    return session && !session.has_ended ? [{ tone: "warn", text: "The session had not ended." }] : [];
  }
  const tone = statusTone(status) === "bad" ? "bad" : "warn";
  return [{ tone, text: <>The run: {cut(statusText(status), 300)}. What was complete by then is here.</> }];
}

function missing({ quality, session }: Report): Line[] {
  const losses = quality.losses.map(({ count: n, meaning, is_only_risk }): Line => {
    return { tone: is_only_risk ? "warn" : "bad", text: `${count(n)} ${visible(meaning)}` };
  });
  const warnings = quality.warnings.map((warning): Line => ({ tone: "warn", text: visible(warning) }));
  const unsorted = session?.n_sections_missing ?? 0;
  const ofSession: Line[] =
    unsorted > 0 ? [{ tone: "warn", text: `${counted(unsorted, "section", "sections")} of the run may have been of this session and are not here` }] : [];
  return [...losses, ...warnings, ...ofSession];
}

const OPEN = 5;

function open(report: Report): Line[] {
  const places = placesOf(report);
  const shown = report.quality.open.slice(0, OPEN).map(
    (call): Line => ({
      tone: "warn",
      text: (
        <>
          Had not ended: <Path names={places.path(call.node)} />, entered at {moment(call.start_ns)}, {duration(call.so_far_ns)} so far
          {call.thread !== null && (
            <>
              {" "}
              in <Name text={call.thread} limit={32} />
            </>
          )}
        </>
      ),
    }),
  );
  const more = report.quality.open.length - shown.length;
  return more > 0 ? [...shown, { tone: "warn", text: `${counted(more, "more section", "more sections")} had not ended` }] : shown;
}

function recorded({ quality }: Report): string {
  const { n_calls, n_recorded } = quality;
  if (n_calls === 0) {
    return "No section was recorded.";
  }
  return n_calls === n_recorded
    ? `${counted(n_calls, "call", "calls")}, each recorded by itself.`
    : `${counted(n_calls, "call", "calls")}, ${count(n_recorded)} of them recorded one by one; totals count all.`;
}

/** What samplers took: the only part of the recorder's cost that a run knows. */
function cost({ activity: { telemetry } }: Report): string {
  const known = telemetry.samplers.filter(({ cpu }) => cpu !== null);
  const costs = known.map(({ name, cpu }, at) => `${at === 0 ? "Sampling" : "sampling"} ${SAMPLED.get(name) ?? visible(name)} took ${took(cpu?.per_second.mean)}`);
  return costs.length > 0 ? `${costs.join(", ")} of one core. ` : "";
}

/** What samplers are called, in words. */
const SAMPLED = new Map([["host", "the host"], ["gpu", "the GPUs"]]);

function took(share: number | undefined): string {
  const text = percent(share);
  return text.startsWith("<") ? `less than ${text.slice(1)}` : text;
}
