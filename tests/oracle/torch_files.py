"""Traces and snapshots of torch: this repository's and those below ``TRACE_FIXTURES``; and what the command says."""

from __future__ import annotations

import gzip
import json
import os
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from played import marey

ROOT = Path(__file__).parents[2]
DATA = ROOT / "crates/marey-analysis/tests/data"
FOLDERS = [DATA, *(Path(folder) for folder in [os.environ.get("TRACE_FIXTURES")] if folder)]


@cache
def below(folder: Path, ending: str) -> list[Path]:
    """All files with this ending."""
    return sorted(path for path in folder.rglob(f"*{ending}") if path.is_file())


def all_files(ending: str) -> list[Path]:
    """All files with this ending in all folders."""
    return [path for folder in FOLDERS for path in below(folder, ending)]


def traces() -> list[Path]:
    """All traces, also those that are there twice."""
    found = [path for ending in (".json", ".json.gz") for path in all_files(ending)]
    # Answers are no traces.
    return [path for path in found if "expected" not in path.parts and not path.name.endswith(".key_averages.json")]


def name_of(trace: Path) -> str:
    """The name of a trace, as folders of answers have it."""
    return trace.name.removesuffix(".gz").removesuffix(".json")


def shown(path: Path) -> str:
    """A path for the name of a test."""
    folder = next(folder for folder in FOLDERS if path.is_relative_to(folder))
    return f"{'' if folder == DATA else 'fixtures/'}{path.relative_to(folder)}"


def events(trace: Path) -> list[Any]:
    """The events of a trace; numbers with a fraction are decimal."""
    opened = gzip.open if trace.suffix == ".gz" else open
    with opened(trace, "rt", encoding="utf-8", errors="surrogateescape") as file:
        document = json.load(file, parse_float=Decimal)
    return document["traceEvents"] if isinstance(document, dict) else document


@cache
def analyzed(path: Path, *options: str) -> Any:
    """The document that the command writes about a file, times in nanoseconds; what is not whole is decimal."""
    written = marey("analyze", str(path), "--format", "json", *options)
    return json.loads(written, parse_float=Decimal, object_hook=_in_nanoseconds)


def _in_nanoseconds(row: dict[str, Any]) -> dict[str, Any]:
    """``x_s``, which documents have, as ``x_ns``."""

    def nanoseconds(value: Any) -> Any:
        if not isinstance(value, Decimal):
            return value
        ns = value * 10**9
        return int(ns) if ns == int(ns) else ns

    return {
        f"{key[:-2]}_ns" if key.endswith("_s") else key: nanoseconds(value) if key.endswith("_s") else value
        for key, value in row.items()
    }


def trace_answers(path: Path) -> Any:
    """What the command answers about a trace."""
    (file,) = analyzed(path)["files"]
    assert file["problem"] is None, file["problem"]
    return file["answers"]
