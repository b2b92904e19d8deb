"""Ends of denoising steps, for those who act at them: windows of a profiler count steps.

Whatever takes an iteration of a denoising loop says when it begins and ends: a scheduler's ``step``, an iteration of an
``IterationProfiler``, a decorated step. Where one of them runs inside another, the innermost is the step::

    IterationProfiler   |--------------------|--------------------|
    scheduler.step             |----|               |----|
    told                            ^                    ^
"""

from __future__ import annotations

import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class _Ended(threading.local):
    """Steps that have ended in this thread while somebody listened."""

    count = 0


_listeners: tuple[Callable[[], None], ...] = ()
_ended = _Ended()
_change = threading.Lock()


def listen(listener: Callable[[], None]) -> Callable[[], None]:
    """Call ``listener`` at the end of each step, in the thread that took it; it must not raise.

    Returns:
        A function that ends this. Calling it again changes nothing.
    """
    global _listeners
    with _change:
        _listeners = (*_listeners, listener)

    def leave() -> None:
        global _listeners
        with _change:
            _listeners = tuple(other for other in _listeners if other is not listener)

    return leave


def begin() -> int:
    """An iteration begins. What comes back goes to ``end``. Costs a look at a variable while nobody listens."""
    return _ended.count if _listeners else -1


def end(begun: int) -> None:
    """The iteration that ``begun`` stands for is over: a step, unless one has ended since in the same thread."""
    if not _listeners or begun < 0 or _ended.count != begun:
        return
    _ended.count += 1
    for listener in _listeners:
        listener()
