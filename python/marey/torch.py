"""Bounded windows of torch's profiler, and memory snapshots.

>>> import marey.torch
>>> with marey.torch.ProfilerContext(enabled=False) as window:
...     window.step()

A window records some denoising steps of a pipeline and writes a trace beside the program. It is bounded in steps,
seconds, memory and bytes on disk, and whatever goes wrong inside torch's profiler is a finding in Marey's report and
not an error of the pipeline. This module imports no torch: it uses the one that the program has imported.
"""

from __future__ import annotations

from marey.windows.context import ProfilerContext, PyTorchProfiler, profile_function
from marey.windows.files import get_profiler_output_dir, set_profiler_output_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from pathlib import Path
    from typing import Any

    from marey.windows.requests import RequestedWindow

__all__ = [
    "ProfilerContext",
    "PyTorchProfiler",
    "create_profiler_context",
    "create_profiler_from_args",
    "get_profiler_output_dir",
    "memory_snapshot",
    "profile_function",
    "request_window",
    "set_profiler_output_dir",
]


def create_profiler_context(
    enabled: bool = False,
    activities: Iterable[str] | None = None,
    output_dir: str | os.PathLike[str] | None = None,
    profile_name: str | None = None,
    **more: Any,  # noqa: ANN401
) -> ProfilerContext:
    """A ``ProfilerContext`` that is off unless asked for."""
    return ProfilerContext(enabled, activities, output_dir, profile_name, **more)


def create_profiler_from_args(args: Any, profile_name: str | None = None, **more: Any) -> ProfilerContext:  # noqa: ANN401
    """The window that the flags of ``marey.cli_args`` ask for.

    It is off with neither ``--profile`` nor ``--profiling-iterations``.

    Args:
        args: As ``argparse`` gives them; flags that the parser does not have count as not given.
        profile_name: Instead of ``--profile-name``.
        more: Other arguments of ``ProfilerContext``, instead of the flags'.
    """

    def given(flag: str) -> Any:  # noqa: ANN401
        return getattr(args, flag, None)

    named = ("activities", "name", "dir", "with_stack", "record_shapes", "wait", "warmup", "active", "repeat")
    settings: dict[str, Any] = {name: given(f"profile_{name}") for name in named}
    settings |= {"enabled": bool(given("profile")), "profile_name": settings.pop("name")}
    settings["output_dir"] = settings.pop("dir")
    iterations = given("profiling_iterations")
    if iterations is not None and not settings["enabled"]:
        settings |= {"enabled": True, "profile_name": "trace", "output_dir": given("profiling_output_dir")}
        settings |= {"warmup": 1, "active": iterations, "ending": ".json"}
    settings = {name: value for name, value in settings.items() if value is not None}
    if profile_name is not None:
        settings["profile_name"] = profile_name
    return ProfilerContext(**(settings | more))


def request_window(
    steps: int | None = None,
    seconds: float | None = None,
    **more: Any,  # noqa: ANN401
) -> RequestedWindow:
    """Have a window opened in whatever thread takes the next step; from any thread, and from a handler of a signal.

    As ``marey window`` does from outside. The trace goes to ``get_profiler_output_dir()``.

    Args:
        steps: So many after one for warm-up, 1 to 10000; 3 without ``seconds``.
        seconds: Instead of steps: so long, 0.1 to 3600, whatever steps there are, from when the main thread runs Python
            again or a step ends. Operations of all threads are recorded where torch can do that.
        more: As of ``ProfilerContext``: ``activities``, ``with_stack``, limits.

    Returns:
        A request: ``wait()`` for the trace, then ``trace_path``, or ``why_not`` in words; ``cancel()`` before it opens.

    Raises:
        ConfigError: An argument makes no sense.
    """
    from marey.windows.requests import RequestedWindow, options_of

    request = RequestedWindow(options_of(steps, seconds, **more))
    request.ask()
    return request


def memory_snapshot(path: str | os.PathLike[str]) -> Path | None:
    """Write what torch's CUDA allocators hold now, for ``marey analyze``; None when that failed. Never raises.

    In a window with MEM, and with ``marey.memory_history.MemoryHistory`` on, the file has the history, too; otherwise
    the state of this moment without stacks.
    """
    from marey.memory_history import dump_now

    return dump_now(path)
