"""A window of torch's profiler around a block."""

from __future__ import annotations

from marey.windows.options import WindowOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from pathlib import Path
    from types import TracebackType
    from typing import Any

    from marey.windows.window import ProfilerWindow


class ProfilerContext:
    """A window around a ``with`` block; with ``enabled=False`` it does nothing, not even check its arguments.

    Steps of a pipeline drive the schedule: ``step()``, or by themselves those of diffusers' schedulers, of an
    ``IterationProfiler`` and of ``@profile_diffusion_step``. Without any step the whole block is recorded, within the
    limits.

    Attributes:
        trace_path: Where the trace will be, for MEM alone the snapshot; None before the block, or when not enabled.
        memory_snapshot_path: Where the memory snapshot will be; None without MEM, and where there is no CUDA.
        output_dir: Their folder.

    Args:
        enabled: False does nothing.
        activities: Some of CPU, GPU and MEM; default CPU and GPU. What the machine does not have is left out, and said.
        output_dir: Used as it is; default as ``get_profiler_output_dir``.
        profile_name: Beginning of the files' names; default ``profile_`` and the time.
        with_stack: Record where in the source each operation was called; expensive.
        record_shapes: Record shapes of tensors.
        wait: Steps before anything is recorded.
        warmup: Steps after those that are recorded and thrown away.
        active: Steps that are recorded and kept.
        repeat: How often that is done.
        limits: ``profile_memory``, ``max_seconds`` (120), ``max_host_bytes`` (4 GiB or half of what is free),
            ``max_file_bytes`` (2 GiB), ``force``: as in ``WindowOptions``.

    Raises:
        ConfigError: An argument makes no sense.
    """

    def __init__(
        self,
        enabled: bool = True,
        activities: Iterable[str] | None = None,
        output_dir: str | os.PathLike[str] | None = None,
        profile_name: str | None = None,
        with_stack: bool = False,
        record_shapes: bool = True,
        wait: int = 0,
        warmup: int = 1,
        active: int = 3,
        repeat: int = 1,
        *,
        ending: str = ".trace.json.gz",
        **limits: Any,  # noqa: ANN401
    ) -> None:
        """Check the arguments; nothing is opened yet."""
        self.enabled = enabled
        self.output_dir: Path | None = None
        self.trace_path: Path | None = None
        self.memory_snapshot_path: Path | None = None
        self._window: ProfilerWindow | None = None
        if not enabled:
            return

        def options() -> WindowOptions:
            return WindowOptions(
                activities,
                wait=wait,
                warmup=warmup,
                active=active,
                repeat=repeat,
                with_stack=with_stack,
                record_shapes=record_shapes,
                **limits,
            )

        activities = None if activities is None else activities if isinstance(activities, str) else tuple(activities)
        options()
        self._options = options
        self._given_dir = output_dir
        self._name = profile_name
        self._ending = ending

    @property
    def profiler(self) -> Any:  # noqa: ANN401
        """The ``torch.profiler.profile`` of the window, the last one if there were several; None before it."""
        return None if self._window is None else self._window.profiler

    def __enter__(self) -> ProfilerContext:
        """Open the window."""
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        """Stop the window, if it has not stopped by itself; files are written beside the program."""
        if self._window is not None:
            self._window.close(_reason(kind))
            self.trace_path = self._window.trace_path

    def step(self) -> None:
        """A denoising step has ended. From the first call on nothing but these calls counts steps."""
        if self._window is not None:
            self._window.step()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the files are complete, as they are at the end of the process. False when that takes longer."""
        return self._window is None or self._window.wait(seconds)

    def open(self) -> None:
        """Open the window, as the beginning of a block does."""
        if not self.enabled:
            return
        if self._window is not None and self._window.is_open:
            return
        from marey.windows.window import ProfilerWindow

        name = _name_by_time() if self._name is None else self._name
        window = ProfilerWindow(self._options(), name, self._given_dir, ending=self._ending)
        self._window = window
        window.open()
        self.output_dir, self.trace_path = window.output_dir, window.trace_path
        self.memory_snapshot_path = window.memory_snapshot_path


def _name_by_time() -> str:
    import time

    return f"profile_{int(time.time())}"


def _reason(kind: type[BaseException] | None) -> str:
    if kind is None:
        return "end"
    if issubclass(kind, GeneratorExit):
        return "closed"
    return "exception" if issubclass(kind, Exception) else "abort"
