"""What ``marey report`` shows on a terminal: numbers as they are written, with what their last digit leaves open."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}
NUMBER = re.compile(r"^[≥≈]?\s*(-?\d+(?:\.\d+)?)\s*(ns|µs|ms|s|%|it/s|[KMG]iB)?$")
# Columns of the tables by their headers, and what the truth calls them.
SECTION_COLUMNS = {
    "Count": "count",
    "Inclusive": "inclusive",
    "Self": "self",
    "Mean": "mean",
    "Median": "median",
    "p95": "p95",
    "p99": "p99",
    "Max": "max",
    "First": "first",
    "Mean of rest": "rest_mean",
}
LOOP_COLUMNS = {
    "Count": "count",
    "Failed": "errors",
    "First": "first",
    "Mean of rest": "rest_mean",
    "Mean": "mean",
    "Median": "median",
    "p95": "p95",
    "p99": "p99",
    "Max": "max",
    "Std dev": "std_dev",
    "it/s": "per_second",
}
NAME_COLUMNS = {"Count": "count", "Total": "total", "Mean": "mean", "Min": "min", "Max": "max"}
CACHE_COLUMNS = {"Lookups": "lookups", "Hits": "hit", "Misses": "miss", "Evictions": "eviction"}


@dataclass(frozen=True)
class Shown:
    """A number as it is shown, and half of its last digit."""

    value: float
    rounding: float


def number(text: str) -> Any:
    """A count, a shown number, or None for ``-``."""
    if text == "-":
        return None
    found = NUMBER.match(text)
    assert found is not None, text
    digits, unit = found.groups()
    if unit is None and "." not in digits:
        return int(digits)
    decimals = len(digits.partition(".")[2])
    factor = UNITS.get(unit or "", 1.0)
    return Shown(float(digits) * factor, 0.5 * 10**-decimals * factor * 1.001)


def figures(text: str) -> dict[str, Any]:
    """The figures of the tables of sections, loops, caches, steps and blocks."""
    said: dict[str, Any] = {}
    for name, row in _table(text, "TIME BY SECTION NAME"):
        said |= _known(f"name[{name.strip()}]", row, NAME_COLUMNS)
    around: list[str] = []
    for name, row in _table(text, "INCLUSIVE AND SELF TIME"):
        if name == "(under no section)":
            said["under no section"] = number(row["Inclusive"])
        elif name != "(before the recording)":
            depth = (len(name) - len(name.lstrip())) // 2
            around = [*around[:depth], _mark(name)]
            key = f"path[{' > '.join(around)}]"
            said |= _known(key, row, SECTION_COLUMNS)
            failed = re.search(r"\((\d+) failed\)", name)
            said[f"{key}.errors"] = int(failed.group(1)) if failed else 0
    for name, row in _table(text, "LOOPS, WARM-UP AND STEADY STATE"):
        said |= _known(f"loop[{name.strip()}]", row, LOOP_COLUMNS)
    for name, row in _table(text, "CACHES, HITS OVER LOOKUPS"):
        said |= _known(f"cache[{name.strip()}]", row, CACHE_COLUMNS)
        if "Hit rate" in row:
            said[f"cache[{name.strip()}].hit_rate"] = _ratio(row["Hit rate"])
    return said | _steps(text)


def _known(of: str, row: dict[str, str], columns: dict[str, str]) -> dict[str, Any]:
    """A column in which nothing is known is not shown."""
    return {f"{of}.{name}": number(row[header]) if header in row else None for header, name in columns.items()}


def _ratio(percent: str) -> Any:
    shown = number(percent)
    return Shown(shown.value / 100, shown.rounding / 100) if isinstance(shown, Shown) else shown


# What each sentence about steps and blocks says, and what the truth calls it.
SENTENCES = (
    ("Steps", r"(\d+) steps? in", "steps.count"),
    ("Steps", r"in (\d+) loops?", "steps.loops"),
    ("Steps", r"of at most (\d+)", "steps.per_loop_max"),
    ("Blocks", r"(\d+) blocks?", "blocks.count"),
    ("Blocks", r"of (\d+) latent", "blocks.total_frames"),
    ("Blocks", r"at (\S+) blocks/s", "blocks.bps"),
    ("Time to first block", r"^(\S+ \S+)", "blocks.time_to_first"),
    ("Jitter between blocks", r"^(\S+ \S+)", "blocks.jitter"),
    ("Cached steps", r"^(\d+) of", "steps.caching.cached"),
    ("Cached steps", r"saved (\S+ \w+)", "steps.caching.saved"),
)
# Likewise rows of the table of their times: row, column.
TIMES = (
    ("Other steps", "p50", "steps.steady.p50"),
    ("Other steps", "p95", "steps.steady.p95"),
    ("Other steps", "Max", "steps.steady.max"),
    ("Between blocks", "p50", "blocks.between.p50"),
)


def of_sentences(rows: Iterable[Sequence[str]]) -> dict[str, Any]:
    """The figures in sentences about steps and blocks, each with its label."""
    said: dict[str, Any] = {}
    for label, sentence in rows:
        for about, pattern, name in SENTENCES:
            if label == about and (found := re.search(pattern, sentence)):
                said[name] = number(found.group(1))
    return said


def _steps(text: str) -> dict[str, Any]:
    lines = (re.split(r"\s{2,}", line, maxsplit=1) for line in _block(text, "STEPS AND BLOCKS"))
    said = of_sentences(line for line in lines if len(line) > 1)
    times = dict(_table(text, "TIMES OF STEPS AND BLOCKS"))
    said |= {name: number(times[row][column]) for row, column, name in TIMES if row in times}
    first = times.get("First step")
    if first is not None and first["Count"] == "1":
        said["steps.warm_up.total"] = number(first["Mean"])
    return said


def _mark(name: str) -> str:
    """The mark of a path for a name in the table: without what stands behind it."""
    is_turn = "(iteration" in name
    bare = (
        re.sub(r"\s*\((iteration|iteration, \d+ failed|\d+ failed)\)", "", name).strip().removesuffix(" *").rstrip("*")
    )
    is_beside = bare.startswith("~")
    return ("~" if is_beside else "") + ("@" if is_turn else "") + bare.removeprefix("~").strip()


def _block(text: str, title: str) -> list[str]:
    """Lines below a title, up to an empty one."""
    lines = iter(text.splitlines())
    below = itertools.dropwhile(lambda line: line != title, lines)
    return list(itertools.takewhile(bool, itertools.islice(below, 1, None)))


def _table(text: str, title: str) -> list[tuple[str, dict[str, str]]]:
    """Name and cells by header of each row; cells are apart by two spaces or more, and below the rows are notes."""
    lines = _block(text, title)
    if not lines:
        return []
    _, *headers = re.split(r"\s{2,}", lines[0])
    rows = []
    for line in lines[2:]:
        name, *cells = re.split(r"(?<=\S)\s{2,}", line)
        if len(cells) != len(headers):
            break
        rows.append((name, dict(zip(headers, cells, strict=True))))
    return rows
