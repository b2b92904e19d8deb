"""Holds what each reader says of a program against what the program logged."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

import aggregated
import first_screen
import first_screen_truth
import generation_truth
import in_process
import live
import page
import report_json
import report_text
import resource_truth
import section_truth
import table_figures
from bounds import Bounds
from figures import STAMP_ERROR, Figure, Figures, between, exact
from logbook import Log
from played import Played, marey, play
from programs import Node

# What a reader has to give of what is known; everything that it gives besides is held against the truth, too.
MUST_GIVE = {
    "report --format json": r".*",
    "report of the running program": r".*",
    "page": r"path\[.*\.(count|errors|open|inclusive|self|covered|mean|median|p95|p99|max|first|rest_mean)$"
    r"|name\[.*\.(count|total|mean|min|max|p50|p95|covered)$"
    r"|loop\[.*\.(count|errors|first|rest_mean|mean|median|p95|p99|max|std_dev|per_second)$"
    r"|run\.wall$|under no section$|(steps|blocks|layer\[.*\]|counter\[.*\]|cache\[.*\])\.|layers|models$|parameters$"
    r"|memory_events\.(all|uses)$|reading\[|events$|sessions$|session\[.*\]\.(duration|start|tags)$",
    "report": r"(path|loop)\[.*\.(count|inclusive|self|median)$|cache\[.*hit$|steps\.(count|loops)$",
    "tables": r"name\[.*\.(count|total)$|session\[.*stage\[.*count$|steps\.(count|total|each)$|events$",
    "in the process": r"name\[.*\.(count|total)$|loop\[.*\.(count|total)$",
    "top": r"path\[.*\.(count|total)$|open$|streamed_frames$",
}
# Figures that some readers leave out for a reason, and those that nothing is known of.
NOT_GIVEN = re.compile(r".*rate\[|process\.|session\[.*steps\.count$|.*caches\.lookups$|.*\.caching\.saved$")
NOT_KNOWN = re.compile(
    r"process\.|peak_bytes|fps|frames$|memory\.|summary\.|used\[|.*between\.(avg|p95|p99|std_dev)$|.*rate\[|.*steps\.each$"
    r"|.*steps\.(outliers|warm_up|steady|caching)"
)
# docs/explanation/time.md: half the width of a bucket.
BUCKET_ERROR = 0.0315
# What the sampler saw depends on when it could run; a program that is wrong is wrong each time.
DEPENDS_ON_LOAD = re.compile(r"process\.|used\[")


@dataclass(frozen=True)
class Mismatch:
    """A figure that a reader has wrong."""

    reader: str
    figure: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.reader}: {self.figure}: expected {self.expected}, found {self.found}"


def everything(log: Log, *, drops: bool = False) -> Figures:
    """All that is known of a program; ``drops`` where it completes more sections than there is room for."""
    parts: Iterable[Callable[[Log], Figures]] = (
        section_truth.of_run,
        section_truth.of_sessions,
        generation_truth.of_generations,
        resource_truth.of_process,
        resource_truth.of_readings,
        resource_truth.of_outer_sections,
        resource_truth.of_sessions,
    )
    known = {name: figure for part in parts for name, figure in part(log).items()}
    return {name: _without_records(name, figure) for name, figure in known.items()} if drops else known


def _without_records(name: str, figure: Figure) -> Figure:
    """What is left of a figure where single records are missing: totals are exact, buckets 6.25 % wide."""
    if re.search(r"\.(p50|p95|p99|median)$", name) and figure.bounds is not None:
        return replace(figure, relative=BUCKET_ERROR, absolute=STAMP_ERROR)
    if name.endswith(".percentiles_are_exact") and figure.values == (True,):
        return exact(True, False)
    if name.endswith((".first", ".rest_mean")) and figure.bounds is not None:
        return between(Bounds(0, inf), None)  # Of the call that ended first: which that was is not known here either.
    if re.search(r"\.(std_dev|covered|last)$", name) or name.startswith("under "):
        return replace(figure, values=(None,))
    return figure


def mismatches(reader: str, said: dict[str, Any], truth: Figures) -> list[Mismatch]:
    """What a reader has wrong, leaves out, or makes up."""
    found = []
    for name, value in said.items():
        figure = truth.get(name)
        if figure is None:
            if not NOT_KNOWN.match(name):
                found.append(Mismatch(reader, name, "no such figure", repr(value)))
            continue
        shown = value if isinstance(value, report_text.Shown) else report_text.Shown(value, 0)
        if not figure.agrees(shown.value, shown.rounding):
            found.append(Mismatch(reader, name, str(figure), repr(shown.value)))
    must = re.compile(MUST_GIVE.get(reader, r"(?!)"))
    for name, figure in truth.items():
        if reader == "tables" and figure.agrees(0):  # They have no row of what never ended.
            continue
        if name not in said and must.match(name) and not figure.agrees(None) and not NOT_GIVEN.match(name):
            found.append(Mismatch(reader, name, str(figure), "nothing"))
    return found


def check(program: Node, folder: Path) -> list[Mismatch]:
    """Plays a program and asks every reader."""
    found: list[Mismatch] = []
    for attempt in range(3):
        found = check_played(play(program, folder / str(attempt)))
        if not found or any(not DEPENDS_ON_LOAD.match(one.figure) for one in found):
            break
    return found


def check_played(played: Played) -> list[Mismatch]:
    """Asks every reader of a program that was played."""
    log = played.log()
    drops = played.program["kind"] == "drops"
    truth = everything(log, drops=drops) | {"status": exact(_outcome(played))}
    report = played.report()
    found = mismatches("report --format json", report_json.figures(report), truth)
    losses = report["data_quality"]["losses"]
    if losses and not drops:
        found.append(Mismatch("report --format json", "losses", "none", str(losses)))
    model = played.page()
    found += mismatches("page", page.figures(model), truth)
    found += mismatches("page, in words", page.sentences(model), truth)
    found += mismatches("report", report_text.figures(marey("report", "--full", str(played.recording))), truth)
    found += _first_screen(played, truth, model, report["run"]["pid"])
    tables = table_figures.read(played.recording)
    said = table_figures.figures(tables)
    if drops:  # A percentile of the rows is none of the calls where rows are missing.
        said = {name: value for name, value in said.items() if ".p" not in name}
    if played.is_command:  # Each process has a wall time, and a first step, of its own there.
        said = {name: value for name, value in said.items() if name not in ("run.wall", "steps.outliers")}
    found += mismatches("tables", said, truth)
    lost = losses.get("sections_ring_full", 0)
    rows, calls = len(tables["sections"]), sum(call.has_ended for call in log.calls)
    if rows + lost != calls:
        found.append(Mismatch("tables", "rows of sections", f"{calls} calls less {lost} dropped", str(rows)))
    if not played.is_command:
        job = json.loads(marey("aggregate", str(played.recording), "--format", "json", may_fail=True))
        found += mismatches("aggregate", aggregated.figures(job), aggregated.truth({None: log}))
    if played.told is not None:
        now = in_process.expected(everything(played.log("pause"), drops=drops))
        found += mismatches("in the process", in_process.figures(played.told), now)
    if played.live is not None:
        then = played.log("pause")
        found += mismatches("top", live.figures(played.live), live.truth(then))
        if played.report_while_running is not None:
            running = report_json.figures(played.report_while_running)
            then_known = everything(then, drops=drops) | {"status": exact("running")}
            found += mismatches("report of the running program", running, then_known)
    return found


def _first_screen(played: Played, truth: Figures, model: page.Model, main: int) -> list[Mismatch]:
    """The same screen in each of its forms."""
    brief, log = played.brief(), played.log()
    main_thread = f"{main}: MainThread" if played.is_command else "MainThread"
    truth = truth | first_screen_truth.of(log, brief["account"], main_thread)
    forms = {
        "in JSON": first_screen.figures(brief),
        "as text": first_screen.of_text(marey("report", str(played.recording))),
        "of the page": first_screen.of_page(model["contents"]["screen"]),
    }
    if played.is_command:
        forms["of the command"] = first_screen.of_text(played.stderr)
    of = " of several sessions" if len(log.sessions) > 1 else ""
    return [wrong for form, said in forms.items() for wrong in mismatches(f"first screen{of}, {form}", said, truth)]


def _outcome(played: Played) -> str:
    """How it ended, as the log says: nobody saw the signal of one that was killed."""
    lines = played.log().lines
    if "cut" in lines and not played.is_command:  # A command goes on without what it started.
        return "ended_without_closing"
    return "failed" if "raise" in lines else "finished"
