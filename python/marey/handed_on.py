"""What a session starts elsewhere belongs to it: threads, and tasks of thread pools.

Their contexts know nothing of the session, so ``Thread.start`` and ``ThreadPoolExecutor.submit`` hand it on. What no
session starts is started as ever.
"""

from __future__ import annotations

import functools
import os
import sys
import threading

from marey import _core
from marey.replacements import put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_POOLS = ("concurrent.futures.thread", "multiprocessing.pool")


_taken: dict[str, Callable[[], bool]] = {}


def _take(owner: Any, name: str, make: Callable[[Any], Any]) -> None:  # noqa: ANN401
    """Put ours in the place of a method, once: what somebody else puts there later calls ours, or is meant to stay."""
    if name not in _taken:
        theirs = getattr(owner, name)
        _taken[name] = put(owner, name, functools.wraps(theirs)(make(theirs)))


def _is_worker(thread: threading.Thread) -> bool:
    """Of a pool: it works for whoever gives it a task."""
    try:
        return getattr(getattr(thread, "_target", None), "__module__", None) in _POOLS
    except Exception:
        # A program's own.
        return False


def _starting(theirs: Callable[[threading.Thread], None]) -> Any:  # noqa: ANN401
    def start(self: threading.Thread) -> None:
        sessions = _core.sessions()
        if sessions is not None and not _is_worker(self):
            self.__dict__["_marey_sessions"] = sessions
        try:
            theirs(self)
        except BaseException:
            self.__dict__.pop("_marey_sessions", None)
            raise

    return start


def _bootstrapping(theirs: Callable[[threading.Thread], None]) -> Any:  # noqa: ANN401
    def _bootstrap(self: threading.Thread) -> None:
        sessions = self.__dict__.pop("_marey_sessions", None)
        if sessions is not None:
            _core.work_for_sessions(sessions)
        return theirs(self)

    return _bootstrap


def _submitting(theirs: Callable[..., Any]) -> Any:  # noqa: ANN401
    def submit(self: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        return theirs(self, _in_sessions(fn), *args, **kwargs)

    return submit


def _in_sessions(fn: Any) -> Any:  # noqa: ANN401
    """A function as it is, or one that runs in the sessions of the running context, if it has any.

    It calls the task from Python: a daemon thread that the end of the interpreter ends in it must unwind through no
    other code.
    """
    sessions = _core.sessions()
    if sessions is None:
        return fn

    def task(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        work = _core.begin_task(sessions)
        try:
            return fn(*args, **kwargs)
        finally:
            work.end()

    return task


_lock = threading.Lock()


def _unlock() -> None:
    """In a child that was forked while another thread held it."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_unlock)


def watch() -> bool:
    """Hand sessions on, as they begin; True once there is nothing left to do for it."""
    with _lock:
        thread_pool: Any = sys.modules.get("concurrent.futures.thread")
        if thread_pool is None and threading.active_count() == 1:
            # Not beside other threads: a child that one of them forks meanwhile would wait for the import for ever.
            from concurrent.futures import thread as thread_pool
        _take(threading.Thread, "start", _starting)
        _take(threading.Thread, "_bootstrap", _bootstrapping)  # The first that runs in the new thread.
        executor = getattr(thread_pool, "ThreadPoolExecutor", None)
        if executor is not None:
            _take(executor, "submit", _submitting)
        return "submit" in _taken


def forget() -> None:
    """The recording has ended."""
    with _lock:
        for name, take_back in list(_taken.items()):
            if take_back():
                del _taken[name]
