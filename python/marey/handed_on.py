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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


_POOLS = ("concurrent.futures.thread", "multiprocessing.pool")


class _Place:
    """A method of a class, and one of ours in its place."""

    def __init__(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:  # noqa: ANN401
        self._owner, self._name, self._make = owner, name, make
        self._ours: Any = None
        self._theirs: Any = None

    def take(self) -> None:
        """Once: what somebody else puts there later calls ours, or is meant to stay."""
        if self._ours is None:
            self._theirs = getattr(self._owner, self._name)
            self._ours = functools.wraps(self._theirs)(self._make(self._theirs))
            setattr(self._owner, self._name, self._ours)

    def give_back(self) -> None:
        """As far as ours is still there."""
        if self._ours is not None and getattr(self._owner, self._name) is self._ours:
            setattr(self._owner, self._name, self._theirs)
            self._ours = None


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


_THREADS = (
    _Place(threading.Thread, "start", _starting),
    _Place(threading.Thread, "_bootstrap", _bootstrapping),  # The first that runs in the new thread.
)
_pools: tuple[_Place, ...] = ()
_lock = threading.Lock()


def _unlock() -> None:
    """In a child that was forked while another thread held it."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_unlock)


def watch() -> bool:
    """Hand sessions on, as they begin; True once there is nothing left to do for it."""
    global _pools
    with _lock:
        thread_pool: Any = sys.modules.get("concurrent.futures.thread")
        if thread_pool is None and threading.active_count() == 1:
            # Not beside other threads: a child that one of them forks meanwhile would wait for the import for ever.
            from concurrent.futures import thread as thread_pool
        executor = getattr(thread_pool, "ThreadPoolExecutor", None)
        if not _pools and executor is not None:
            _pools = (_Place(executor, "submit", _submitting),)
        for place in _THREADS + _pools:
            place.take()
        return bool(_pools)


def forget() -> None:
    """The recording has ended."""
    with _lock:
        for place in _THREADS + _pools:
            place.give_back()
