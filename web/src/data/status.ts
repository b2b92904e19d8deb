// How a run ended, in words.

import type { RunStatus } from "./report";

// Numbers of Linux on x86 and Arm: signal(7). By number, from 0 on.
const SIGNALS =
  " HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM         XCPU XFSZ      SYS".split(" ");

/** One sentence fragment; a reason in it is as the user gave it. */
export function statusText(status: RunStatus): string {
  switch (status.kind) {
    case "running":
      return "running when it was read";
    case "finished":
      return "finished";
    case "failed":
      return `failed: ${status.reason ?? "no reason given"}`;
    case "killed": {
      const name = SIGNALS[status.signal ?? 0];
      return status.signal === null ? "killed" : `killed by ${name ? `SIG${name} (${status.signal})` : `signal ${status.signal}`}`;
    }
    case "out_of_memory":
      return status.reason === null ? "out of memory" : `out of memory: ${status.reason}`;
    case "ended_without_closing":
      return "ended without closing its capture";
  }
}

/** The class of its colour. */
export function statusTone(status: RunStatus): "good" | "warn" | "bad" {
  return status.kind === "finished" ? "good" : ["failed", "killed", "out_of_memory"].includes(status.kind) ? "bad" : "warn";
}
