// The views, in the order of their tabs. One file a view.

import { diffusion } from "./diffusion";
import { flame } from "./flame";
import { machine } from "./machine";
import { memory } from "./memory";
import { timeline } from "./timeline";
import { verdict } from "./verdict";
import type { View } from "./view";

export const VIEWS: readonly View[] = [verdict, timeline, diffusion, memory, flame, machine];
