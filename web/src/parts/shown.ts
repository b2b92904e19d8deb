// Which views the page has, for links to them, and whether it is on paper, where nothing can be pressed.

import { createContext } from "preact";

export const Shown = createContext<ReadonlySet<string>>(new Set());
export const Paper = createContext(false);
