"""What ends a window before its steps do: limits, signals, the end of its thread, of the process, and a fork.

torch's profiler belongs to the thread that started it: only that can stop it, and if it ends without, the process
crashes. So whatever ends a thread closes its window first, and others ask: the window stops at its next step or at its
end. Where it is the main thread's, that stops it between two of its instructions, without a signal.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from contextlib import contextmanager, suppress

from marey import _core, threads
from marey.windows.export import THREAD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import FrameType
    from typing import Any

    from marey.windows.window import ProfilerWindow

_LOOK_SECONDS = 0.25
_DEFAULT_HOST_BYTES = 4 << 30


# The window that is open in this process


class _ThreadEnd:
    """Lives as long as its thread holds it.

    A forked child has no other threads: Python drops there what those held, before it tells anybody of the fork.
    """

    def __init__(self, window: ProfilerWindow) -> None:
        self._window = window
        self._pid = os.getpid()

    def __del__(self) -> None:
        with suppress(Exception):
            if os.getpid() == self._pid:
                self._window.close("thread ended")


class _OfThread(threading.local):
    """What is dropped when the thread ends."""

    end: _ThreadEnd | None = None
    given_up: Any = None


# At most one, at 0. No lock: a signal's handler may come in between.
_open: dict[int, ProfilerWindow] = {}
_of_thread = _OfThread()


def open_window() -> ProfilerWindow | None:
    """The window that is open in this process."""
    return _open.get(0)


def take(window: ProfilerWindow) -> ProfilerWindow | None:
    """Make it the open window; what comes back is the one that is open already."""
    before = _open.setdefault(0, window)
    if before is not window:
        return before
    _of_thread.end = _ThreadEnd(window)
    return None


def leave(window: ProfilerWindow) -> None:
    """It is open no longer; called by its thread."""
    if _open.get(0) is window:
        del _open[0]
    end, _of_thread.end = _of_thread.end, None
    del end  # its window is closed by now


def give_up(profiler: Any) -> None:  # noqa: ANN401
    """Another thread's profiler took over from this one: stopping it now would crash that one."""
    _of_thread.given_up = profiler


def stop_given_up(torch: Any) -> None:  # noqa: ANN401
    """Stop what this thread gave up, if nobody else records any more."""
    profiler = _of_thread.given_up
    if profiler is not None and not torch.autograd.profiler._is_profiler_enabled:
        _of_thread.given_up = None
        with suppress(Exception):
            profiler.stop()


@atexit.register
def _at_exit() -> None:
    window = open_window()
    if window is not None:
        window.close_at_exit()
    with suppress(Exception):
        stop_given_up(sys.modules.get("torch"))
    for thread in threading.enumerate():
        if thread.name == THREAD:
            thread.join()


def _in_child() -> None:
    window = _open.pop(0, None)
    _of_thread.given_up = None
    if window is not None:
        window.forget()
        with suppress(Exception):
            sys.modules["torch"].autograd._enable_record_function(False)


os.register_at_fork(after_in_child=_in_child)


# Limits


class Limits:
    """Asks a window to stop when it has recorded for too long, or the process has grown too much.

    Args:
        ask: Called with ``seconds`` or ``host memory`` until the end, by another thread.
        max_seconds: How long may be recorded, from when ``is_recording`` is first set: torch's first start takes some.
        max_host_bytes: How much the process may grow; default 4 GiB, or half of the memory that is free.
    """

    def __init__(self, ask: Callable[[str], None], max_seconds: float, max_host_bytes: int | None) -> None:
        """Hold the limits."""
        self._ask = ask
        self._max_seconds = max_seconds
        self._max_host_bytes = max_host_bytes or _host_bytes_allowed()
        self._over = threading.Event()
        self.is_recording = False
        self.stop = self._over.set
        """Watch no longer."""

    def start(self) -> None:
        """Begin to watch."""
        threads.started(self._watch, "marey-limits")

    def _watch(self) -> None:
        before = _core.resident_bytes()
        left = max(1, round(self._max_seconds / _LOOK_SECONDS))
        reason = "seconds"
        while left > 0:
            counted = self.is_recording
            if self._over.wait(min(_LOOK_SECONDS, self._max_seconds)):
                return
            now = _core.resident_bytes()
            if before is not None and now is not None and now - before > self._max_host_bytes:
                reason = "host memory"
                break
            left -= counted
        while not self._over.is_set():
            self._ask(reason)
            self._over.wait(_LOOK_SECONDS)


def _host_bytes_allowed() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            free = next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        return _DEFAULT_HOST_BYTES
    return min(_DEFAULT_HOST_BYTES, free // 2)


# Signals


@contextmanager
def held(number: signal.Signals) -> Generator[None]:
    """A signal waits for the end of the block; what its handler raises is raised there.

    An exception of a handler within torch's own code would leave the profiler half started for the rest of the
    process. The handler is put back exactly, and called once however often the signal came. One that is not written in
    Python stays, and in a thread other than the main one, which runs no handlers, nothing is done::

        Ctrl-C              v
        torch      |-- stops, exported --|
        handler                           KeyboardInterrupt
    """
    before = signal.getsignal(number)
    if not callable(before) or getattr(before, "__module__", None) == __name__:
        yield
        return
    came: list[FrameType | None] = []

    def hold(_number: int, frame: FrameType | None) -> None:
        came[:] = [frame]

    try:
        signal.signal(number, hold)
    except ValueError:  # another thread, or interpreter, than the main one
        yield
        return
    try:
        yield
    finally:
        if signal.getsignal(number) is hold:
            signal.signal(number, before)
        if came:
            before(number, came.pop())
