"""Starting and stopping, sessions, and reports of the running process."""

from __future__ import annotations

import atexit
import itertools
import os
import sys

from marey import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from marey.iterations import IterationProfiler
    from marey.memory import MemoryTracker

_global_stats = _core.TimingStats.of_process()


def get_global_stats() -> _core.TimingStats:
    """Statistics by name of what this process recorded since the start, or since ``clear()``. Times are seconds."""
    return _global_stats


def start(
    output_dir: str | os.PathLike[str] | None = None,
    *,
    job_id: str | None = None,
    profiling: _core.ProfilingConfig | None = None,
) -> Path | None:
    """Record into ``<output_dir>/<job id>/`` from now on; what was recorded in memory so far comes along.

    Args:
        output_dir: Default ``MAREY_OUTPUT_DIR``, else ``profiling_results``.
        job_id: Name of the folder; default ``MAREY_JOB_ID``, else made of start time, host and pid.
        profiling: How the machine is sampled, also when recording is on already; default the environment's. Its
            ``output_dir`` is not used here.

    Returns:
        The job folder, where ``marey report`` finds the capture. Starting twice changes nothing. None when
        ``MAREY_ENABLED=0`` switches recording off.

    Raises:
        CaptureError: The folder cannot be made or written.
    """
    if "torch.distributed" in sys.modules:
        # Its process group may be there already; what it says of the rank names the capture's file, too.
        from marey.distributed import learn_rank

        learn_rank()
    folder = _core.start(None if output_dir is None else os.fspath(output_dir), job_id, _facts(), profiling)
    return None if folder is None else _path(folder)


def join_job(job: tuple[int, str, str], profiling: _core.ProfilingConfig) -> None:
    """Record as a worker into another process's job, which ``_core.job_of_process()`` gave there, while it runs."""
    maker, output_dir, job_id = job
    _core.join_job(maker, output_dir, job_id, _facts(), profiling)


def stop() -> Path | None:
    """End the recording and return the path of its capture; None when it was in memory or nothing was on.

    Nobody has to call this: the interpreter does at exit, and a killed process loses nothing that was complete.
    """
    capture = _core.stop()
    for name in ("marey.pipelines.identity", "marey.handed_on"):
        module: Any = sys.modules.get(name)
        if module is not None:
            module.forget()
    return None if capture is None else _path(capture)


_was_asked = False


def autostart() -> None:
    """Record if ``MAREY_ENABLED`` asks for it. The import does this; asking again changes nothing. Never raises."""
    global _was_asked
    if not _was_asked and not _is_command():
        _was_asked = True
        is_on = _core.autostart(_facts())
        _close_at_exit()
        if is_on:
            # Whoever asks for a recording by the environment gets pipelines instrumented, too.
            from marey.pipelines.arming import arm

            arm()
            steps = os.environ.get("MAREY_TORCH_PROFILE")
            if steps:
                from marey.windows.requests import of_first_steps

                of_first_steps(steps)


def _is_command() -> bool:
    """Whether this process is the ``marey`` command, which reads recordings and makes none of itself."""
    if sys.argv[:1] == ["-m"]:
        return ("-m", "marey") in itertools.pairwise(sys.orig_argv) or "-mmarey" in sys.orig_argv
    if not sys.argv or os.path.basename(sys.argv[0]) != "marey":
        return False
    try:
        with open(sys.argv[0], "rb") as script:
            return b"_marey_command" in script.read(4096)
    except OSError:
        return False


def session(name: str, tags: Mapping[str, Any] | None = None, **more_tags: Any) -> _core.SessionScope:  # noqa: ANN401
    """A named interval of the run with tags, what a user calls one generation, for a ``with`` block.

    It is nested in the session that is current in this thread or asyncio task. Decorators without a profiler of their
    own record into the same sessions.

    Args:
        name: Any text; sessions may nest, overlap and share names.
        tags: Kept with the session: bool, int, float and str as they are, anything else as its ``repr``.
        more_tags: As ``tags``.
    """
    return _core.process_profiler().session(name, {**as_dict(tags, "tags"), **more_tags})


def as_dict(given: object, name: str) -> dict[str, Any]:
    """A copy of a mapping; what is none becomes its one value, because recording raises nothing."""
    values: Any = given
    try:
        return dict(values or {})
    except Exception:  # Whatever the program's own mapping raises.
        return {name: given}


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
    _core.read_gpu_times()
    return os.fspath(
        _core.export_report(
            os.fspath(output_dir),
            timing_stats,
            None if memory_tracker is None else memory_tracker.log,
            None if iteration_profiler is None else iteration_profiler.log,
        )
    )


def _path(path: str | os.PathLike[str]) -> Path:
    from pathlib import Path

    return Path(path)


def _facts() -> dict[str, str]:
    return {
        "python": sys.version.split()[0],
        "python_implementation": sys.implementation.name,
        "python_executable": sys.executable or "",
    }


def _close_at_exit() -> None:
    atexit.register(_stop_at_exit)
    # From 3.12 on Python warns of threads when it forks, and would mean Marey's. From 3.13 on it does so after all
    # hooks: there the thread starts again with the next thing that is recorded.
    if sys.version_info >= (3, 12):
        os.register_at_fork(before=_core.before_fork)
    if sys.version_info[:2] == (3, 12):
        os.register_at_fork(after_in_parent=_core.after_fork)
    os.register_at_fork(after_in_child=_close_in_worker)
    _close_in_worker()  # This may be one already.


def _stop_at_exit() -> None:
    """Close the capture; it says by which exception the interpreter ends, if by one."""
    models: Any = sys.modules.get("marey.pipelines.models_seen")
    if models is not None:
        models.tell()
    failure: type[BaseException] | None = getattr(sys, "last_type", None)
    if failure is None:
        _core.stop()
        return
    # The text of an exception can hold a prompt, so only its type is kept.
    is_builtin = failure.__module__ == "builtins"
    name = failure.__qualname__ if is_builtin else f"{failure.__module__}.{failure.__qualname__}"
    # That there is no memory on the host torch says in words only.
    is_torchs = failure is RuntimeError and "DefaultCPUAllocator: " in str(getattr(sys, "last_value", ""))
    _core.stop(f"{name} of DefaultCPUAllocator" if is_torchs else name)


def _close_in_worker() -> None:
    """A worker of ``multiprocessing`` ends without ``atexit`` but with finalizers of its own: it closes there."""
    util: Any = sys.modules.get("multiprocessing.util")
    if util is not None:
        # Finalizers made before its own after-fork work are thrown away there.
        util.register_after_fork(_core, _finalize_in_worker)


def _finalize_in_worker(_core_module: object) -> None:
    util: Any = sys.modules["multiprocessing.util"]
    util.Finalize(None, _stop_at_exit, exitpriority=-100)
