"""A figure that is known, and what it takes for a reader's value to agree with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bounds import Bounds

# docs/explanation/time.md: the slope of a short run's clock is off by 0.02 % at worst; stamps are whole nanoseconds.
CLOCK_ERROR = 3e-4
STAMP_ERROR = 2e-6


@dataclass(frozen=True)
class Figure:
    """What a reader has to say: one of some values exactly, or a number within bounds."""

    bounds: Bounds | None = None
    values: tuple[Any, ...] = ()
    relative: float = 0.0
    absolute: float = 0.0

    def agrees(self, value: Any, rounding: float = 0.0) -> bool:
        """Whether a value is right; ``rounding`` is by how much a shown one may be off."""
        if any(type(value) is type(one) and value == one for one in self.values):
            return True
        if self.bounds is None or not isinstance(value, (int, float)) or isinstance(value, bool):
            return False
        return self.bounds.holds(value, self.absolute + self.relative * abs(value) + rounding)

    def __str__(self) -> str:
        said = [repr(value) for value in self.values]
        if self.bounds is not None:
            said.append(f"{self.bounds.low!r} to {self.bounds.high!r}")
        return " or ".join(said)


Figures = dict[str, Figure]


def exact(*values: Any) -> Figure:
    """One of these and nothing else."""
    return Figure(values=values)


def timed(bounds: Bounds, *others: Any) -> Figure:
    """A time between the program's own stamps, or one of some other values."""
    return Figure(bounds, others, CLOCK_ERROR, STAMP_ERROR)


def reckoned(value: float) -> Figure:
    """A number that follows from what the program told; times were told in milliseconds and are kept in nanoseconds."""
    return Figure(Bounds(value, value), (), 1e-6, 2e-8)


def between(bounds: Bounds, *others: Any, slack: float = 0.0) -> Figure:
    """A number within bounds."""
    return Figure(bounds, others, 1e-9, slack)
