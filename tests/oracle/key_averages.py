"""What torch says itself of the operators of a run (``key_averages``), and the command of its trace.

Rows are told apart by kind, name and shapes. Their figures are calls, and self and total time in nanoseconds.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

Rows = dict[tuple[bool, str, str], tuple[int, int, int]]


def of_torch(rows: list[dict[str, Any]]) -> Rows:
    """Torch's rows, from a file with whole numbers."""
    return {
        (row["is_range"], row["name"], _text(row["shapes"] or [])): (
            row["count"],
            _self_ns(row["is_range"], row["self_ns"]),
            row["total_ns"],
        )
        for row in rows
    }


def of_command(rows: list[dict[str, Any]]) -> Rows:
    """The command's rows: by shape where they have shapes."""
    sums: dict[tuple[bool, str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in rows:
        is_range = row["kind"] == "range"
        found = sums[is_range, row["name"], _text(_torch_shapes(json.loads(row["shapes"] or "[]")))]
        for place, value in enumerate((row["count"], _self_ns(is_range, row["self_ns"]), row["total_ns"])):
            found[place] += value
    return {key: (count, self_ns, total_ns) for key, (count, self_ns, total_ns) in sums.items()}


def _self_ns(is_range: bool, self_ns: int) -> int:
    """Nothing of ranges: Python leaves `record_function` after the range, and torch takes nothing of that from it."""
    return 0 if is_range else self_ns


def _torch_shapes(shapes: list[Any]) -> list[Any]:
    """Torch's tables leave the shapes of lists of tensors out."""
    return [[] if isinstance(one, list) and any(isinstance(part, list) for part in one) else one for one in shapes]


def _text(shapes: list[Any]) -> str:
    return json.dumps(shapes)


def printed(path: Path) -> dict[tuple[bool, str, str], tuple[int, str, str]]:
    """The rows of a table as torch prints it, by shape: calls, self and total time. Ranges have no shapes."""
    lines = path.read_text().splitlines()
    columns = [match.span() for match in re.finditer("-+", lines[0])]
    names, *rows = ([line[start:end].strip() for start, end in columns] for line in lines[1:-1] if line[0] != "-")
    said = {}
    for row in (dict(zip(names, row, strict=True)) for row in rows):
        is_range = "::" not in row["Name"]
        times = ("" if is_range else row["Self CPU"], row["CPU total"])
        said[is_range, row["Name"], row["Input Shapes"]] = (int(row["# of Calls"]), *times)
    return said


def as_printed(rows: Rows) -> dict[tuple[bool, str, str], tuple[int, str, str]]:
    """Rows with times as torch writes them."""
    return {
        key: (count, "" if key[0] else _time(self_ns), _time(total_ns))
        for key, (count, self_ns, total_ns) in rows.items()
    }


def _time(ns: int) -> str:
    for unit, in_ns in (("s", 1_000_000_000), ("ms", 1_000_000)):
        if ns >= in_ns:
            return f"{ns / in_ns:.3f}{unit}"
    return f"{ns / 1000:.3f}us"
