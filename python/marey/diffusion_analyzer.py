"""Analysis of a diffusion model's work without a recording."""

from __future__ import annotations

import json

from marey import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ANALYSES = ("diffusion_analysis", "model_analysis", "block_analysis")


class DiffusionAnalyzer(_core.DiffusionLog):
    """Takes steps, blocks and models of a program, and says what they come to.

    Nothing is recorded: what ``record_step``, ``record_block`` and ``record_model`` report stays in memory, the first
    131 072 reports of it. Their arguments are those of ``Profiler.record_diffusion_step``,
    ``record_block_computation`` and ``record_model_parameters``; a report is made at the end of the work that it is
    about. What is None or makes no sense is absent, and no figure is made of it.

    >>> analyzer = DiffusionAnalyzer()
    >>> for step in range(4):
    ...     analyzer.record_step(step, timestep=1 - step / 4, block_size=3, computation_time_ms=100.0)
    >>> analyzer.record_block(0, block_size=3, computation_time_ms=400.0)
    >>> analyzer.analyze()["block_analysis"]["fps"]
    7.5
    """

    def analyze(self) -> dict[str, Any]:
        """What was taken so far, under the keys ``diffusion_analysis``, ``model_analysis`` and ``block_analysis``.

        They are those of ``profiling_report.json``; one is None when nothing of its kind was taken.
        """
        report = json.loads(self.report())
        return {key: report[key] for key in _ANALYSES}

    def recommendations(self) -> list[dict[str, Any]]:
        """What could be better, as ``recommendations`` of ``profiling_report.json``: most severe first."""
        return json.loads(self.report())["recommendations"]
