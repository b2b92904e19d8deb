"""Live figures for a tracker of experiments, by one callback; no tracker is imported."""

from __future__ import annotations

import logging
import sys
import threading
from contextlib import suppress

from marey import _core, threads
from marey.recording import get_global_stats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

__all__ = ["Sink"]


class Sink:
    """Calls ``callback(metrics, step)`` with figures by name, one call at a time.

    Names are ``marey/fps``, ``marey/cpu/process_cpu_cores``, ``marey/gpu/<UUID>/power_watts`` and so on, as in
    ``get_current_metrics()``; at the end ``marey/section/<name>/<figure>`` as in ``get_all_stats()``. What is not known
    is not there. Whatever the callback raises is counted in ``failed`` and said once in the log ``marey``; only Ctrl-C
    goes through. While one call hangs, others return at once and are counted in ``skipped``.

    Args:
        callback: Takes them to the tracker.
        profiler: The ``Profiler`` whose figures they are; default: those of the process.
    """

    def __init__(
        self, callback: Callable[[dict[str, float], int], object], profiler: _core.ProfilerCore | None = None
    ) -> None:
        """Make a sink; nothing is called."""
        self.failed = self.skipped = self._step = 0
        self._callback = callback
        self._profiler = _core.process_profiler() if profiler is None else profiler
        self._calling = threading.Lock()
        self._end = threading.Event()
        self._is_given_up = False
        self._thread: threading.Thread | None = None

    def log(self, step: int | None = None) -> None:
        """Calls with what is known now, until ``close()``. Without a step they are numbered from the last one on."""
        if not self._end.is_set():
            self._call(self._profiler.get_current_metrics, step)

    def every(self, seconds: float) -> Sink:
        """Calls with what is known now again and again, and at the end, from a thread of its own.

        Raises:
            ValueError: Not a positive number of seconds, or one too large to wait for.
        """
        if not 0 < seconds <= threading.TIMEOUT_MAX:
            raise ValueError(f"not a positive number of seconds that a thread can wait: {seconds}")
        if self._thread is None and not self._end.is_set():
            self._thread = threads.started(lambda: self._run(seconds), "marey-sink")
            if self._thread is None:
                self._fail(RuntimeError("no thread is to be had that calls the tracker"))
        return self

    def close(self) -> None:
        """Calls with the figures of all sections, once, and never again. The tracker stays open: it is its maker's.

        A thread whose call hangs is given up after five seconds; then this last call may be missing.
        """
        if self._end.is_set():
            return
        self._end.set()
        if self._thread is None:
            self._run(0)
            return
        self._thread.join(timeout=5)
        if self._thread.is_alive():
            self._is_given_up = True
            self._fail(TimeoutError("the tracker does not return"))

    def __enter__(self) -> Sink:
        """Return the sink."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it."""
        self.close()

    def _run(self, seconds: float) -> None:
        """What is known now, again and again until the end, and then what all sections were."""
        while not self._end.wait(seconds):
            self.log()
        if not self._is_given_up:
            self._call(lambda: {"section": get_global_stats().get_all_stats()}, None)

    def _call(self, ask: Callable[[], Mapping[str, Any]], step: int | None) -> None:
        """Nothing that goes wrong in here reaches the program."""
        if not self._calling.acquire(blocking=False):
            self.skipped += 1
            return
        try:
            self._step = self._step if step is None else step
            metrics = dict(_numbers("marey/", ask()))
            if metrics:
                self._callback(metrics, self._step)
            self._step += 1
        except (Exception, SystemExit) as problem:
            self._fail(problem)
        finally:
            self._calling.release()

    def _fail(self, problem: BaseException) -> None:
        self.failed += 1
        if self.failed == 1:
            with suppress(Exception):  # what it says is the tracker's own code, too
                said = " ".join(str(problem).split())
                logging.getLogger("marey").warning("Sink: %s: %s; not said again", type(problem).__name__, said)


def _numbers(name: str, value: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Numbers by their path. Texts, lists, the time of day and what is not finite are left out."""
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from _numbers(f"{name}{key}/", inner)  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(inner, (int, float)) and key != "timestamp" and abs(inner) <= sys.float_info.max:
            yield f"{name}{key}", inner
