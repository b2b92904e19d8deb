"""What ``marey report`` shows on a terminal: numbers as they are written, with what their last digit leaves open."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
NUMBER = re.compile(r"^[≥≈]?\s*(-?\d+(?:\.\d+)?)\s*(ns|µs|ms|s|%|it/s)?$")
# Columns of the table of sections, from the right, by the names of the truth.
SECTION_COLUMNS = ("count", "inclusive", "self", "share", "mean", "median", "p95", "p99", "max", "first", "rest_mean")
LOOP_COLUMNS = ("count", "errors", "first", "rest_mean", "median", "p95", "p99", "max", "std_dev", "per_second")
SUMMARY_COLUMNS = ("count", "total", "mean", "min", "max")


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
    """The figures of the tables of sections and loops."""
    said: dict[str, Any] = {}
    for line in _rows(text, "PROFILING SUMMARY"):
        name, cells = _cells(line, len(SUMMARY_COLUMNS))
        said |= {f"name[{name}].{key}": number(cell) for key, cell in zip(SUMMARY_COLUMNS, cells, strict=True)}
    around: list[str] = []
    for line in _rows(text, "SECTIONS - "):
        if line.startswith("(under no section)"):
            said["under no section"] = number(re.split(r"\s{2,}", line)[1])
            continue
        name, cells = _cells(line, len(SECTION_COLUMNS))
        depth = (len(line) - len(line.lstrip())) // 2
        around = [*around[:depth], _mark(name)]
        key = f"path[{' > '.join(around)}]"
        for column, cell in zip(SECTION_COLUMNS, cells, strict=True):
            if column != "share":
                said[f"{key}.{column}"] = number(cell)
        failed = re.search(r"\((\d+) failed\)", name)
        said[f"{key}.errors"] = int(failed.group(1)) if failed else 0
    for line in _rows(text, "ITERATIONS - "):
        name, cells = _cells(line, len(LOOP_COLUMNS))
        said |= {f"loop[{name}].{key}": number(cell) for key, cell in zip(LOOP_COLUMNS, cells, strict=True)}
    for line in _rows(text, "CACHES - "):
        name, (lookups, hits, misses, evictions, rate, _) = _cells(line, 6)
        counts = {"lookups": lookups, "hit": hits, "miss": misses, "eviction": evictions}
        said |= {f"cache[{name}].{key}": number(cell) for key, cell in counts.items()}
        said[f"cache[{name}].hit_rate"] = _ratio(rate)
    return said | _diffusion(text)


def _ratio(percent: str) -> Any:
    shown = number(percent)
    return Shown(shown.value / 100, shown.rounding / 100) if isinstance(shown, Shown) else shown


# What each line of the table DIFFUSION says, and what the truth calls it.
LINES = (
    ("Steps", r"(\d+) steps? in", "steps.count"),
    ("Steps", r"in (\d+) loops?", "steps.loops"),
    ("Steps", r"of at most (\d+)", "steps.per_loop_max"),
    ("First step", r"^(\S+ \S+)", "steps.warm_up.total"),
    ("Other steps", r"p50 (\S+ \w+)", "steps.steady.p50"),
    ("Other steps", r"p95 (\S+ \w+)", "steps.steady.p95"),
    ("Other steps", r"max (\S+ \w+)", "steps.steady.max"),
    ("Blocks", r"(\d+) blocks?", "blocks.count"),
    ("Blocks", r"of (\d+) latent", "blocks.total_frames"),
    ("Blocks", r"at (\S+) blocks/s", "blocks.bps"),
    ("Time to first block", r"^(\S+ \S+)", "blocks.time_to_first"),
    ("Between blocks", r"p50 (\S+ \w+)", "blocks.between.p50"),
    ("Between blocks", r"jitter (\S+ \w+)", "blocks.jitter"),
    ("Cached steps", r"^(\d+) of", "steps.caching.cached"),
    ("Cached steps", r"saved (\S+ \w+)", "steps.caching.saved"),
)


def _diffusion(text: str) -> dict[str, Any]:
    start = text.find("\nDIFFUSION\n")
    if start < 0:
        return {}
    said: dict[str, Any] = {}
    for line in text[start:].split("====\n")[1].splitlines():
        for title, pattern, name in LINES:
            if line.startswith(title + "  ") and (found := re.search(pattern, line[len(title) :].strip())):
                said[name] = number(found.group(1))
    return said


def _mark(name: str) -> str:
    """The mark of a path for a name in the table: without what stands behind it."""
    is_turn = "(iteration" in name
    bare = (
        re.sub(r"\s*\((iteration|iteration, \d+ failed|\d+ failed)\)", "", name).strip().removesuffix(" *").rstrip("*")
    )
    is_beside = bare.startswith("~")
    return ("~" if is_beside else "") + ("@" if is_turn else "") + bare.removeprefix("~").strip()


def _rows(text: str, title: str) -> list[str]:
    """Lines of a table, between the rule below its head and the one at its end."""
    lines = text.splitlines()
    start = next((place for place, line in enumerate(lines) if line.startswith(title)), None)
    if start is None:
        return []
    head = next(place for place in range(start, len(lines)) if lines[place].startswith("---"))
    rows = []
    for line in lines[head + 1 :]:
        if line.startswith(("===", "Wall time", "Under no section", "…", "≈ ")):
            break
        if not line.startswith(("(no ", "(before the recording)")):
            rows.append(line)
    return rows


def _cells(line: str, count: int) -> tuple[str, list[str]]:
    """The name, and so many cells from the right; cells are apart by two spaces or more."""
    parts = re.split(r"\s{2,}", line.strip())
    assert len(parts) == count + 1, line
    return parts[0], parts[1:]
