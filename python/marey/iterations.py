"""Timing of loops, turn by turn."""

from __future__ import annotations

from marey import _core


class IterationProfiler:
    """Times the turns of a loop, the denoising steps of a sampler for instance.

    Turns may nest and overlap; one that raised is counted in ``errors``. Statistics are exact for the first 65 536
    turns; beyond, percentiles come from a histogram (±3.1 %). Costs about 0.3 us a turn.

    Args:
        name: The loop's name in reports.
        enabled: False records nothing.
    """

    def __init__(self, name: str = "iteration", enabled: bool = True) -> None:
        """Make a profiler for a loop."""
        self.name = name
        self.enabled = enabled
        self.log = _core.IterationLog(name, enabled)

    def iteration(self) -> _core.IterationLog:
        """One turn, as a context manager."""
        return self.log

    def start_iteration(self) -> None:
        """Begin a turn."""
        self.log.begin()

    def end_iteration(self) -> None:
        """End the turn that was begun last; does nothing when there is none."""
        self.log.end(False)

    def get_stats(self) -> dict[str, float | int | None]:
        """Statistics of all completed turns in seconds; empty before the first.

        Keys: count, total, mean, min, max, median, p95, p99, std (None for fewer than two), iterations_per_second,
        first, mean_after_first (None for fewer than two), errors.
        """
        return self.log.stats()

    def print_summary(self) -> None:
        """Print the statistics."""
        print(self.log.summary())
