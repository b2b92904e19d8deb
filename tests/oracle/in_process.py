"""What Marey tells the program itself: ``get_global_stats`` and ``IterationProfiler.get_stats``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from figures import STAMP_ERROR, Figure, Figures

SECTION = ("count", "total", "mean", "min", "max", "last", "p50", "p95", "p99", "self", "errors")
LOOP = ("count", "total", "mean", "min", "max", "median", "p95", "p99", "first", "errors")


def figures(told: dict[str, Any]) -> dict[str, Any]:
    """The figures of sections and loops by the names that the truth has for them."""
    said: dict[str, Any] = {}
    for name, row in told["sections"].items():
        said |= {f"name[{name}].{key}": row[key] for key in SECTION}
    for name, row in told["loops"].items():
        if row:
            said |= {f"loop[{name}].{key}": row[key] for key in LOOP}
            said[f"loop[{name}].std_dev"] = row["std"]
            said[f"loop[{name}].rest_mean"] = row["mean_after_first"]
            said[f"loop[{name}].per_second"] = row["iterations_per_second"]
    return said


def expected(truth: Figures) -> Figures:
    """What the process can know of it without its records: percentiles of sections are of histograms there."""
    return {name: _known_live(name, figure) for name, figure in truth.items()}


def _known_live(name: str, figure: Figure) -> Figure:
    if name.startswith("name[") and name.endswith((".p50", ".p95", ".p99")):
        return replace(figure, relative=0.0315, absolute=STAMP_ERROR)
    if name.startswith("name[") and name.endswith((".self", ".last")):
        # Totals do not say what will be under an open call, nor which of several call paths ended last.
        return replace(figure, values=(*figure.values, None))
    return figure
