"""Windows of torch's profiler around a block, by name, and around each call of a function."""

from __future__ import annotations

import functools
import time
from contextlib import contextmanager, nullcontext

from marey.windows.options import WindowOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Generator, Iterable
    from pathlib import Path
    from typing import Any, TypeVar

    from marey.functions import Finish
    from marey.windows.window import ProfilerWindow

    F = TypeVar("F", bound=Callable[..., Any])


class ProfilerContext:
    """A window around a ``with`` block; with ``enabled=False`` it does nothing, not even check its arguments.

    Steps of a pipeline drive the schedule: ``step()``, or by themselves those of diffusers' schedulers, of an
    ``IterationProfiler`` and of ``@profile_diffusion_step``. Without any step the whole block is recorded, within the
    limits.

    Attributes:
        trace_path: Where the trace will be, for MEM alone the snapshot; None before the block, or when not enabled.
            Whether there is such a file ``wait()`` tells.
        memory_snapshot_path: Where the memory snapshot will be; None without MEM, and where there is no CUDA.
        output_dir: Their folder, absolute.

    Args:
        enabled: False does nothing.
        activities: Some of CPU, GPU and MEM; default CPU and GPU. What the machine does not have is left out, and said.
        output_dir: Used as it is, from where the block begins; default as ``get_profiler_output_dir``.
        profile_name: Beginning of the files' names; default ``profile_`` and the time.
        with_stack: Record where in the source each operation was called; expensive.
        record_shapes: Record shapes of tensors.
        wait: Steps before anything is recorded.
        warmup: Steps after those that are recorded and thrown away.
        active: Steps that are recorded and kept.
        repeat: How often that is done.
        limits: ``profile_memory``, ``max_seconds`` (120), ``max_host_bytes`` (4 GiB or half of what is free),
            ``max_file_bytes`` (2 GiB), ``all_threads``, ``force``: as in ``WindowOptions``.

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
        self._options = WindowOptions(
            activities,
            wait=wait,
            warmup=warmup,
            active=active,
            repeat=repeat,
            with_stack=with_stack,
            record_shapes=record_shapes,
            **limits,
        )
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

    def __exit__(self, kind: type[BaseException] | None = None, *_error: object) -> None:
        """Stop the window, if it has not stopped by itself; files are written beside the program."""
        if self._window is not None:
            try:
                self._window.close(_reason(kind))
            finally:
                self.trace_path = self._window.trace_path

    def step(self) -> None:
        """A denoising step has ended. From the first call on nothing but these calls counts steps."""
        if self._window is not None:
            self._window.step()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the files are complete, as they are at the end of the process.

        False when that takes longer, or ``trace_path`` was not written: something failed, the window did not open, or
        nothing was kept.
        """
        return not self.enabled or (self._window is not None and self._window.wait(seconds))

    def open(self) -> None:
        """Open the window, as the beginning of a block does."""
        if not self.enabled or (self._window is not None and self._window.is_open):
            return
        from marey.windows.window import ProfilerWindow

        name = f"profile_{int(time.time())}" if self._name is None else self._name
        self._window = window = ProfilerWindow(self._options, name, self._given_dir, self._ending)
        window.open()
        self.output_dir, self.trace_path = window.output_dir, window.trace_path
        self.memory_snapshot_path = window.memory_snapshot_path


def _reason(kind: type[BaseException] | None) -> str:
    if kind is None:
        return "end"
    if issubclass(kind, GeneratorExit):
        return "closed"
    return "exception" if issubclass(kind, Exception) else "abort"


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
        self._window = functools.partial(
            ProfilerContext,
            output_dir=output_dir,
            with_stack=with_stack,
            record_shapes=record_shapes,
            profile_memory=profile_memory,
            **({"warmup": 0, "active": max_steps, "ending": ".json"} | limits),
        )
        self._window(enabled)
        self._open: ProfilerContext | None = None
        self._last: ProfilerContext | None = None

    def start(self, name: str = "trace") -> None:
        """Open a window, if none is open."""
        if self.enabled and self._open is None:
            window = self._window(profile_name=name)
            window.open()
            self._open = window

    def stop(self) -> Path | None:
        """Stop it. Where the trace will be, complete after ``wait()``; None when no window is open."""
        return self._stop(None)

    @contextmanager
    def profile(self, name: str = "trace") -> Generator[PyTorchProfiler]:
        """A window around a ``with`` block."""
        self.start(name)
        window = self._open
        kind: type[BaseException] | None = None
        try:
            yield self
        except BaseException as error:
            kind = type(error)
            raise
        finally:
            if window is self._open:
                self._stop(kind)

    def step(self) -> None:
        """A denoising step has ended."""
        if self._open is not None:
            self._open.step()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the last trace is complete.

        False when that takes longer, or it was not written: something failed, the window did not open, or nothing
        was kept.
        """
        return not self.enabled or (self._last is not None and self._last.wait(seconds))

    def _stop(self, kind: type[BaseException] | None) -> Path | None:
        window, self._open = self._open, None
        if window is None:
            return None
        self._last = window
        window.__exit__(kind)
        return window.trace_path


def profile_function(
    enabled: Any = True,  # noqa: ANN401
    activities: Iterable[str] | None = None,
    output_dir: str | os.PathLike[str] | None = None,
    profile_name: str | None = None,
    with_stack: bool = False,
    record_shapes: bool = True,
    **more: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Record each call of the decorated function in a window of its own; later ones get a number in their names.

    Coroutines, generators and async generators are recorded from their first step to their last, with what runs in the
    same thread meanwhile. A call inside another one's window, or while one is open, is not recorded.

    Args:
        enabled: False returns the function itself. ``@profile_function`` without parentheses is fine.
        activities: As of ``ProfilerContext``, with everything that follows.
        output_dir: As there.
        profile_name: Default: the function's name.
        with_stack: As there.
        record_shapes: As there.
        more: As there.
    """
    from marey.functions import is_decoratable, name_of_function, wrap

    if is_decoratable(enabled):
        return profile_function()(enabled)
    if activities is not None and not isinstance(activities, str):
        activities = tuple(activities)
    context = functools.partial(
        ProfilerContext, enabled, activities, output_dir, with_stack=with_stack, record_shapes=record_shapes, **more
    )
    context()

    def decorate(function: F) -> F:
        if not enabled:
            return function
        name = name_of_function(function).rpartition(".")[2] if profile_name is None else profile_name

        def until_it_has_ended(_args: object, _kwargs: object) -> tuple[Any, Finish]:
            window = context(profile_name=name)
            window.open()
            return nullcontext(), lambda is_failed, _result: window.__exit__(Exception if is_failed else None)

        return wrap(function, lambda _args, _kwargs: (context(profile_name=name), None), pausing=until_it_has_ended)

    return decorate
