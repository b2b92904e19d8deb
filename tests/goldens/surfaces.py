"""What Marey says of an input, by each way in which it says it: a document of dicts, lists, numbers and texts."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import page
import parquet_footer
import table_figures
import tracks
from played import marey

N_RECORDS = 5
"""So many records of a kind are shown as they are."""

Surface = Callable[..., Any]
"""From files, as paths relative to a folder, and that folder, to a document."""


def report(capture: str, *, folder: Path) -> Any:
    """``marey report``."""
    return _json("report", capture, folder=folder)


def analysis(*files: str, folder: Path) -> Any:
    """``marey analyze``."""
    return _json("analyze", *files, folder=folder)


def comparison(baseline: str, candidate: str, *, folder: Path) -> Any:
    """``marey compare``, which ends with 1 where something got worse."""
    return _json("compare", baseline, candidate, folder=folder)


def aggregation(*paths: str, folder: Path) -> Any:
    """``marey aggregate``, which ends with 1 where something is missing."""
    return _json("aggregate", *paths, folder=folder)


def page_model(capture: str, *, folder: Path) -> Any:
    """What the page of a report holds."""
    with tempfile.TemporaryDirectory() as made:
        file = Path(made, "report.html")
        marey("report", capture, "--format", "html", "--output", str(file), folder=folder)
        return page.model(file.read_text(encoding="utf-8"))


def perfetto(capture: str, *, folder: Path) -> Any:
    """Tracks of the trace for Perfetto."""
    return _exported("perfetto", "trace.pftrace.gz", tracks.of_perfetto, capture, folder)


def chrome(capture: str, *, folder: Path) -> Any:
    """Tracks of the trace in Chrome JSON."""
    return _exported("chrome", "trace.json.gz", tracks.of_chrome, capture, folder)


def parquet(capture: str, *, folder: Path) -> Any:
    """Rows and columns of the Parquet files, by the kind of table and the rank."""

    def read(made: Path) -> Any:
        return {
            str(file.parent.relative_to(made)): parquet_footer.read(file) for file in sorted(made.glob("*/*/*.parquet"))
        }

    return _exported("parquet", "tables", read, capture, folder)


def tables(capture: str, *, folder: Path) -> Any:
    """All rows of all tables, as ``marey.load`` gives them."""
    return table_figures.read(folder / capture)


def records(capture: str, *, folder: Path) -> Any:
    """What a reader of another format has to find, too: the first records of each kind, and all of them summed up."""
    found = tables(capture, folder=folder)
    return {
        kind: {"all": rows, "first": dict(enumerate(map(_record, rows[:N_RECORDS])))}
        for kind, rows in found.items()
        if rows
    }


def _record(row: dict[str, Any]) -> str:
    told = {key: value for key, value in row.items() if value is not None and key != "process"}
    return json.dumps(told, sort_keys=True, separators=(",", ":")).replace(" ", "\\u0020")


def _exported(form: str, name: str, read: Callable[[Path], Any], capture: str, folder: Path) -> Any:
    with tempfile.TemporaryDirectory() as made:
        marey("export", capture, "--format", form, "--output", str(Path(made, name)), folder=folder)
        return read(Path(made, name))


def _json(*arguments: str, folder: Path) -> Any:
    return json.loads(marey(*arguments, "--format", "json", folder=folder, may_fail=True))
