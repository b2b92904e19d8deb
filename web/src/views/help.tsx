// Help: what each view shows, which keys there are, what the words mean, and how figures are measured.

import { useContext } from "preact/hooks";

import { FactList } from "../parts/facts";
import { Shown } from "../parts/controls";
import { visible } from "../parts/name";
import type { Picture } from ".";

export const help: Picture = {
  id: "help",
  title: "Help",
  isShown: () => true,
  isOnPaper: false,
  Body: ({ model: { pictures } }) => {
    const shown = useContext(Shown);
    return (
      <div class="help">
        <section>
          <h2>Views</h2>
          <FactList facts={termsOf(VIEWS.filter(([id]) => shown.has(id)).map(([, title, text]) => [title, text]))} />
        </section>
        <section>
          <h2>Keys</h2>
          <FactList facts={KEYS.map(([keys, value]) => ({ what: keysOf(keys), value }))} />
        </section>
        <section>
          <h2>How figures are measured</h2>
          <p>
            This run: {visible(pictures.how_measured)}.
          </p>
          {MEASURED.map((text) => (
            <p key={text}>{text}</p>
          ))}
        </section>
        <section>
          <h2>Words</h2>
          <FactList facts={termsOf(WORDS)} />
        </section>
      </div>
    );
  },
};

type Term = readonly [word: string, meaning: string];

const termsOf = (terms: readonly Term[]) => terms.map(([what, value]) => ({ what, value }));
const keysOf = (text: string) => text.split(" ").map((key) => <kbd key={key}>{key}</kbd>);

/** In their order on the page. */
export const VIEWS: readonly (readonly [string, string, string])[] = [
  ["overview", "Overview", "How the run ended and in what time, where the time went in parts that add up, what is the matter, with the figures that say so, and what to try. Checks that passed and those that could not be made are listed, too: they are not the same."],
  ["sections", "Sections", "The figures of every name, call path and loop. The first call stands apart from the rest, because it often loads and compiles."],
  ["timeline", "Timeline", "Every section that was recorded by itself, a row a thread and depth, with counters on the same time axis. Sections too thin to see are drawn as one column whose strength is the time that they fill."],
  ["trace", "Trace", "What traces of torch.profiler say, a table for each question, with the first rows of long ones. What the profiler calls a step is none."],
  ["diffusion", "Diffusion", "Denoising steps, blocks of frames, models, and delivery to a viewer who plays at a fixed rate. Each rate says in words which frames it counts and what its time includes."],
  ["caches", "Caches", "When each cache hit and missed, the score against the threshold that decided, and what it held. The saved time is the median computed step less the median cached one, times the cached steps."],
  ["memory", "Memory", "Memory over time by source, with the stages, and what was open at the peak."],
  ["flame", "Flame graph", "Call paths by time: in order of time, put together with the longest first, and one name with its callers and callees."],
  ["machine", "Machine", "What samplers read of GPUs, processors, memory, disks and the kernel's pressure."],
  ["sessions", "Sessions", "Named intervals of the run, what a user calls one generation."],
  ["system", "System", "On what the run ran, how it was called, what could not be read and why. Prompts in the command are left out when it is recorded, unless that was asked for."],
];

const KEYS: readonly Term[] = [
  ["1 … 9", "the views, in the order of their tabs"],
  ["← →", "on a tab: the view before or after"],
  ["/", "search in the view"],
  ["t", "light or dark"],
  ["?", "this page"],
  ["Esc", "leave a field; nothing is selected any more"],
];

const MEASURED: readonly string[] = [
  "A section lasts from enter to leave on the host's clock, waiting included. GPU work that it only launched is not in its time, unless the program waits for it within the section.",
  "Counts and totals count every completed call. Percentiles are exact where every call was recorded by itself, otherwise from a histogram, at most 3.1 % off.",
  "What is not known is “-”, never 0. A table is exported as it stands, with its figures in the units that the column names end with, unrounded.",
  "The address after # holds what is shown: view, order, search, part of the timeline and what is selected. A copied link leads to the same place.",
];

const WORDS: readonly Term[] = [
  ["run", "one process, from the start of its recorder to its end, or to the last thing known of it"],
  ["session", "a named interval of a run with tags, what a user calls one generation"],
  ["section", "a named span of a program that nests"],
  ["iteration", "one pass of a loop, counted by the name of its loop"],
  ["stage", "all sections of one name"],
  ["call path", "the names from the outermost open section to this one"],
  ["inclusive time, total", "time of a section with all that is in it"],
  ["self time, itself", "inclusive time without what is under it"],
  ["share", "part of the wall time during which at least one of these sections was open, each moment counted once"],
  ["wall time", "from the start of the run to its end, or to the last thing known"],
  ["busy", "of a phase: part of the time from its first start to its last end during which one of its calls was open; of a GPU: part of the time in which a kernel ran, as the driver counts it"],
  ["warm-up", "the first iteration or the first call, which often loads and compiles; shown apart, as First"],
  ["p50, p95, p99", "the median (of an even number between the middle two), and what 95 % and 99 % did not exceed (nearest rank)"],
  ["~", "ran beside its parent, in an asyncio task: its time is no part of the parent’s"],
  ["*", "had not ended when the capture did"],
  ["event", "a point in time with a name and attributes"],
  ["reading", "memory in use at one moment, as one source counts it"],
  ["counter", "a named number that the program tells now and then"],
  ["series", "what a sampler reads of one thing over time"],
  ["sampler", "a thread that reads the machine at an interval. A round that began too late is late, one that was left out is missed"],
  ["cache event", "one decision of a cache: hit, miss or eviction. A lookup is a hit or a miss"],
  ["capture", "the file that a run leaves; the only source of truth"],
  ["loss", "something that was not recorded, by kind and count"],
  ["finding", "something that is the matter, with the figures that say so"],
];
