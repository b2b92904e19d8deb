"""Starting and stopping, sessions, and reports of the running process."""

from __future__ import annotations

import atexit
import os
import platform
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from marey import _core
from marey.iterations import IterationProfiler
from marey.memory import MemoryTracker

_global_stats = _core.TimingStats.of_process()


def get_global_stats() -> _core.TimingStats:
    """Statistics by name of everything that this process recorded since the start, or since ``clear()``. Times are seconds."""
    return _global_stats


def start(output_dir: str | os.PathLike[str] | None = None, *, job_id: str | None = None) -> Path:
    """Record into ``<output_dir>/<job id>/`` from now on; what was recorded in memory so far comes along.

    Args:
        output_dir: Default ``MAREY_OUTPUT_DIR``, else ``profiling_results``.
        job_id: Name of the folder; default ``MAREY_JOB_ID``, else made of start time, host and pid.

    Returns:
        The job folder, where ``marey report`` finds the capture. Starting twice changes nothing.

    Raises:
        CaptureError: The folder cannot be made or written.
    """
    folder = _core.start(None if output_dir is None else os.fspath(output_dir), job_id, _facts())
    _close_at_exit()
    if folder is None:  # pragma: no cover - a start without an error has a folder
        raise _core.CaptureError("recording did not start")
    return Path(folder)


def stop() -> Path | None:
    """End the recording and return the path of its capture; None when it was in memory or nothing was on.

    Nobody has to call this: the interpreter does at exit, and a killed process loses nothing that was complete.
    """
    capture = _core.stop()
    return None if capture is None else Path(capture)


def autostart() -> bool:
    """Record if ``MAREY_ENABLED`` asks for it; ``marey run`` calls this before the program's first line. Never raises."""
    is_on = _core.autostart(_facts())
    if is_on:
        _close_at_exit()
    return is_on


@contextmanager
def session(name: str, tags: Mapping[str, Any] | None = None, **more_tags: Any) -> Iterator[None]:  # noqa: ANN401
    """A named interval of the run with tags, what a user calls one generation.

    Args:
        name: Any text; sessions may nest, overlap and share names.
        tags: Kept with the session: bool, int, float and str as they are, anything else as its ``repr``.
        more_tags: As ``tags``.
    """
    number = _core.start_session(name, {**(tags or {}), **more_tags})
    try:
        yield
    finally:
        if number is not None:
            _core.stop_session(number)


def export_profiling_report(
    output_dir: str | os.PathLike[str] = "./profiling_results",
    timing_stats: _core.TimingStats | None = None,
    memory_tracker: MemoryTracker | None = None,
    iteration_profiler: IterationProfiler | None = None,
) -> str:
    """Write what was recorded so far as ``profiling_report.json``, ``timing_summary.txt`` and ``memory_log.json``.

    Args:
        output_dir: Used as it is, and made if need be.
        timing_stats: Statistics of your own instead of the process's.
        memory_tracker: Whose readings become ``memory_snapshots``; default those of all trackers.
        iteration_profiler: Which loop becomes ``iteration_stats``; default the first.

    Returns:
        The path of ``profiling_report.json``.

    Raises:
        Error: The folder cannot be written.
    """
    return str(
        _core.export_report(
            os.fspath(output_dir),
            timing_stats,
            None if memory_tracker is None else memory_tracker.log,
            None if iteration_profiler is None else iteration_profiler.log,
        )
    )


def _facts() -> dict[str, str]:
    facts = {"python": platform.python_version(), "python_implementation": platform.python_implementation()}
    script = getattr(sys, "orig_argv", None)
    if script:
        facts["python_executable"] = sys.executable
    return facts


_failure: str | None = None
_is_registered = False


def _close_at_exit() -> None:
    global _is_registered
    if not _is_registered:
        _is_registered = True
        atexit.register(_stop_at_exit)
        _watch_for_failure()
        os.register_at_fork(after_in_child=_close_in_child)


def _stop_at_exit() -> None:
    _core.stop(_failure)


def _watch_for_failure() -> None:
    """Keep why the interpreter ends, if by an exception: the capture says so. The hook that was there runs as before."""
    previous = sys.excepthook

    def excepthook(kind: type[BaseException], value: BaseException, traceback: TracebackType | None) -> None:
        global _failure
        # The text of an exception can hold a prompt, so only its type is kept.
        _failure = f"{kind.__module__}.{kind.__qualname__}" if kind.__module__ != "builtins" else kind.__qualname__
        previous(kind, value, traceback)

    sys.excepthook = excepthook


def _close_in_child() -> None:
    """A worker of ``multiprocessing`` ends without ``atexit``; it runs finalizers of its own, so close the capture there."""
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.Finalize(None, _core.stop, exitpriority=-100)
