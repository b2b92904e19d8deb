"""What the page of a run holds: its model, as gzipped JSON in base64, by the names that the truth has for it."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import Any

import report_text
from logbook import by_path

Model = dict[str, Any]
Row = dict[str, Any]
SECOND = 1e9
MIB = 1 << 20


def model(html: str) -> Model:
    """The model in a page."""
    found = re.search(r'id="marey-model"[^>]*>\s*([A-Za-z0-9+/=\s]+)<', html)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found.group(1))))


def figures(page: Model) -> dict[str, Any]:
    """All figures of a page that an oracle can know."""
    pictures = page["pictures"]
    rows = tables(page)
    wall = pictures["wall_ns"]
    said: dict[str, Any] = {"run.wall": _s(wall)}
    paths = by_path(pictures["call_paths"], "node")
    # Below the call paths stands the time under none of them.
    for (path, drawn), row in zip(paths.items(), rows["sections"], strict=False):
        key = f"path[{path}]"
        said |= _durations(key, row, ("mean", "median", "p95", "p99", "max", "first", "rest_mean", "inclusive", "self"))
        said |= {f"{key}.count": row["count"], f"{key}.open": drawn["n_open"] or None}
        said[f"{key}.covered"] = _share(row["share_ratio"], wall)
        failed = re.search(r"\((?:iteration, )?(\d+) failed\)", row["section"])
        said[f"{key}.errors"] = int(failed.group(1)) if failed else 0
        assert [drawn[name] for name in ("inclusive_ns", "self_ns", "n_calls", "mean_ns", "max_ns")] == [
            row[name] for name in ("inclusive_ns", "self_ns", "count", "mean_ns", "max_ns")
        ]
    for row in rows["section_names"]:
        if row["count"]:
            key = f"name[{row['section']}]"
            said |= _durations(key, row, ("total", "mean", "min", "max", "p50", "p95"))
            said |= {f"{key}.count": row["count"], f"{key}.covered": _share(row["share_ratio"], wall)}
    for row in rows["loops"]:
        key = f"loop[{row['name']}]"
        said |= _durations(key, row, ("mean", "median", "p95", "p99", "max", "first", "rest_mean", "std_dev"))
        said |= {f"{key}.count": row["count"], f"{key}.errors": row["n_failed"], f"{key}.per_second": row["per_second"]}
    under = [row for row in rows["sections"] if row["section"] == "(under no section)"]
    said["under no section"] = _s(under[0]["inclusive_ns"]) if under else None
    for row in rows["counters"]:
        said |= {f"counter[{row['name']}].{key}": row[key] for key in ("count", "min", "max", "mean", "last")}
    for row in rows["memory_readings"]:
        said[f"reading[{row['label']}]"] = row["allocated_bytes"]
    for row in rows["caches"]:
        key = f"cache[{row['name']}]"
        said |= {f"{key}.hit": row["n_hits"], f"{key}.miss": row["n_misses"], f"{key}.eviction": row["n_evictions"]}
        said |= {f"{key}.lookups": row["n_lookups"], f"{key}.hit_rate": row["hit_ratio"]}
        said[f"{key}.peak_held"] = row["peak_bytes"]
    said |= _diffusion(pictures["diffusion"] or {}, {row["work"]: row for row in rows["step_times"]})
    said |= _layers(rows["layers"]) | _memory_events(rows["memory_events"]) | _used(rows["section_resources"], paths)
    said["events"] = [[event["name"], event["data"]] for event in pictures["events"]]
    return said | _sessions(rows["sessions"], pictures["sessions"])


def sentences(page: Model) -> dict[str, Any]:
    """The figures that a page has in sentences about steps and blocks, as they are written."""
    facts = [
        block["content"]["rows"]
        for tab in page["contents"]["tabs"]
        for block in tab["blocks"]
        if block["kind"] == "facts" and block["content"]["title"] == "Steps and blocks"
    ]
    return report_text.of_sentences(row for rows in facts for row in rows)


class _Tables(dict[str, list[Row]]):
    """Rows by the key of their table; none of a table that is not there."""

    def __missing__(self, key: str) -> list[Row]:
        return []


def tables(page: Model) -> _Tables:
    """The tables of all tabs: the rows of each by the keys of its columns."""
    found = _Tables()

    def collect(blocks: list[Model]) -> None:
        for block in blocks:
            if block["kind"] == "aside":
                collect(block["content"][1])
            elif block["kind"] == "table":
                table = block["content"]
                keys = [column["key"] for column in table["columns"]]
                rows = [dict(zip(keys, map(_value, row), strict=True)) for row in table["rows"]]
                found.setdefault(table["key"], []).extend(rows)

    for tab in page["contents"]["tabs"]:
        collect(tab["blocks"])
    return found


def _value(cell: Model) -> Any:
    value = cell.get("value")
    if cell["unit"] in ("about", "at_least"):
        return _value(value)
    return value[1] if cell["unit"] == "nested" else value


def _s(ns: float | None) -> float | None:
    return None if ns is None else ns / SECOND


def _share(ratio: float | None, wall: float) -> float | None:
    return None if ratio is None else ratio * wall / SECOND


def _durations(key: str, row: Row, names: tuple[str, ...]) -> dict[str, Any]:
    return {f"{key}.{name}": _s(row[f"{name}_ns"]) for name in names}


def _diffusion(found: Model, shown: dict[str, Row]) -> dict[str, Any]:
    """Steps and blocks; ``shown`` are rows of the table of their times, which say the same of them."""
    said: dict[str, Any] = {}
    if steps := found.get("steps"):
        said |= _all("steps", steps["all"])
        said |= {f"steps.{name}": steps[key] for name, key in (("loops", "n_loops"), ("fps", "frames_per_second"))}
        said |= {f"steps.{key}": steps[key] for key in ("per_loop_max", "total_frames", "outliers")}
        said["steps.bps"] = steps["loops_per_second"]
        said |= _range("steps.timestep", steps["timesteps"]) | _range("steps.frames", steps["frames"])
        said |= _figures("steps.warm_up", steps["warm_up"], shown.get("First step"))
        said |= _figures("steps.steady", steps["steady"], shown.get("Other steps"))
        loops = list(dict.fromkeys(step["loop_number"] for step in steps["each"]))
        keys = ("step", "timestep", "frames", "loop_number", "n_passes", "is_cached")
        said["steps.each"] = [
            [loops.index(step[key]) if key == "loop_number" else step[key] for key in keys] for step in steps["each"]
        ]
        assert sum(step["duration_ns"] for step in steps["each"]) == steps["all"]["total_ns"]
    if caching := found.get("caching"):
        said["steps.caching.cached"] = caching["n_cached"]
        said["steps.caching.computed"] = caching["n_computed"]
        said["steps.caching.saved"] = _s(caching["saved_ns"])
    if blocks := found.get("blocks"):
        said |= _all("blocks", blocks["all"])
        said |= {"blocks.fps": blocks["frames_per_second"], "blocks.bps": blocks["loops_per_second"]}
        said |= {"blocks.total_frames": blocks["total_frames"], "blocks.jitter": _s(blocks["jitter_ns"])}
        said["blocks.time_to_first"] = _s(blocks["time_to_first_ns"])
        said |= _range("blocks.frames", blocks["frames"]) | _range("blocks.memory", blocks["memory_bytes"], MIB)
        said |= _figures("blocks.between", blocks["between"], shown.get("Between blocks"))
    for rate in found.get("rates", []):
        if "frames delivered" not in rate["meaning"]:
            holds = [rate["kind"], rate["includes_text_encoding"], rate["includes_vae"]]
            holds = [rate["kind"], "generations"] if "generations" in rate["meaning"] else holds
            said[f"rate[{', '.join(map(str, holds))}]"] = rate["per_second"]
    if models := found.get("models"):
        said["models"] = {model["name"]: model["parameters"] for model in models["each"]}
        said["parameters"] = models["parameters"]
    return said


def _all(key: str, found: Model) -> dict[str, Any]:
    said = {f"{key}.{name}": _s(found[f"{name}_ns"]) for name in ("total", "min", "max")}
    return said | {f"{key}.count": found["count"], f"{key}.avg": _s(found["mean_ns"])}


def _figures(key: str, found: Model | None, shown: Row | None) -> dict[str, Any]:
    """Figures of durations; the table has some of them."""
    if found is None:
        assert shown is None
        return {}
    assert shown is not None
    assert shown.items() >= {name: found[name] for name in shown.keys() & found.keys()}.items()
    return _all(key, found) | {f"{key}.{name}": _s(found[f"{name}_ns"]) for name in ("p50", "p95", "p99", "std_dev")}


def _range(key: str, found: Model | None, unit: int = 1) -> dict[str, Any]:
    names = (("avg", "mean"), ("min", "min"), ("max", "max"))
    return {f"{key}.{name}": None if found is None else found[field] / unit for name, field in names}


def _layers(rows: list[Row]) -> dict[str, Any]:
    said: dict[str, Any] = {"layers": len(rows) or None}
    if rows:
        said["layers.total"] = _s(sum(row["total_ns"] for row in rows))
    for row in rows:
        key = f"layer[{row['name']}]"
        said |= _durations(key, row, ("total", "mean", "min", "max"))
        said |= {f"{key}.calls": row["count"], f"{key}.share": row["share_ratio"]}
        said[f"{key}.parameters"] = row["n_parameters"]
    return said


def _memory_events(rows: list[Row]) -> dict[str, Any]:
    sums = ("n_allocations", "allocated_bytes", "n_releases", "released_bytes", "held_bytes")
    if not rows:
        return {}
    return {
        "memory_events.all": [sum(row[name] for row in rows) for name in sums],
        "memory_events.uses": [[row[name] for name in ("allocator", "context", *sums)] for row in rows],
    }


def _used(rows: list[Row], paths: dict[str, Model]) -> dict[str, Any]:
    """What outer sections used; where call paths of a name are of several kinds, which of them is meant is not said."""
    marks: dict[str, list[str]] = {}
    for path in paths:
        marks.setdefault(" / ".join(name.lstrip("~@") for name in path.split(" > ")), []).append(path)
    said: dict[str, Any] = {}
    for row in rows:
        if len(marks[row["section"]]) == 1:
            key = f"used[{marks[row['section']][0]}]"
            said |= {f"{key}.calls": row["n_measured"]}
            said |= {f"{key}.cpu_s": _s(row["cpu_ns"]), f"{key}.thread_cpu_s": _s(row["thread_cpu_ns"])}
            said |= {f"{key}.{name}": row[name] for name in ("read_bytes", "written_bytes", "growth_bytes")}
    return said


def _sessions(rows: list[Row], drawn: list[Model]) -> dict[str, Any]:
    said: dict[str, Any] = {"sessions": len(rows)}
    for row, session in zip(rows, drawn, strict=True):
        key = f"session[{row['name']}]."
        said[f"{key}duration"] = _s(row["duration_ns"])
        said[f"{key}start"] = _s(row["start_ns"])
        said[f"{key}tags"] = session["tags"]
        if row["cpu_ns"] is not None:
            said[f"{key}used.cpu_s"] = _s(row["cpu_ns"])
            said |= {f"{key}used.{name}": row[name] for name in ("read_bytes", "growth_bytes")}
    return said
