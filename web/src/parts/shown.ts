// Which views the page has, for links to them.

import { createContext } from "preact";

export const Shown = createContext<ReadonlySet<string>>(new Set());
