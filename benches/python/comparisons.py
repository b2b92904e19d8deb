"""The rows of the table: what is compared with what, and the ratio to reach."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

SECTION = "profile_section"
CELLS = "{:<4} {:<24} {:<34} {:>9} {:>9} {:>8} {:>15} {:>8}  {}"
HEADINGS = ("row", "what", "against", "ns", "ns", "ratio", "spread", "target", "")


@dataclass(frozen=True)
class Comparison:
    """One row: the cost of one subject over that of another, both from the same process."""

    row: str
    group: str
    what: str
    against: str
    target: float | None
    """The largest ratio that holds; None for a row that is there for information."""

    once_a_release: bool = False


COMPARISONS = [
    Comparison("A1", "main", SECTION, "empty C context manager", 0.8),
    Comparison("A2", "main", SECTION, "seed timer class, totals", 1 / 12),
    Comparison("A2", "main", SECTION, "seed timer @contextmanager, totals", 1 / 25),
    Comparison("A2", "main", SECTION, "seed timer class, list", None),
    Comparison("A2", "main", SECTION, "seed timer @contextmanager, list", None),
    Comparison("A3", "torch", SECTION, "record_function", 1 / 90),
    Comparison("A4", "viztracer", SECTION, "log_event", 1 / 12, once_a_release=True),
    Comparison("A4", "opentelemetry", SECTION, "span", 1 / 200, once_a_release=True),
    Comparison("A4", "nvtx", SECTION, "annotate", 1 / 6, once_a_release=True),
    Comparison("A5", "main", "profile_function", "functools.wraps wrapper", 0.5),
    Comparison("A8", "off", "recorder off", "nullcontext", 0.5),
    Comparison("A8", "main", "enabled=False", "nullcontext", 0.5),
    Comparison("A8", "main", "enabled=False by keyword", "nullcontext", 0.5),
]


@dataclass
class Result:
    """A comparison with what was measured for it, one value a process."""

    comparison: Comparison
    what_ns: list[float]
    against_ns: list[float]
    problem: str = ""
    """Why there is no figure, or why it must not be trusted."""

    @property
    def ratios(self) -> list[float]:
        """One ratio a process."""
        return [what / against for what, against in zip(self.what_ns, self.against_ns, strict=True)]

    @property
    def verdict(self) -> str:
        """HOLDS or MISSED, nothing for information, or the problem."""
        if self.problem:
            return self.problem
        if self.comparison.target is None:
            return "for information"
        return "HOLDS" if statistics.median(self.ratios) <= self.comparison.target else "MISSED"

    def line(self) -> str:
        """The row of the table."""
        row = self.comparison
        target = "" if row.target is None else f"{row.target:.4f}"
        if not self.what_ns:
            return CELLS.format(row.row, row.what, row.against, "", "", "", "", target, self.verdict)
        ratios = self.ratios
        return CELLS.format(
            row.row,
            row.what,
            row.against,
            f"{statistics.median(self.what_ns):.1f}",
            f"{statistics.median(self.against_ns):.1f}",
            f"{statistics.median(ratios):.4f}",
            f"{min(ratios):.4f}-{max(ratios):.4f}",
            target,
            self.verdict,
        )

    def as_json(self) -> dict[str, object]:
        """The row for --json."""
        return {
            "row": self.comparison.row,
            "what": self.comparison.what,
            "against": self.comparison.against,
            "what_ns": self.what_ns,
            "against_ns": self.against_ns,
            "ratio": statistics.median(self.ratios) if self.what_ns else None,
            "target": self.comparison.target,
            "verdict": self.verdict,
        }


def result(comparison: Comparison, processes: list[dict]) -> Result:
    """What the processes of the comparison's group measured."""
    if missing := next((found["not_installed"] for found in processes if "not_installed" in found), None):
        return Result(comparison, [], [], f"not installed: {missing}")
    costs = [found["costs_ns"] for found in processes]
    for name in (comparison.what, comparison.against):
        if any(name not in one for one in costs):
            return Result(comparison, [], [], f"not measured: {name}")
    lost: dict[str, int] = {}
    for found in processes:
        for kind, count in found["losses"].items():
            lost[kind] = lost.get(kind, 0) + count
    problem = f"INVALID: not everything was recorded: {lost}" if lost else ""
    return Result(
        comparison, [one[comparison.what] for one in costs], [one[comparison.against] for one in costs], problem
    )
