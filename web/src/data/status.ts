// How a run ended, in words.

import type { RunStatus } from "./report";

const SIGNALS: Record<number, string> = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  4: "SIGILL",
  5: "SIGTRAP",
  6: "SIGABRT",
  7: "SIGBUS",
  8: "SIGFPE",
  9: "SIGKILL",
  10: "SIGUSR1",
  11: "SIGSEGV",
  12: "SIGUSR2",
  13: "SIGPIPE",
  14: "SIGALRM",
  15: "SIGTERM",
  24: "SIGXCPU",
  25: "SIGXFSZ",
  31: "SIGSYS",
};

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
      return status.signal === null ? "killed" : `killed by ${name ? `${name} (${status.signal})` : `signal ${status.signal}`}`;
    }
    case "ended_without_closing":
      return "ended without closing its capture";
  }
}

/** The class of its colour. */
export function statusTone(status: RunStatus): "good" | "warn" | "bad" {
  return status.kind === "finished" ? "good" : status.kind === "failed" || status.kind === "killed" ? "bad" : "warn";
}
