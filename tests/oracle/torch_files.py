"""Traces and snapshots of torch: this repository's and those below ``TRACE_FIXTURES``; and what the command says."""

from __future__ import annotations

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


@cache
def analyzed(path: Path, *options: str) -> Any:
    """The document that the command writes about a file. Numbers that are not whole are decimal."""
    return json.loads(marey("analyze", str(path), "--format", "json", *options), parse_float=Decimal)


def trace_answers(path: Path) -> Any:
    """What the command answers about a trace."""
    (file,) = analyzed(path)["files"]
    assert file["problem"] is None, file["problem"]
    return file["answers"]
