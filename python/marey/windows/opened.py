"""The window that is open in this process, and what becomes of it at a fork, at the end of its thread and at exit.

torch's profiler belongs to the thread that started it, and a thread that ends without stopping it makes the process
crash. So whatever ends a thread closes its window first.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from marey.windows.cycle import Cycle
    from marey.windows.export import TraceExport
    from marey.windows.window import ProfilerWindow


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


_lock = threading.Lock()
_open: ProfilerWindow | None = None
_of_thread = _OfThread()
_exports: list[TraceExport] = []
_given_up: list[tuple[int, Cycle]] = []


def take(window: ProfilerWindow) -> ProfilerWindow | None:
    """Make it the open window; what comes back is the one that is open already."""
    global _open
    with _lock:
        if _open is not None:
            return _open
        _open = window
    _of_thread.end = _ThreadEnd(window)
    return None


def leave(window: ProfilerWindow) -> None:
    """It is open no longer; called by its thread."""
    global _open
    with _lock:
        if _open is window:
            _open = None
    end, _of_thread.end = _of_thread.end, None
    del end  # its window is closed by now


def waits_for(export: TraceExport) -> None:
    """The interpreter does not end before this export has."""
    _exports[:] = [other for other in _exports if not other.wait(0)]
    _exports.append(export)


def give_up(cycle: Cycle) -> None:
    """A recording of this thread that another thread's profiler took away: stopping it now would crash that one."""
    _given_up.append((threading.get_ident(), cycle))


def stop_given_up(torch: Any) -> None:  # noqa: ANN401
    """Stop what this thread gave up, if nobody else records any more."""
    if torch.autograd.profiler._is_profiler_enabled:
        return
    for thread, cycle in list(_given_up):
        if thread == threading.get_ident():
            _given_up.remove((thread, cycle))
            with suppress(Exception):
                cycle.stop()


@atexit.register
def _at_exit() -> None:
    torch: Any = sys.modules.get("torch")
    if _open is not None:
        _open.close_at_exit()
    if _given_up:
        with suppress(Exception):
            stop_given_up(torch)
    for export in list(_exports):
        export.wait()


def _in_child() -> None:
    global _open, _lock
    _lock = threading.Lock()
    window, _open = _open, None
    _exports.clear()
    _given_up.clear()
    if window is not None:
        window.forget()
        torch: Any = sys.modules.get("torch")
        with suppress(Exception):
            torch.autograd._enable_record_function(False)


os.register_at_fork(after_in_child=_in_child)
