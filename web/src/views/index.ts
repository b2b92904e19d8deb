// The views, in the order of their tabs. One file a view.

import { caches } from "./caches";
import { findings } from "./findings";
import { help } from "./help";
import { phases } from "./phases";
import { sessions } from "./sessions";
import { system } from "./system";
import { timeline } from "./timeline";
import { verdict } from "./verdict";
import type { View } from "./view";

export const VIEWS: readonly View[] = [verdict, phases, timeline, caches, findings, sessions, system, help];
