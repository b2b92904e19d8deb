"""One recording of torch's profiler: warm-up, then active steps, with torch's own marks ``ProfilerStep#n``."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from marey.windows.options import WindowOptions


class Cycle:
    """A ``torch.profiler.profile`` and where in the schedule it is.

    Args:
        torch: The module.
        options: Of the window.
        activities: What torch is to record.
        first: Number of the denoising step that runs when this begins.
        n_warmup: Steps from there on whose events are thrown away.
        is_trial: Nobody knows yet whether steps will come: recorded at once, and thrown away with the first step if
            that is one for warm-up.
    """

    def __init__(
        self,
        torch: Any,  # noqa: ANN401
        options: WindowOptions,
        activities: list[Any],
        *,
        first: int,
        n_warmup: int,
        is_trial: bool = False,
    ) -> None:
        """Make it; nothing starts."""
        actions = torch.profiler.ProfilerAction
        active_from = first if is_trial else first + n_warmup

        def action(step: int) -> Any:  # noqa: ANN401
            if step < first:
                return actions.NONE
            return actions.WARMUP if step < active_from else actions.RECORD

        self.is_trial = is_trial
        self._first = first
        self._active_from = active_from
        self._step = first
        self.stop_seconds = 0.0
        self.profiler = torch.profiler.profile(
            activities=activities,
            schedule=action,
            record_shapes=options.record_shapes,
            with_stack=options.with_stack,
            profile_memory=options.profile_memory,
        )

    @property
    def is_recording(self) -> bool:
        """Events are kept."""
        return self._step >= self._active_from

    def start(self) -> None:
        """Start, with the number of the step that runs."""
        self.profiler.start()
        for _ in range(self._first):
            self.profiler.step()

    def step(self) -> None:
        """A denoising step ended, and the next begins."""
        self._step += 1
        self.profiler.step()

    def stop(self) -> None:
        """Stop; what was recorded is kept in the profiler until that is dropped."""
        began = time.perf_counter()
        self.profiler.stop()
        self.stop_seconds = time.perf_counter() - began
