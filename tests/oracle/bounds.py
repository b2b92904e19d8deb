"""What can be known of a number: that it lies between two others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Bounds:
    """A number that lies between ``low`` and ``high``, both included."""

    low: float
    high: float

    def __add__(self, other: Bounds) -> Bounds:
        return Bounds(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Bounds) -> Bounds:
        return Bounds(self.low - other.high, self.high - other.low)

    def __truediv__(self, other: Bounds) -> Bounds:
        """A quotient of numbers that are not negative."""
        return Bounds(self.low / other.high, self.high / other.low if other.low > 0 else math.inf)

    def times(self, factor: float) -> Bounds:
        return Bounds(self.low * factor, self.high * factor)

    def at_least(self, low: float) -> Bounds:
        return Bounds(max(self.low, low), max(self.high, low))

    def or_either(self, other: Bounds) -> Bounds:
        """A number that is one of two."""
        return Bounds(min(self.low, other.low), max(self.high, other.high))

    def holds(self, value: float, slack: float) -> bool:
        return self.low - slack <= value <= self.high + slack


ZERO = Bounds(0, 0)


def exactly(value: float) -> Bounds:
    """A number that is known."""
    return Bounds(value, value)


def total(numbers: Iterable[Bounds]) -> Bounds:
    """Their sum."""
    return sum(numbers, ZERO)


def ordered(numbers: Sequence[Bounds], place: int) -> Bounds:
    """The one at a place when they are sorted: between that of the low ends and that of the high ones."""
    return Bounds(sorted(n.low for n in numbers)[place], sorted(n.high for n in numbers)[place])


def nearest_rank(numbers: Sequence[Bounds], percent: float) -> Bounds:
    """The shortest that so many percent do not exceed."""
    return ordered(numbers, max(math.ceil(len(numbers) * percent / 100), 1) - 1)


def median(numbers: Sequence[Bounds]) -> Bounds:
    """The middle one, or the mean of the middle two."""
    middle = len(numbers) // 2
    if len(numbers) % 2:
        return ordered(numbers, middle)
    return (ordered(numbers, middle - 1) + ordered(numbers, middle)).times(0.5)


def deviation(numbers: Sequence[Bounds]) -> Bounds | None:
    """That of a sample. It is a norm, so it changes by no more than the norm of what each number is off by."""
    if len(numbers) < 2:
        return None
    middles = [(n.low + n.high) / 2 for n in numbers]
    mean = math.fsum(middles) / len(middles)
    value = math.sqrt(math.fsum((m - mean) ** 2 for m in middles) / (len(middles) - 1))
    off = math.sqrt(math.fsum(((n.high - n.low) / 2) ** 2 for n in numbers) / (len(numbers) - 1))
    return Bounds(max(value - off, 0), value + off)


@dataclass(frozen=True)
class Span:
    """A stretch of time of which both ends are known within bounds."""

    start: Bounds
    end: Bounds

    @property
    def length(self) -> Bounds:
        return Bounds(max(self.end.low - self.start.high, 0), self.end.high - self.start.low)

    def within(self, other: Span) -> Span:
        """The part of it that lies in another."""
        start = Bounds(max(self.start.low, other.start.low), max(self.start.high, other.start.high))
        end = Bounds(min(self.end.low, other.end.low), min(self.end.high, other.end.high))
        return Span(start, end)


def covered(spans: Iterable[Span]) -> Bounds:
    """Time that they cover, each moment once."""
    spans = list(spans)
    inner = [(s.start.high, s.end.low) for s in spans]
    outer = [(s.start.low, s.end.high) for s in spans]
    return Bounds(_union(inner), _union(outer))


def _union(spans: list[tuple[float, float]]) -> float:
    length, reached = 0.0, -math.inf
    for start, end in sorted(spans):
        length += max(end - max(start, reached), 0)
        reached = max(reached, end)
    return length
