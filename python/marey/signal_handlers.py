"""Exceptions of a program's own handlers of signals, which Python calls wherever the program happens to be."""

from __future__ import annotations

import signal


def came_from_handler(error: BaseException) -> bool:
    """Whether a handler of signals raised it: it is meant for the program, not for what was interrupted."""
    handlers = map(signal.getsignal, signal.valid_signals())
    codes = {code for code in map(_code, handlers) if code is not None}
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in codes:
            return True
        trace = trace.tb_next
    return False


def _code(handler: object) -> object:
    function = getattr(handler, "func", handler)  # of functools.partial
    return getattr(getattr(function, "__func__", function), "__code__", None)
