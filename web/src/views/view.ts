// A picture: what a tab shows beside the blocks of the same id.

import type { ComponentType } from "preact";

import type { RunModel } from "../data/page";

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
