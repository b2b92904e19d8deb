"""How a statement of some tens of nanoseconds is timed on a machine that others use too.

A statement runs in batches of about 80 µs, short enough that most of them are not interrupted. A batch is timed with
the CPU clock of its thread, which stands still while the thread does not run. Batches of all subjects take turns, so
that a slow spell of the machine hits them alike. Beside every batch of a statement runs one of its baseline (an empty
loop, or a plain call for decorators) with as many turns; the difference of the two medians is the statement's cost.

    subject a   warm-up · batch · baseline batch
    subject b   pause for the drain · warm-up · batch · baseline batch
    subject a   warm-up · batch · baseline batch
    …
"""

from __future__ import annotations

import gc
import itertools
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

BATCH_NS = 80_000
MOST_SECTIONS = 2_500
"""Sections of one batch at most: well below the 8192 records that a thread's ring holds, warm-up included."""

DRAIN_PAUSE_S = 0.06
"""Untimed pause before a batch that records, longer than the recorder needs to empty the ring."""

FIRST_BATCHES = 5
"""Batches that are run and thrown away: the interpreter is still specialising its bytecode."""

COLLECT_EVERY = 50


@dataclass(frozen=True)
class Subject:
    """A statement to time."""

    name: str
    statement: str
    names: dict[str, Any]
    """What the statement refers to; bound as local variables of the loop."""

    baseline: str = "pass"
    records: bool = False
    """It fills the recorder's ring, which has to be emptied between batches."""

    clear: Callable[[], None] | None = None
    """Called, untimed, after each batch: drops what the statement has accumulated."""

    def loop(self, statement: str) -> Callable[[int], int]:
        """A function that runs the statement that many times and returns the thread's CPU time, in ns."""
        source = (
            f"def loop(count, clock, repeat, {', '.join(self.names) or '_none'}):\n"
            "    turns = repeat(None, count)\n"
            "    start = clock()\n"
            "    for _ in turns:\n"
            f"        {statement}\n"
            "    return clock() - start\n"
        )
        scope: dict[str, Any] = {}
        exec(compile(source, f"<{self.name}>", "exec"), scope)
        made, bound = scope["loop"], list(self.names.values()) or [None]
        return lambda count: made(count, time.thread_time_ns, itertools.repeat, *bound)


@dataclass
class Timed:
    """A subject while it is being timed."""

    subject: Subject
    run: Callable[[int], int] = field(init=False)
    run_baseline: Callable[[int], int] = field(init=False)
    count: int = field(init=False)
    batches_ns: list[int] = field(default_factory=list)
    baselines_ns: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Find the number of turns that takes about BATCH_NS."""
        self.run = self.subject.loop(self.subject.statement)
        self.run_baseline = self.subject.loop(self.subject.baseline)
        trial = 200
        self.run(trial)
        each_ns = min(self.run(trial) for _ in range(3)) / trial
        self.count = max(1, min(MOST_SECTIONS, round(BATCH_NS / max(each_ns, 1))))

    def batch(self) -> None:
        """One batch and one of the baseline."""
        if self.subject.records:
            time.sleep(DRAIN_PAUSE_S)
        self.run(max(1, self.count // 10))
        self.batches_ns.append(self.run(self.count))
        self.run_baseline(max(1, self.count // 10))
        self.baselines_ns.append(self.run_baseline(self.count))
        if self.subject.clear:
            self.subject.clear()

    def cost_ns(self) -> float:
        """Nanoseconds of CPU time a turn, the baseline subtracted."""
        batch_ns = statistics.median(self.batches_ns[FIRST_BATCHES:])
        baseline_ns = statistics.median(self.baselines_ns[FIRST_BATCHES:])
        return (batch_ns - baseline_ns) / self.count


def costs_ns(subjects: list[Subject], batches: int) -> dict[str, float]:
    """Nanoseconds a turn of each subject, from that many batches of each, taken in turns."""
    timed = [Timed(subject) for subject in subjects]
    gc.disable()
    for number in range(FIRST_BATCHES + batches):
        if number % COLLECT_EVERY == 0:
            gc.collect()
        for one in timed:
            one.batch()
    gc.enable()
    return {one.subject.name: one.cost_ns() for one in timed}
