"""Asking an event whether it is done, without a trace in what the program sees.

Torch's ``query`` takes the thread's last error away when an event is not done: CUDA's runtime notes that as an error,
too. A launch of the program that failed before, and was not looked at yet, would then seem to have worked. The driver's
own library has no last error, so it is asked where it is there; a broken context is an event that is never done. On
ROCm torch is asked, with that effect.
"""

from __future__ import annotations

import operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def event_and_query(base: type[Any]) -> tuple[type[Any], Callable[[Any], bool]]:
    """The kind of events to record, and what tells whether one is done; written in C both.

    Args:
        base: Torch's events.
    """
    try:
        import ctypes

        # With the GIL, as torch asks: no other thread begins a capture meanwhile.
        query = ctypes.PyDLL("libcuda.so.1").cuEventQuery
    except (OSError, AttributeError):
        return base, base.query
    query.argtypes = (ctypes.c_void_p,)
    # 0 is done; 600 is not, and everything else is no answer.
    query.restype = operator.not_

    class Event(base):
        __slots__ = ()
        _as_parameter_ = base.cuda_event

    return Event, query
