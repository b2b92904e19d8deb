"""What ``marey compare --format json`` says of two runs, and what is true of each."""

from __future__ import annotations

from typing import Any

import bounds
import generation_truth
from figures import Figures, exact, timed
from logbook import Log


def truth(log: Log, side: str) -> Figures:
    """Of one side's log."""
    said: Figures = {f"{side} wall": timed(log.wall)}
    for path in dict.fromkeys(call.path for call in log.calls):
        calls = [call for call in log.calls if call.path == path]
        key = f"{side} path[{' > '.join(mark.lstrip('~@') for mark in path)}]"
        said[f"{key}.total"] = timed(bounds.total(call.duration for call in calls))
        said[f"{key}.calls"] = exact(len(calls), float(len(calls)))
    steps = generation_truth.steps_of(log)
    if steps:
        said[f"{side} steps"] = exact(float(len(steps)))
        said[f"{side} first step"] = timed(steps[0].duration)
    if len(steps) > 1:
        said[f"{side} step"] = timed(bounds.median([step.duration for step in steps[1:]]))
    return said


KINDS = {
    "wall_time": "wall",
    "section_total": "path[{}].total",
    "section_calls": "path[{}].calls",
    "steps": "steps",
    "first_step": "first step",
    "step": "step",
}


def figures(document: dict[str, Any]) -> dict[str, Any]:
    """Both sides' values of the measures that an oracle can know."""
    said: dict[str, Any] = {}
    for measure in document["measures"]:
        if measure["kind"] in KINDS:
            name = KINDS[measure["kind"]].format(" > ".join(measure["subject"]["path"] or []))
            for side in ("baseline", "candidate"):
                if measure[side] is not None:
                    said[f"{side} {name}"] = measure[side]["value"]
    return said
