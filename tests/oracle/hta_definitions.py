"""What HolisticTraceAnalysis 0.5.0 says of a trace, for who compares with its published figures: plain Python.

Its kernels are whatever has a stream, also operators of Triton and synchronisations; of several steps the last is left
out, with what it launched and what has no launch. Times are floats of microseconds. If any beginning has a fraction,
beginnings are rounded up and ends down, unless ``HTA_DISABLE_NS_ROUNDING`` is set::

    µs       0.5      10.2   20.1 20.9   30.2      40.7
    stream    |----a----|      |b|        |----c----|
    HTA       1        10     21 20       31       40      work 9 - 1 + 9 of 39: b adds to the idle time

Where HTA ends in an assertion because of that, its figures are here what they would be.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch_files

Time = float
"""Microseconds as they are written, or in floats as HTA has them, or whole nanoseconds."""
Span = tuple[Time, Time]

WORK = ("kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset", "mtia_ccp_events")
COMPUTATION, COMMUNICATION, MEMORY, OTHER = 1, 2, 4, 0
TYPES = {COMPUTATION: "COMPUTATION", COMMUNICATION: "COMMUNICATION", MEMORY: "MEMORY"}
KERNEL_WAIT = 30.0
"""Shorter gaps are a delay between kernels, in microseconds; HTA's documentation says 30 ns."""


@dataclass(frozen=True)
class Event:
    """An event with a duration; ``launched`` is when the call began that launched it."""

    name: str
    category: str
    process: Any
    stream: int | None
    correlation: int | None
    start: Time
    end: Time
    launched: Time | None = None

    @property
    def span(self) -> Span:
        """From when to when; where HTA rounds, the end may be before the beginning."""
        return self.start, self.end

    @property
    def kind(self) -> int:
        """What HTA takes it for, by its name: an event that is waited for counts as computing."""
        if self.name.startswith("nccl") and "Kernel" in self.name:
            return COMMUNICATION
        if self.name.startswith(("Memcpy", "Memset", "dma")):
            return MEMORY
        return OTHER if "Memcpy" in self.name or "Sync" in self.name else COMPUTATION


@dataclass(frozen=True)
class Figures:
    """The temporal breakdown, the overlap and the kernel types of some kernels, in the unit of their times."""

    kernel_time: Time
    idle_time: Time
    compute_time: Time
    overlap_ratio: float | None
    kernel_types: dict[str, Time]

    @property
    def non_compute_time(self) -> Time:
        """The rest."""
        return self.kernel_time - self.idle_time - self.compute_time


def events(path: Path) -> list[Event]:
    """The events of a file with a duration, in its order, in microseconds as they are written."""
    return of_rows(torch_files.events(path))


def of_rows(rows: Iterable[dict[str, Any]]) -> list[Event]:
    """The same of rows as a file has them. HTA keeps none of the category ``Trace``."""
    return [_event(row) for row in rows if row.get("ph") == "X" and "dur" in row and row.get("cat") != "Trace"]


def _event(row: dict[str, Any]) -> Event:
    arguments = row.get("args") or {}
    stream, correlation = (arguments.get(key) for key in ("stream", "correlation"))
    return Event(
        str(row.get("name")),
        row.get("cat", ""),
        row.get("pid"),
        stream if isinstance(stream, int) and stream != -1 else None,
        correlation if isinstance(correlation, int) and correlation >= 0 else None,
        row["ts"],
        row["ts"] + row["dur"],
    )


def kernels(of_trace: list[Event], *, is_rounding: bool) -> list[Event]:
    """What HTA takes for kernels, in its microseconds."""
    timed = _in_floats(of_trace, is_rounding=is_rounding)
    calls = {event.correlation: event.start for event in timed if event.stream is None}
    steps = [event for event in timed if "ProfilerStep" in event.name]
    has_several = len({step.name for step in steps}) > 1
    limit = max(step.start for step in steps) if has_several else math.inf
    found = []
    for event in timed:
        if event.stream is None:
            continue
        # Without a number that ties it to a call it is one of the host to HTA, which begins by itself.
        launched = None if event.correlation is None else calls.get(event.correlation)
        begun = event.start if event.correlation is None else launched
        if has_several and (begun is None or begun >= limit):
            continue
        # Where the trace does not have the call, HTA takes the first event of the file for it.
        is_missing = launched is None and event.correlation is not None
        found.append(replace(event, launched=timed[0].start if is_missing else launched))
    return found


def _in_floats(of_trace: list[Event], *, is_rounding: bool) -> list[Event]:
    starts = [float(event.start) for event in of_trace]
    is_rounding = is_rounding and any(event.start % 1 for event in of_trace)
    origin = min(starts, default=0.0)
    origin = math.ceil(origin) if is_rounding else origin

    def timed(event: Event, start: float) -> Event:
        length = float(event.end - event.start)
        if is_rounding:
            return replace(event, start=math.ceil(start) - origin, end=math.floor(start + length) - origin)
        return replace(event, start=start - origin, end=start - origin + length)

    return [timed(*each) for each in zip(of_trace, starts, strict=True)]


def figures(of_kernels: list[Event]) -> Figures:
    """The figures of all these together."""
    merged = {kind: _merged(event.span for event in of_kernels if event.kind == kind) for kind in TYPES}
    everything = _merged(event.span for event in of_kernels)
    kernel_time = everything[-1][1] - everything[0][0]
    communication = _length(merged[COMMUNICATION])
    both = {kind: merged[kind] for kind in (COMPUTATION, COMMUNICATION)}
    overlap = sum(length for running, length in _slices(both) if running == COMPUTATION + COMMUNICATION)
    sums: dict[int, Time] = defaultdict(int)
    for running, length in _slices(merged):
        sums[running] += math.trunc(length)
    return Figures(
        kernel_time,
        kernel_time - _length(everything),
        _length(merged[COMPUTATION]),
        overlap / communication if communication > 0 else None,
        {_type_name(running): total for running, total in sums.items() if running > 0 and total > 0},
    )


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Those that touch as one. What ends before it begins, and touches nothing, stays so."""
    merged: list[Span] = []
    last_end = -math.inf
    for start, end in sorted(spans, key=lambda span: span[0]):
        if merged and start <= last_end:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
        last_end = max(last_end, end)
    return merged


def _length(spans: list[Span]) -> Time:
    return sum(end - start for start, end in spans)


def _slices(by_kind: dict[int, list[Span]]) -> Iterator[tuple[int, Time]]:
    """Times between neighbouring beginnings and ends, each with the sum of the kinds that run then."""
    changes = [
        change for kind, spans in by_kind.items() for start, end in spans for change in ((start, kind), (end, -kind))
    ]
    changes.sort(key=lambda change: change[0])
    running = 0
    for (at, change), (following, _) in pairwise(changes):
        running += change
        yield running, following - at


def _type_name(running: int) -> str:
    return " overlapping ".join(name for kind, name in TYPES.items() if running & kind)


def idle_by_stream(of_kernels: list[Event]) -> dict[tuple[int, str], Time]:
    """Time between neighbours on each stream by what HTA takes for its cause; those that overlap count below zero."""
    sums: dict[tuple[int, str], Time] = defaultdict(int)
    work = [event for event in of_kernels if event.category in WORK and event.stream is not None]
    work.sort(key=lambda event: (event.stream, event.start))
    for before, following in pairwise(work):
        if before.stream != following.stream:
            continue
        gap = following.start - before.end
        is_late = following.launched is not None and following.launched > before.end
        cause = "host_wait" if is_late else "kernel_wait" if gap < KERNEL_WAIT else "other"
        sums[following.stream, cause] += gap
    return dict(sums)


def work_of_devices(of_trace: list[Event]) -> dict[str, list[Event]]:
    """What each device really did, nothing left out, in whole nanoseconds: what Marey's figures are of."""
    devices: dict[str, list[Event]] = defaultdict(list)
    for event in of_trace:
        if event.category in WORK:
            start, end = (int(at * 1000) for at in event.span)
            devices[str(event.process)].append(replace(event, start=start, end=end))
    return dict(devices)
