"""What a program logged of itself: its calls, sessions and what it told."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bounds import Bounds, Span

Line = dict[str, Any]

# Lines that stand for something that Marey is told at one moment.
TOLD = (
    "step",
    "block",
    "decision",
    "cache_event",
    "model",
    "event",
    "counter",
    "delivery",
    "dropped",
    "memory_event",
    "layer",
    "snapshot",
)


@dataclass
class Call:
    """A call of a section, or a turn of a loop; ``span.end`` is that of the log for one that did not end."""

    path: tuple[str, ...]
    thread: str
    task: str | None
    session: str | None
    span: Span
    has_ended: bool
    has_failed: bool
    is_turn: bool
    attributes: Line
    # The process's own readings right outside and right inside, at both ends; empty where there are none.
    used: list[list[float]] = field(default_factory=list)
    # The loop of denoising steps that it is a turn of.
    loop: int | None = None
    # How long a generator ran, between its stamps; of others it is the whole span.
    ran: Bounds | None = None

    @property
    def name(self) -> str:
        return plain(self.path[-1])

    @property
    def flow(self) -> tuple[str, str | None]:
        """What does one thing after the other: a thread, or a task in it."""
        return self.thread, self.task

    @property
    def duration(self) -> Bounds:
        return self.ran or self.span.length


@dataclass
class Session:
    """A session, and the one that it is nested in."""

    name: str
    parent: str | None
    tags: Line
    span: Span
    has_ended: bool
    # What the program read around its begin, within it at both ends, and around its end.
    used: list[list[float]]


@dataclass
class Log:
    """A program's log up to some moment, in seconds of its own clock since the recording began, at the earliest."""

    start: Bounds
    end: Bounds
    calls: list[Call] = field(default_factory=list)
    sessions: dict[str, Session] = field(default_factory=dict)
    told: dict[str, list[Line]] = field(default_factory=dict)
    lines: dict[str, list[Line]] = field(default_factory=dict)
    has_stopped: bool = False
    is_sampled: bool = False

    @property
    def wall(self) -> Bounds:
        return self.end - self.start

    def of(self, kind: str, session: str | None = None) -> list[Line]:
        """What was told of a kind, in a session and those nested in it."""
        return [line for line in self.told.get(kind, []) if session is None or self.is_in(line["session"], session)]

    def is_in(self, inner: str | None, outer: str) -> bool:
        """Whether a session is another one, or nested in it."""
        while inner is not None:
            if inner == outer:
                return True
            inner = self.sessions[inner].parent
        return False


def plain(mark: str) -> str:
    """The name in a mark of a path: ``~`` stands before what runs beside its parent, ``@`` before loops."""
    return mark.lstrip("~").removeprefix("@")


def by_path(rows: Iterable[Line], number: str = "id") -> dict[str, Line]:
    """Rows of a tree of call paths, as every reader has them, by their marks."""
    numbered = {row[number]: row for row in rows}

    def path(row: Line) -> str:
        name = row["name"] if "name" in row else row["path"][-1]
        mark = ("~" if row["is_detached"] else "") + ("@" if row["kind"] == "iteration" else "") + name
        around = numbered.get(row.get("parent"))
        return mark if around is None else f"{path(around)} > {mark}"

    return {path(row): row for row in numbered.values()}


def read(folder: Path, life: tuple[int, int], until: str | None = None, *, is_command: bool = False) -> Log:
    """The logs of a program's processes as one, as far as they go, or up to the first line of a kind.

    Args:
        folder: The files of its processes.
        life: When it was asked for and when it was gone, by the same clock.
        until: Kind of the line to stop at.
        is_command: It was recorded from the start of the command to its end, whatever its processes did.
    """
    logs = {file.name: [json.loads(line) for line in file.read_text().splitlines()] for file in folder.iterdir()}
    if until is not None:
        logs = {process: _up_to(lines, until) for process, lines in logs.items()}
    lines = [line for lines in logs.values() for line in lines]
    started = min((line for line in lines if line["kind"] == "start"), key=lambda line: line["at"][1])
    zero = life[0] if is_command else started["at"][0]

    def at(stamps: list[int]) -> Bounds:
        return Bounds((stamps[0] - zero) / 1e9, (stamps[1] - zero) / 1e9)

    stop = next((line for line in lines if line["kind"] == "stop"), None)
    is_stopped = stop is not None and not is_command
    end = at(stop["at"] if is_stopped else [_last_known(lines), life[1]])
    log = Log(at([zero, started["at"][1]]), end, has_stopped=stop is not None, is_sampled=started["is_sampled"])
    gone = {str(line["pid"]): line["at"][1] for line in lines if line["kind"] == "gone"}
    for process, own in logs.items():
        # What a process had open when it was cut off was open as long as that is known to have lived.
        ended = at([_last_known(own), gone.get(process, life[1])]) if is_command else end
        for line in own:
            _add_line(log, line, process if is_command else None, at)
        _add_sessions(log, own, ended, at)
        _add_calls(log, own, ended, at)
    for line in [line for lines in log.told.values() for line in lines]:
        line["session"] = line["session"] or _only_session(log, Span(line["at"], line["at"]))
    for call in log.calls:
        call.session = call.session or _only_session(log, call.span)
    return log


def _up_to(lines: list[Line], kind: str) -> list[Line]:
    kinds = [line["kind"] for line in lines]
    return lines[: kinds.index(kind) + 1] if kind in kinds else lines


def _last_known(lines: list[Line]) -> int:
    """A recording that nobody ended lasts to the last thing known: at least what was recorded last."""
    return max(line["at"][0] for line in lines if line["kind"] in ("start", "enter", "leave", "begin", "end", *TOLD))


def _add_line(log: Log, line: Line, process: str | None, at: Any) -> None:
    """Threads and loops of several processes are told apart."""
    log.lines.setdefault(line["kind"], []).append(line)
    if process is not None:
        line["thread"] = f"{process}: {line['thread']}"
        if "loop" in line:
            line["loop"] = (process, line["loop"])
    if line["kind"] in TOLD:
        line["at"] = at(line["at"])
        if "of_turn" in line:
            line["of_turn"] = Span(*map(at, line["of_turn"]))
        log.told.setdefault(line["kind"], []).append(line)


def _add_sessions(log: Log, lines: list[Line], end: Bounds, at: Any) -> None:
    ends = {line["name"]: line for line in lines if line["kind"] == "end"}
    for line in lines:
        if line["kind"] == "begin":
            ended = ends.get(line["name"])
            span = Span(at(line["at"]), at(ended["at"]) if ended else end)
            log.sessions[line["name"]] = Session(
                line["name"], line["parent"], line["tags"], span, ended is not None, ended["used"] if ended else []
            )


def _add_calls(log: Log, lines: list[Line], end: Bounds, at: Any) -> None:
    ends = {line["number"]: line for line in lines if line["kind"] == "leave"}
    for line in lines:
        if line["kind"] != "enter":
            continue
        ended = ends.get(line["number"])
        ran = Bounds(*ended["ran"]) if ended and "ran" in ended else None
        start = at(line["at"])
        # On a time axis a generator lies from its first resume for as long as it ran.
        span = Span(start, start + ran if ran else at(ended["at"]) if ended else end)
        log.calls.append(
            Call(
                path=tuple(line["path"]),
                thread=line["thread"],
                task=line["task"],
                session=line["session"],
                span=span,
                has_ended=ended is not None,
                has_failed=ended is not None and ended["failed"],
                is_turn=line["how"] == "iteration",
                attributes=line.get("attributes", {}),
                used=ended.get("used", []) if ended else [],
                loop=line.get("loop"),
                ran=ran,
            )
        )


def _only_session(log: Log, span: Span) -> str | None:
    """The innermost session of those that were open all the time, if they are nested in each other."""
    around = [
        s for s in log.sessions.values() if s.span.start.high <= span.start.low and span.end.high <= s.span.end.low
    ]
    if not around:
        return None
    innermost = max(around, key=lambda session: session.span.start.low)
    return innermost.name if all(log.is_in(innermost.name, session.name) for session in around) else None
