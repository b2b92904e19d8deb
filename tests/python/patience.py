"""How tests and the programs they run wait: for what is to come, never for a time."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from subprocess import Popen
from typing import Any, TypeVar

PATIENCE_S = 120.0
"""What may take so long, however busy the machine is, and never does; less than `Interpreter.run` waits."""

_Value = TypeVar("_Value")


def eventually(read: Callable[[], _Value], is_expected: Callable[[_Value], Any] = bool) -> _Value:
    """What ``read`` gives, once it is as expected; fails with what it gave last where that never comes."""
    until = time.monotonic() + PATIENCE_S
    while not is_expected(value := read()):
        if time.monotonic() > until:
            raise AssertionError(f"after {PATIENCE_S:.0f} s it is still {value!r}")
        time.sleep(0.001)
    return value


@contextmanager
def killed_if_it_hangs(leader: Popen[Any]) -> Iterator[None]:
    """Who waits within this block for what a process does meets its end and that of its group, if nothing comes."""

    def kill() -> None:
        with suppress(ProcessLookupError):
            os.killpg(leader.pid, signal.SIGKILL)

    killer = threading.Timer(PATIENCE_S, kill)
    killer.start()
    try:
        yield
    finally:
        killer.cancel()
