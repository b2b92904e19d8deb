"""What the page of a run holds: its model, as gzipped JSON in base64, by the names that the truth has for it."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import Any

Model = dict[str, Any]
SECOND = 1e9


def model(html: str) -> Model:
    """The model in a page."""
    found = re.search(r'id="marey-model"[^>]*>\s*([A-Za-z0-9+/=\s]+)<', html)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found.group(1))))["report"]


def figures(report: Model) -> dict[str, Any]:
    """All figures of a page that an oracle can know."""
    wall = report["run"]["wall_ns"]
    said: dict[str, Any] = {"run.wall": _s(wall)}
    for path, row in _paths(report).items():
        key = f"path[{path}]"
        said |= _calls(key, row["calls"])
        said[f"{key}.inclusive"] = _s(row["inclusive_ns"])
        said[f"{key}.self"] = _s(row["self_ns"])
        said[f"{key}.covered"] = _share(row["share_of_wall_ratio"], wall)
    for row in report["sections"]["by_name"]:
        if row["calls"]["count"]:
            said |= _calls(f"name[{row['name']}]", row["calls"])
            said[f"name[{row['name']}].self"] = _s(row["self_ns"]) if row["is_self_known"] else None
            said[f"name[{row['name']}].covered"] = _share(row["share_of_wall_ratio"], wall)
    for row in report["iterations"]:
        said |= _calls(f"loop[{row['name']}]", row["calls"])
        said[f"loop[{row['name']}].per_second"] = row["per_second"]
    said["under no section"] = _s(report["sections"]["under_no_section"].get("known"))
    for row in report["counters"]:
        said |= {f"counter[{row['name']}].{key}": row[key] for key in ("count", "min", "max", "mean", "last")}
    for reading in report["memory"]["labelled"] if report["memory"] else ():
        said[f"reading[{reading['label']}]"] = reading["allocated_bytes"]
    said |= _activity("", report["activity"])
    said["sessions"] = len(report["sessions"])
    for session in report["sessions"]:
        key = f"session[{session['name']}]."
        parent = session["parent"]
        said[f"{key}duration"] = _s(session["duration_ns"])
        said[f"{key}start"] = _s(session["start_ns"])
        said[f"{key}tags"] = session["tags"]
        if used := session["used"]:
            process = used["process"]
            said[f"{key}used.cpu_s"] = _s(process["cpu_ns"])
            said |= {f"{key}used.{name}": process[name] for name in ("read_bytes", "written_bytes")}
            said[f"{key}used.growth_bytes"] = used["growth_bytes"]
        said[f"{key}parent"] = None if parent is None else report["sessions"][parent]["name"]
        if session.get("activity"):
            said |= _activity(key, session["activity"])
    return said


def _s(ns: float | None) -> float | None:
    return None if ns is None else ns / SECOND


def _share(ratio: float | None, wall: float) -> float | None:
    return None if ratio is None else ratio * wall / SECOND


def _paths(report: Model) -> dict[str, Model]:
    rows = {row["node"]: row for row in report["sections"]["tree"]}

    def path(row: Model) -> str:
        mark = ("~" if row["is_detached"] else "") + ("@" if row["kind"] == "iteration" else "") + row["name"]
        return mark if row["parent"] is None else f"{path(rows[row['parent']])} > {mark}"

    return {path(row): row for row in rows.values()}


def _calls(key: str, calls: Model) -> dict[str, Any]:
    said: dict[str, Any] = {f"{key}.count": calls["count"], f"{key}.errors": calls["errors"]}
    for name in ("total", "mean", "min", "max", "first", "rest_mean", "last", "median", "std_dev"):
        said[f"{key}.{name}"] = _s(calls[f"{name}_ns"])
    percentiles = calls["percentiles"] or {}
    for name in ("p50", "p95", "p99"):
        said[f"{key}.{name}"] = _s(percentiles.get(f"{name}_ns"))
    said[f"{key}.percentiles_are_exact"] = percentiles.get("is_exact")
    return said


def _activity(prefix: str, activity: Model) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if stages := activity["stages"]:
        said["stages.count"] = len(stages["each"])
        for row in stages["each"]:
            key = f"stage[{row['name']}]"
            said[f"{key}.count"] = row["calls"]["count"]
            said |= {f"{key}.{name}": _s(row["calls"][f"{name}_ns"]) for name in ("total", "mean", "min", "max")}
            said[f"{key}.covered"] = _share(row["share_ratio"], stages["wall_ns"])
            said[f"{key}.own"] = _s(row["under_no_other_stage_ns"])
    diffusion = activity["diffusion"] or {}
    if steps := diffusion.get("steps"):
        said |= _steps(steps, diffusion.get("caching"))
    if blocks := diffusion.get("blocks"):
        said |= _blocks(blocks)
    if streaming := activity["streaming"]:
        said["streaming.deliveries"] = streaming["n_events"]
        said["streaming.frames"] = streaming["frames"]
        said["streaming.dropped"] = streaming["dropped_frames"]
        said["streaming.fps"] = streaming["frames_per_second"]
        said["streaming.delivery_time"] = _s(streaming["delivery_ns"])
    if caches := activity["caches"]:
        for row in [caches["all"], *caches["each"]]:
            key = f"cache[{row['name']}]" if row["name"] else "caches"
            said |= {f"{key}.hit": row["hits"], f"{key}.miss": row["misses"], f"{key}.eviction": row["evictions"]}
            said |= {f"{key}.lookups": row["lookups"], f"{key}.hit_rate": row["hit_ratio"]}
    if models := diffusion.get("models"):
        said["models"] = {row["name"]: row["parameters"] for row in models["each"]}
        said["parameters"] = models["parameters"]
    said["events"] = [[event["name"], event["data"]] for event in activity["events"]]
    return {f"{prefix}{name}": value for name, value in said.items()}


def _durations(key: str, row: Model | None) -> dict[str, Any]:
    if row is None:
        return {}
    said: dict[str, Any] = {f"{key}.count": row["count"], f"{key}.avg": _s(row["mean_ns"])}
    return said | {f"{key}.{name}": _s(row[f"{name}_ns"]) for name in ("total", "min", "max", "p50", "p95", "p99")}


def _steps(steps: Model, caching: Model | None) -> dict[str, Any]:
    said: dict[str, Any] = {"steps.loops": steps["n_loops"], "steps.per_loop_max": steps["per_loop_max"]}
    everything = _durations("steps", steps["all"])
    said |= {name: value for name, value in everything.items() if not name.startswith("steps.p")}
    said |= _durations("steps.warm_up", steps["warm_up"]) | _durations("steps.steady", steps["steady"])
    said["steps.total_frames"] = steps["total_frames"]
    said["steps.fps"] = steps["frames_per_second"]
    said["steps.bps"] = steps["loops_per_second"]
    said["steps.outliers"] = steps["outliers"]
    loops = list(dict.fromkeys(step["loop_number"] for step in steps["each"]))
    said["steps.each"] = [
        [
            step["step"],
            step["timestep"],
            step["frames"],
            loops.index(step["loop_number"]),
            step["n_passes"],
            step["is_cached"],
        ]
        for step in steps["each"]
    ]
    if caching:
        said["steps.caching.cached"] = caching["n_cached"]
        said["steps.caching.computed"] = caching["n_computed"]
        said["steps.caching.saved"] = _s(caching["saved_ns"])
    return said


def _blocks(blocks: Model) -> dict[str, Any]:
    everything = _durations("blocks", blocks["all"])
    said = {name: value for name, value in everything.items() if not name.startswith("blocks.p")}
    said["blocks.total_frames"] = blocks["total_frames"]
    said["blocks.fps"] = blocks["frames_per_second"]
    said["blocks.bps"] = blocks["per_second"]
    said["blocks.time_to_first"] = _s(blocks["time_to_first_ns"])
    said["blocks.jitter"] = _s(blocks["jitter_ns"])
    return said
