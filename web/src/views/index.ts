// The pictures, one file each, and the tabs in their order.

import { caches } from "./caches";
import { diffusion } from "./diffusion";
import { flame } from "./flame";
import { help } from "./help";
import { machine } from "./machine";
import { memory } from "./memory";
import { timeline } from "./timeline";
import type { Picture } from "./view";

export const PICTURES: readonly Picture[] = [timeline, diffusion, caches, memory, flame, machine, help];

/** Of tabs with blocks, pictures, or both. */
export const TABS = ["overview", "sections", "timeline", "trace", "diffusion", "caches", "memory", "flame", "machine", "sessions", "system", "help"] as const;
