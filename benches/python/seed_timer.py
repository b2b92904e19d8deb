"""The timer that projects write for themselves: a lock, a dictionary and `perf_counter`.

Written anew after the description of such timers, in the two usual forms, class and `@contextmanager`. The statistics
are either running totals or a list of all durations.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType


class RunningTotals:
    """Count, total, minimum and maximum for each name."""

    def __init__(self) -> None:
        """Nothing is recorded yet."""
        self.lock = threading.Lock()
        self.rows: dict[str, list[float]] = {}

    def record(self, name: str, duration: float) -> None:
        """Add one duration, in seconds."""
        with self.lock:
            row = self.rows.get(name)
            if row is None:
                self.rows[name] = [1, duration, duration, duration]
                return
            row[0] += 1
            row[1] += duration
            if duration < row[2]:
                row[2] = duration
            if duration > row[3]:
                row[3] = duration

    def clear(self) -> None:
        """Forget everything."""
        self.rows.clear()


class AllDurations:
    """Every duration in a list for each name."""

    def __init__(self) -> None:
        """Nothing is recorded yet."""
        self.lock = threading.Lock()
        self.durations: dict[str, list[float]] = defaultdict(list)
        self.counts: dict[str, int] = defaultdict(int)

    def record(self, name: str, duration: float) -> None:
        """Add one duration, in seconds."""
        with self.lock:
            self.durations[name].append(duration)
            self.counts[name] += 1

    def clear(self) -> None:
        """Forget everything."""
        self.durations.clear()
        self.counts.clear()


class TimerClass:
    """The timer as a class with `__enter__` and `__exit__`."""

    __slots__ = ("name", "start", "stats")

    def __init__(self, stats: RunningTotals | AllDurations, name: str) -> None:
        """Times one section of this name."""
        self.stats = stats
        self.name = name

    def __enter__(self) -> TimerClass:
        """Start."""
        self.start = time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop and record."""
        self.stats.record(self.name, time.perf_counter() - self.start)


@contextmanager
def timer_generator(stats: RunningTotals | AllDurations, name: str) -> Iterator[None]:
    """The timer as a generator function."""
    start = time.perf_counter()
    try:
        yield
    finally:
        stats.record(name, time.perf_counter() - start)
