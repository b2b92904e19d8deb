// What a page has: of a run what is read and the pictures, one file each; of many ranks a job at a time; of anything else what is read.

import type { ComponentType } from "preact";

import type { DrawnScreen, Model, Tab as Read } from "../../model/page";
import { embedded, type RunModel } from "../data/page";
import { drawnJobs } from "../data/ranks";
import { knowSections } from "../data/selection";
import { Blocks } from "../parts/blocks";
import { FirstScreen } from "../parts/first_screen";
import { Shown } from "../parts/controls";
import { giveColours } from "../parts/palette";
import { Job, JobChoice, useJob } from "../ranks/job";
import type { PageContents, Tab } from "../shell/page";
import { caches } from "./caches";
import { Comparison } from "./comparison";
import { diffusion } from "./diffusion";
import { flame } from "./flame";
import { help, VIEWS } from "./help";
import { machine } from "./machine";
import { memory } from "./memory";
import { Snapshots } from "./snapshots";
import { timeline } from "./timeline";

/** What a tab shows beside the blocks of the same id. */
export type Picture = {
  /** In the address. */
  id: string;
  /** On the tab, where no blocks say it. */
  title: string;
  /** False when the run has nothing for it: a view is never empty. */
  isShown: (model: RunModel) => boolean;
  /** False when it says nothing of the run; absent: true. */
  isOnPaper?: boolean;
  Body: ComponentType<{ model: RunModel }>;
};

const PICTURES: readonly Picture[] = [timeline, diffusion, caches, memory, flame, machine, help];

const ORDER = [...VIEWS.map(([id]) => id), help.id];

export async function contentsOf(model: Model): Promise<PageContents> {
  const { title, tabs, screen } = model.contents;
  switch (model.kind) {
    case "run":
      return { title, tabs: [...(await tabOfRanks(model)), ...tabsOf(model)] };
    case "ranks": {
      const jobs = drawnJobs(model.jobs, model.widths, await embedded("marey-columns"));
      const read = tabs.flatMap(({ blocks }) => blocks);
      const Body = () => <><Job drawn={useJob(jobs)} /><Blocks blocks={read} /></>;
      const [job, ...others] = model.jobs;
      const isOne = job && others.length === 0;
      const choice = isOne ? null : <JobChoice jobs={jobs} />;
      return { title: isOne ? job.contents.title : title, choice, tabs: [{ id: "ranks", title: "Ranks", Body }] };
    }
    case "comparison": {
      const { comparison } = model;
      giveColours(comparison.paths.map(({ name, held_ns: [, after] }) => ({ name, inclusive_ns: after })));
      knowSections(comparison.paths.map(({ name }) => name));
      const Drawn = () => <Comparison comparison={comparison} />;
      return { title, tabs: tabs.map((read, at) => (at === 0 ? tabOf(read, screen, Drawn) : tabOf(read))) };
    }
    case "document": {
      const Drawn = () => <Snapshots snapshots={model.snapshots} wall={0} bands={[]} />;
      return { title, tabs: tabs.map((read, at) => (at === 0 ? tabOf(read, screen, Drawn) : tabOf(read))) };
    }
  }
}

/** What is read first, what is drawn, and what else is read. */
function tabOf({ id, title, blocks }: Read, screen?: DrawnScreen | null | false, Drawn?: ComponentType | false): Tab {
  const Body = () => (
    <>
      {screen && <FirstScreen screen={screen} />}
      {Drawn && <Drawn />}
      <Blocks blocks={blocks} />
    </>
  );
  return { id, title, Body };
}

/** Tabs of a run in their order: those with blocks, a picture, or both. */
function tabsOf(model: RunModel): Tab[] {
  const { screen, tabs } = model.contents;
  giveColours(model.pictures.call_paths);
  knowSections(model.timeline.paths.names);
  return ORDER.flatMap((id): Tab[] => {
    const read = tabs.find((tab) => tab.id === id);
    const picture = PICTURES.find((picture) => picture.id === id && picture.isShown(model));
    if (!read && !picture) {
      return [];
    }
    const named = { id, title: picture?.title ?? read?.title ?? id, blocks: read?.blocks ?? [] };
    const Drawn = picture && (() => <picture.Body model={model} />);
    return [{ ...tabOf(named, id === ORDER[0] && screen, Drawn), isOnPaper: picture?.isOnPaper ?? true }];
  });
}

/** All ranks, of a run that is one of several. */
async function tabOfRanks({ ranks }: RunModel): Promise<Tab[]> {
  if (!ranks) {
    return [];
  }
  const jobs = drawnJobs([ranks.job], ranks.widths, (await embedded("marey-columns")).subarray(ranks.first_byte));
  // Its times are no times of this run's timeline.
  return [{ id: "ranks", title: "Ranks", Body: () => <Shown.Provider value={new Set(["ranks"])}><Job drawn={jobs[0]} /></Shown.Provider> }];
}
