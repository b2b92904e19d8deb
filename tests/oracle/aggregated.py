"""What ``marey aggregate --format json`` says of the ranks of a job, and what is true of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bounds
import generation_truth
import section_truth
from figures import Figures, exact, timed
from logbook import Call, Log


def truth(by_rank: Mapping[int | None, Log]) -> Figures:
    """Of the logs of all ranks; a process outside of a job of ranks has None."""
    logs = list(by_rank.values())
    said: Figures = {"ranks": exact(len(logs))}
    for path in dict.fromkeys(_path(call) for log in logs for call in log.calls):
        each = [[call for call in log.calls if _path(call) == path and call.has_ended] for log in logs]
        calls = [call for own in each for call in own]
        if not calls:
            continue
        key = f"path[{path}]"
        figures = section_truth.of_calls(calls)
        said |= {f"{key}.{name}": figures[name] for name in ("count", "errors", "total", "min", "max")}
        totals = [bounds.total(call.duration for call in own) for own in each if own]
        said[f"{key}.totals.ranks"] = exact(len(totals))
        said[f"{key}.totals.min"] = timed(bounds.ordered(totals, 0))
        said[f"{key}.totals.max"] = timed(bounds.ordered(totals, len(totals) - 1))
        said[f"{key}.totals.median"] = timed(bounds.median(totals))
        said[f"{key}.totals.mean"] = timed(bounds.total(totals).times(1 / len(totals)))
    steps = [generation_truth.steps_of(log) for log in logs]
    said["steps"] = exact(sum(map(len, steps)))
    steady = [bounds.median([step.duration for step in own[1:]]) for own in steps if len(own) > 1]
    if len(steady) == len(logs):
        said["steps.median.min"] = timed(bounds.ordered(steady, 0))
        said["steps.median.max"] = timed(bounds.ordered(steady, len(steady) - 1))
    said["blocks"] = exact(sum(len(log.of("block")) for log in logs))
    for rank, log in by_rank.items():
        said[f"rank[{rank}].wall"] = timed(log.wall)
        deliveries = log.of("delivery")
        frames = sum(line["given"]["batch_size"] for line in deliveries)
        if not deliveries:  # Then those that VAE decoding says it made, where blocks or steps are known.
            frames = sum(c.attributes.get("frames", 0) for c in log.calls if c.name == "vae_decode" and c.has_ended)
        said[f"rank[{rank}].pixel_frames"] = exact(frames) if frames else exact(None, 0)
        said[f"rank[{rank}].sessions"] = exact(len(log.sessions))
    return said


def _path(call: Call) -> str:
    """Names, and whether it is a turn: what ran beside its parent has the path of what did not."""
    names = " > ".join(mark.lstrip("~@") for mark in call.path)
    return f"{names} (turns)" if call.is_turn else names


def figures(document: dict[str, Any]) -> dict[str, Any]:
    """The figures of the one job of a document."""
    (job,) = document["jobs"]
    said: dict[str, Any] = {"ranks": document["rank_count"]}
    for row in job["sections"]:
        if not row["count"]:
            continue
        key = f"path[{' > '.join(row['path'])}{' (turns)' if row['is_iteration'] else ''}]"
        said |= {f"{key}.count": row["count"], f"{key}.errors": row["errors"]}
        said |= {f"{key}.{name}": row[f"{name}_s"] for name in ("total", "min", "max")}
        said[f"{key}.totals.ranks"] = row["totals"]["n_ranks"]
        said |= {f"{key}.totals.{name}": row["totals"][f"{name}_s"] for name in ("min", "max", "median", "mean")}
    for kind in ("steps", "blocks"):
        said[kind] = job[kind]["count"] if job[kind] else 0
    if job["steps"] and (medians := job["steps"]["medians"]):
        said |= {f"steps.median.{name}": medians[f"{name}_s"] for name in ("min", "max")}
    for member in job["members"]:
        key = f"rank[{member['rank']}]"
        said[f"{key}.wall"] = member["wall_s"]
        said[f"{key}.pixel_frames"] = (member["work"] or {}).get("pixel_frames")
        said[f"{key}.sessions"] = (member["work"] or {}).get("n_sessions")
    return said
