// The views, in the order of their tabs. One file a view.

import type { View } from "./view";
import { timeline } from "./timeline";
import { verdict } from "./verdict";

export const VIEWS: readonly View[] = [verdict, timeline];
