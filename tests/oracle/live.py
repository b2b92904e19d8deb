"""What ``marey top --once --json`` says of a process, by the names that the truth has for it."""

from __future__ import annotations

import math
from typing import Any

import bounds
import generation_truth
import section_truth
from bounds import Bounds
from figures import Figures, exact, timed
from logbook import Log, by_path

CALLS = ("count", "errors", "total", "mean", "min", "max", "last")


def truth(log: Log) -> Figures:
    """What was so when the program paused."""
    said: Figures = {}
    for path in dict.fromkeys(call.path for call in log.calls):
        calls = [call for call in log.calls if call.path == path]
        found = section_truth.of_calls(calls)
        if found["count"] != exact(0):
            said |= {f"path[{' > '.join(path)}].{key}": found[key] for key in CALLS}
    still_open = sorted(" > ".join(part.lstrip("~@") for part in c.path) for c in log.calls if not c.has_ended)
    said["open"] = exact(still_open)
    steps = generation_truth.steps_of(log)
    # Turns that are steps have the rate of the newest ones that were seen: any of theirs.
    is_reported = bool(log.of("step"))
    said["steps"] = exact(len(steps))
    blocks, deliveries = log.of("block"), log.of("delivery")
    said["blocks"] = exact(len(blocks))
    said["streamed_frames"] = exact(sum(line["given"]["batch_size"] for line in deliveries))
    said["dropped_frames"] = exact(sum(line["count"] for line in log.of("dropped")))
    ends = [step.end for step in steps]
    paths = {call.path for call in log.calls if call.loop is not None and call.has_ended}
    if is_reported or len(ends) < 2:
        said["steps_per_second"] = _rate(ends)
    else:
        # Of turns at several places nobody knows how many of the others ended since one of them did.
        unknown = [None] if len(paths) > 1 else []
        said["steps_per_second"] = timed(Bounds(0, math.inf), *unknown)
    if len({line["thread"] for line in log.of("step")}) > 1 and len(ends) > 1:
        # Where another thread reports a step before the first one's last pass, that began with its first.
        began = min((line["at"] for line in log.of("step")), key=lambda at: at.low)
        last = max(ends, key=lambda end: end.low)
        whole = bounds.exactly(len(ends) - 1) / (last - began).at_least(0)
        first = min(ends, key=lambda end: end.low)
        exact_rate = bounds.exactly(len(ends) - 1) / (last - first).at_least(0)
        said["steps_per_second"] = timed(Bounds(whole.low, exact_rate.high))
    said["blocks_per_second"] = _rate([line["at"] for line in blocks])
    return said


def _rate(ends: list[Bounds]) -> Any:
    """Those after the first, over the time from the first to the last."""
    if len(ends) < 2:
        return exact(None)
    ordered = sorted(ends, key=lambda end: end.low)
    return timed(bounds.exactly(len(ends) - 1) / (ordered[-1] - ordered[0]))


def figures(document: dict[str, Any]) -> dict[str, Any]:
    """The figures of the one process of a document."""
    (process,) = document["processes"]
    said: dict[str, Any] = {}
    for path, row in by_path(process["sections"]).items():
        if row["count"]:
            key = f"path[{path}]"
            said |= {f"{key}.{figure}": row[figure] for figure in ("count", "errors")}
            seconds = ("total", "mean", "min", "max", "last")
            said |= {f"{key}.{figure}": row.get(f"{figure}_s") for figure in seconds}
    said["open"] = sorted(" > ".join(row["path"]) for row in process["open_sections"])
    generation = process.get("generation") or {}
    names = ("steps", "blocks", "streamed_frames", "dropped_frames", "steps_per_second", "blocks_per_second")
    return said | {name: generation.get(name) for name in names}
