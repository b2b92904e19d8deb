"""Signals that come while torch's profiler is started, stepped or stopped.

An exception of a handler within torch's own code would leave the profiler half started for the rest of the process. So
handlers written in Python wait until torch is done::

    Ctrl-C              v
    torch      |-- stops, exported --|
    handler                           KeyboardInterrupt
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from types import FrameType


@contextmanager
def held() -> Generator[None]:
    """SIGINT and SIGTERM wait for the end of the block; what their handlers raise is raised there.

    Handlers are put back exactly, and called once however often the signal came. Those that are not written in Python
    stay, and in a thread other than the main one, which runs no handlers, nothing is done. Costs some microseconds.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with _held(signal.SIGINT), _held(signal.SIGTERM):
        yield


@contextmanager
def _held(number: signal.Signals) -> Generator[None]:
    before = signal.getsignal(number)
    if not callable(before) or getattr(before, "__module__", None) == __name__:
        yield
        return
    came: list[FrameType | None] = []

    def hold(_number: int, frame: FrameType | None) -> None:
        came[:] = [frame]

    try:
        signal.signal(number, hold)
    except ValueError:  # a main thread of an interpreter that is not the main one
        yield
        return
    try:
        yield
    finally:
        if signal.getsignal(number) is hold:
            signal.signal(number, before)
        if came:
            before(number, came.pop())
