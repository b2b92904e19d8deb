// A view: one tab of the page.

import type { ComponentType } from "preact";

import type { Model } from "../data/page";

export type View = {
  /** In the address. */
  id: string;
  /** On the tab. */
  title: string;
  /** False when the run has nothing for it: a view is never empty. */
  isShown: (model: Model) => boolean;
  /** False when it says nothing of the run; absent: true. */
  isOnPaper?: boolean;
  Body: ComponentType<{ model: Model }>;
};
