"""Ends of denoising steps, for those who act at them: windows of a profiler count steps.

Whatever takes an iteration of a denoising loop says when it begins and ends: a scheduler's ``step``, an iteration of an
``IterationProfiler``, a decorated step. Where one of them runs inside another, the innermost is the step::

    IterationProfiler   |--------------------|--------------------|
    scheduler.step             |----|               |----|
    told                            ^                    ^
"""

from __future__ import annotations

import threading

from marey import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class _Ended(threading.local):
    """Steps that have ended in this thread while somebody listened."""

    count = 0


# By a key of its own each. No lock: a signal's handler may come in between.
_listeners: dict[object, Callable[[], None]] = {}
_ended = _Ended()


def listen(listener: Callable[[], None]) -> Callable[[], object]:
    """Call ``listener`` at the end of each step, in the thread that took it; it must not raise.

    Returns:
        A function that ends this. Calling it again changes nothing.
    """
    key = object()
    _listeners[key] = listener
    return lambda: _listeners.pop(key, None)


def begin() -> int:
    """An iteration begins. What comes back goes to ``end``. Costs a look at two variables while nobody listens."""
    if _core.is_window_asked_for():
        from marey.windows.requests import hear

        hear()
    return _ended.count if _listeners else -1


def end(begun: int) -> None:
    """The iteration that ``begun`` stands for is over: a step, unless one has ended since in the same thread."""
    if not _listeners or begun < 0 or _ended.count != begun:
        return
    _ended.count += 1
    for listener in tuple(_listeners.values()):
        listener()
