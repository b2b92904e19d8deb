"""What the page of a run holds: its model, as gzipped JSON in base64, by the names that the truth has for it."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import Any

Model = dict[str, Any]
Row = dict[str, Any]
SECOND = 1e9


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
    # Below the call paths stands the time under none of them.
    for (path, drawn), row in zip(_paths(pictures["call_paths"]).items(), rows["sections"], strict=False):
        key = f"path[{path}]"
        said |= _durations(key, row, ("mean", "median", "p95", "p99", "max", "first", "rest_mean", "inclusive", "self"))
        said[f"{key}.count"] = row["count"]
        said[f"{key}.covered"] = _share(row["share_ratio"], wall)
        assert [drawn[name] for name in ("inclusive_ns", "self_ns", "n_calls", "max_ns")] == [
            row[name] for name in ("inclusive_ns", "self_ns", "count", "max_ns")
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
    if steps := (pictures["diffusion"] or {}).get("steps"):
        said |= _steps(steps)
    said["events"] = [[event["name"], event["data"]] for event in pictures["events"]]
    return said | _sessions(rows["sessions"], pictures["sessions"])


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


def _paths(call_paths: list[Model]) -> dict[str, Model]:
    rows = {row["node"]: row for row in call_paths}

    def path(row: Model) -> str:
        mark = ("~" if row["is_detached"] else "") + ("@" if row["kind"] == "iteration" else "") + row["name"]
        return mark if row["parent"] is None else f"{path(rows[row['parent']])} > {mark}"

    return {path(row): row for row in call_paths}


def _steps(steps: Model) -> dict[str, Any]:
    said: dict[str, Any] = {"steps.outliers": steps["outliers"]}
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
