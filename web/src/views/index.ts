// The views, in the order of their tabs. One file a view.

import { caches } from "./caches";
import { diffusion } from "./diffusion";
import { findings } from "./findings";
import { flame } from "./flame";
import { help } from "./help";
import { machine } from "./machine";
import { memory } from "./memory";
import { phases } from "./phases";
import { sessions } from "./sessions";
import { system } from "./system";
import { timeline } from "./timeline";
import { trace } from "./trace";
import { verdict } from "./verdict";
import type { View } from "./view";

export const VIEWS: readonly View[] = [
  verdict,
  phases,
  timeline,
  trace,
  diffusion,
  caches,
  memory,
  flame,
  machine,
  findings,
  sessions,
  system,
  help,
];
