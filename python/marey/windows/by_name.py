"""Windows of torch's profiler by name, with uncompressed traces."""

from __future__ import annotations

from contextlib import contextmanager

from marey.windows.context import ProfilerContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Generator
    from pathlib import Path
    from typing import Any


class PyTorchProfiler:
    """Windows by name, each with a trace ``<output_dir>/<name>.json``, uncompressed.

    Nothing is thrown away as warm-up, and at most ``max_steps`` denoising steps are recorded.

    Args:
        output_dir: Made with the first window.
        enabled: False does nothing.
        record_shapes: Record shapes of tensors.
        profile_memory: Record allocations with the operations.
        with_stack: Record where in the source each operation was called; expensive.
        max_steps: Denoising steps after which a window stops; a block without steps is recorded to its end.
        limits: As of ``ProfilerContext``.

    Raises:
        ConfigError: An argument makes no sense.
    """

    def __init__(
        self,
        output_dir: str | os.PathLike[str] = "./profiling_results",
        enabled: bool = True,
        record_shapes: bool = True,
        profile_memory: bool = True,
        with_stack: bool = False,
        *,
        max_steps: int = 16,
        **limits: Any,  # noqa: ANN401
    ) -> None:
        """Check the arguments; nothing is opened yet."""
        self.enabled = enabled
        self.output_dir = output_dir
        self._context: ProfilerContext | None = None
        self._wanted: dict[str, Any] = {
            "output_dir": output_dir,
            "with_stack": with_stack,
            "record_shapes": record_shapes,
            "profile_memory": profile_memory,
            "warmup": 0,
            "active": max_steps,
            "ending": ".json",
            **limits,
        }
        ProfilerContext(enabled, profile_name="check", **self._wanted)

    def start(self, name: str = "trace") -> None:
        """Open a window, if none is open."""
        self._open(name)

    def stop(self) -> Path | None:
        """Stop it. Where the trace will be, complete after ``wait()``; None when no window is open."""
        context, self._last = self._context, self._context or self._last
        self._context = None
        if context is None:
            return None
        context.__exit__()
        return context.trace_path

    _last: ProfilerContext | None = None

    @contextmanager
    def profile(self, name: str = "trace") -> Generator[PyTorchProfiler]:
        """A window around a ``with`` block."""
        self._open(name)
        context = self._context
        kind: type[BaseException] | None = None
        try:
            yield self
        except BaseException as error:
            kind = type(error)
            raise
        finally:
            if context is not None and context is self._context:
                self._context, self._last = None, context
                context.__exit__(kind)

    def step(self) -> None:
        """A denoising step has ended."""
        if self._context is not None:
            self._context.step()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the last trace is complete. False when that takes longer."""
        return self._last is None or self._last.wait(seconds)

    def _open(self, name: str) -> None:
        if self.enabled and self._context is None:
            self._context = ProfilerContext(True, profile_name=name, **self._wanted)
            self._context.open()
