// What is wrong with the files: ranks that are missing, were cut off or are damaged, files that disagree.

import type { ComponentChildren } from "preact";

import { count, counted } from "../data/quantity";
import type { DrawnJob, Job, RanksModel } from "../data/ranks";
import { Name, cut, visible } from "../parts/name";
import { endedText, placesList, rankName, ranksList, unreadRanks } from "./words";

/** Ranks and files that are told of one by one. */
const NAMED = 8;

export function Notes({ model, drawn }: { model: RanksModel; drawn: DrawnJob | undefined }) {
  const notes = drawn ? notesOf(drawn) : [];
  const unread = model.unread.length + model.n_unread_left_out;
  return (
    <div class="quality">
      {notes.map(([tone, note], at) => (
        <p key={at} class={`note ${tone}`}>
          {note}
        </p>
      ))}
      {unread > 0 && (
        <div class="note bad" data-note="unread">
          {counted(unread, "file", "files")} could not be read:
          <ul class="note-list">
            {model.unread.slice(0, NAMED).map(({ file, rank, why }, at) => (
              <li key={at}>
                <Name text={file} limit={100} />
                {rank !== null && <span class="muted"> (rank {rank})</span>}: <Name text={why} limit={200} />
              </li>
            ))}
            {unread > NAMED && <li class="muted">and {count(unread - NAMED)} more</li>}
          </ul>
        </div>
      )}
    </div>
  );
}

function notesOf({ job, left_out: leftOut }: DrawnJob): [tone: string, note: ComponentChildren][] {
  const notes: [string, ComponentChildren][] = [];
  const gone: string[] = [];
  if (job.missing.length > 0) {
    const more = leftOut.missing > 0 ? ` and ${count(leftOut.missing)} more` : "";
    gone.push(`No file tells of ${ranksList(job.missing)}${more}.`);
  }
  const unread = unreadRanks(job);
  if (unread.length > 0) {
    const more = leftOut.unread > 0 ? ` and ${count(leftOut.unread)} more` : "";
    gone.push(`Nothing could be read of the ${unread.length === 1 ? "file" : "files"} of ${ranksList(unread)}${more}.`);
  }
  if (gone.length > 0) {
    const all = job.members.length + job.missing.length + leftOut.missing + unread.length + leftOut.unread;
    notes.push(["bad", `${gone.join(" ")} Figures are of ${count(job.members.length)} of ${count(all)} ranks.`]);
  }
  for (const [state, tone, one, several] of STATES) {
    const places = job.members.flatMap((member, place) => (member.state === state ? [place] : []));
    if (places.length > 0) {
      notes.push([tone, <States job={job} places={places} one={one} several={several} />]);
    }
  }
  if (job.other_world_sizes.length > 0) {
    notes.push(["warn", `Files disagree about the number of ranks: ${job.other_world_sizes.map((size) => count(size)).join(", ")}. The highest is used.`]);
  }
  if (job.versions.length > 1) {
    const rows = job.versions.map(({ marey, places }) => `${marey === null ? "a version that is not known" : visible(marey)} (${placesList(job, places)})`);
    notes.push(["warn", `Ranks were recorded with different versions of Marey: ${rows.join(", ")}.`]);
  }
  for (const [turns, several] of [[job.steps, "steps"], [job.blocks, "blocks"]] as const) {
    if (turns && turns.out_of_step.length > 0) {
      notes.push(["warn", `${several.replace(/^./, (c) => c.toUpperCase())} of ${placesList(job, turns.out_of_step)} are lost in part: they have a median, and are not compared one by one.`]);
    }
  }
  const others = job.members.reduce((n, member) => n + member.n_others, 0);
  if (others > 0) {
    notes.push(["", `${counted(others, "other process", "other processes")} of ranks, children and earlier attempts, ${others === 1 ? "is" : "are"} in no figure.`]);
  }
  if (job.clocks.note !== "") {
    notes.push(["", visible(job.clocks.note)]);
  }
  return notes;
}

/** State, tone, what is said of one and of several. */
const STATES = [
  ["cut", "bad", "did not end by itself; what it did up to then is here", "did not end by themselves; what they did up to then is here"],
  ["damaged", "bad", "has a damaged file; what could be read is here", "have damaged files; what could be read is here"],
  ["running", "warn", "had not ended when it was read", "had not ended when they were read"],
] as const;

type StatesProps = { job: Job; places: readonly number[]; one: string; several: string };

function States({ job, places, one, several }: StatesProps) {
  const who = placesList(job, places).replace(/^./, (letter) => letter.toUpperCase());
  if (places.length === 1) {
    return (
      <>
        {who} {one}: <Why job={job} place={places[0] as number} />
      </>
    );
  }
  return (
    <>
      {who} {several}:
      <ul class="note-list">
        {places.slice(0, NAMED).map((place) => (
          <li key={place}>
            {rankName(job, place)}: <Why job={job} place={place} />
          </li>
        ))}
        {places.length > NAMED && <li class="muted">and {count(places.length - NAMED)} more</li>}
      </ul>
    </>
  );
}

/** How it ended, and what was wrong with its file. */
function Why({ job, place }: { job: Job; place: number }) {
  const member = job.members[place];
  return member ? (
    <>
      {cut(endedText(member), 200)}
      {member.warnings.map((warning, at) => (
        <span key={at}>
          , <Name text={warning} limit={120} />
        </span>
      ))}
    </>
  ) : null;
}
