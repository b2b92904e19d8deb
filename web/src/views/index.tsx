// The tabs of a run: what is read, and the pictures, one file each.

import type { ComponentType } from "preact";

import type { RunModel } from "../data/page";
import { Blocks } from "../parts/blocks";
import { FirstScreen } from "../parts/first_screen";
import { giveColours } from "../parts/palette";
import type { Tab } from "../shell/page";
import { caches } from "./caches";
import { diffusion } from "./diffusion";
import { flame } from "./flame";
import { help } from "./help";
import { machine } from "./machine";
import { memory } from "./memory";
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

const ORDER = ["overview", "sections", "timeline", "trace", "diffusion", "caches", "memory", "flame", "machine", "sessions", "system", "help"];

/** In their order: those with blocks, a picture, or both. */
export function tabsOf(model: RunModel): Tab[] {
  const { screen, tabs } = model.contents;
  giveColours(model.pictures.call_paths);
  return ORDER.flatMap((id): Tab[] => {
    const read = tabs.find((tab) => tab.id === id);
    const picture = PICTURES.find((picture) => picture.id === id && picture.isShown(model));
    if (!read && !picture) {
      return [];
    }
    const Body = () => (
      <>
        {id === ORDER[0] && screen && <FirstScreen screen={screen} />}
        {picture && <picture.Body model={model} />}
        {read && <Blocks blocks={read.blocks} />}
      </>
    );
    return [{ id, title: picture?.title ?? read?.title ?? id, isOnPaper: picture?.isOnPaper ?? true, Body }];
  });
}
