"""What the tables of a recording say (``marey.load``, and so Parquet), by the names that the truth has for it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from tables import Row, rows

SECOND = 1e9


def read(recording: Path) -> dict[str, list[Row]]:
    """Every table by its kind."""
    import marey

    run = marey.load(recording)
    return {kind: rows(run.to_arrow(kind)) for kind in run.kinds}


def figures(found: dict[str, list[Row]]) -> dict[str, Any]:
    """The figures that follow from rows by counting and adding up, as a query would."""
    said: dict[str, Any] = {"run.wall": found["processes"][0]["wall_ns"] / SECOND}
    totals: dict[str, list[Row]] = {}
    for row in found["totals"]:
        if not row["is_iteration"]:
            totals.setdefault(row["name"], []).append(row)
    for name, of_name in totals.items():
        key = f"name[{name}]"
        # Of a call path whose calls had not ended there is only their time so far.
        own = [row for row in of_name if row["calls"]]
        if not own:
            continue
        said[f"{key}.count"] = sum(row["calls"] for row in own)
        said[f"{key}.errors"] = sum(row["errors"] for row in own)
        said[f"{key}.total"] = sum(row["total_ns"] for row in own) / SECOND
        said[f"{key}.self"] = sum(row["self_ns"] for row in of_name) / SECOND
        said[f"{key}.min"] = min(row["min_ns"] for row in own) / SECOND
        said[f"{key}.max"] = max(row["max_ns"] for row in own) / SECOND
    for name in {row["name"] for row in found["sections"] if not row["is_iteration"]}:
        durations = sorted(
            row["duration_ns"] for row in found["sections"] if row["name"] == name and not row["is_iteration"]
        )
        middle = len(durations) // 2
        said[f"name[{name}].p50"] = (durations[middle] + durations[-middle - 1]) / 2 / SECOND
        said[f"name[{name}].p95"] = durations[math.ceil(len(durations) * 0.95) - 1] / SECOND
    said |= _sessions(found) | _turns(found)
    events = sorted(found["events"], key=lambda row: row["at_unix_ns"])
    said["events"] = [[row["name"], json.loads(row["data"] or "{}")] for row in events]
    for name in {row["name"] for row in found["counters"]}:
        values = [row["value"] for row in found["counters"] if row["name"] == name]
        said |= {f"counter[{name}].count": len(values), f"counter[{name}].max": max(values)}
    for row in found["memory"]:
        if row["label"] is not None:
            said[f"reading[{row['label']}]"] = row["allocated_bytes"]
    for name in {row["cache"] for row in found["cache"]}:
        outcomes = [row["outcome"] for row in found["cache"] if row["cache"] == name]
        said |= {f"cache[{name}].{kind}": outcomes.count(kind) for kind in ("hit", "miss", "eviction")}
    return said


def _sessions(found: dict[str, list[Row]]) -> dict[str, Any]:
    """Sections have the innermost session that they belong to; the truth counts them in the outer ones, too."""
    said: dict[str, Any] = {"sessions": len(found["sessions"])}
    parents = {row["session"]: row["parent"] for row in found["sessions"]}
    counts: dict[tuple[str, str], int] = {}
    for row in found["sections"]:
        session = row["session"]
        while session is not None and not row["is_iteration"]:
            counts[session, row["name"]] = counts.get((session, row["name"]), 0) + 1
            session = parents[session]
    said |= {f"session[{session}].stage[{name}].count": count for (session, name), count in counts.items()}
    for row in found["sessions"]:
        key = f"session[{row['session']}]."
        said[f"{key}parent"] = row["parent"]
        said[f"{key}duration"] = None if row["duration_ns"] is None else row["duration_ns"] / SECOND
        if row["cpu_ns"] is not None:
            said[f"{key}used.cpu_s"] = row["cpu_ns"] / SECOND
            said |= {f"{key}used.{name}": row[name] for name in ("read_bytes", "written_bytes")}
            said[f"{key}used.growth_bytes"] = row["resident_after_bytes"] - row["resident_before_bytes"]
        said[f"{key}tags"] = json.loads(row["tags"] or "{}")
    return said


def _turns(found: dict[str, list[Row]]) -> dict[str, Any]:
    said: dict[str, Any] = {}
    steps = [row for row in found["steps"] if row["duration_ns"] is not None]
    if steps:
        steps.sort(key=lambda row: row["end_unix_ns"])
        loops = list(dict.fromkeys(map(_loop, steps)))
        slow = [place for place, row in enumerate(steps) if row["is_outlier"]]
        said["steps.outliers"] = sorted(slow, key=lambda place: -steps[place]["duration_ns"])
        said["steps.count"] = len(steps)
        said["steps.total"] = sum(row["duration_ns"] for row in steps) / SECOND
        said["steps.loops"] = len(loops)
        keys = ("step", "timestep", "frames", "loop", "passes", "is_cached")
        said["steps.each"] = [[loops.index(_loop(row)) if key == "loop" else row[key] for key in keys] for row in steps]
    if blocks := found["blocks"]:
        said["blocks.count"] = len(blocks)
        said["blocks.total"] = sum(row["duration_ns"] for row in blocks) / SECOND
        frames = [row["frames"] for row in blocks if row["frames"] is not None]
        said["blocks.total_frames"] = sum(frames) if frames else None
    return said


def _loop(row: Row) -> tuple[str, int]:
    return row["process"], row["loop"]
