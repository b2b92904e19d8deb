"""Asks a window to stop when it has recorded for too long, or the process has grown too much.

torch's profiler can only be stopped by the thread that started it. So the watching thread asks, and the window stops at
its next step or at its end. Where the window is the main thread's, that thread stops it between two of its
instructions, by a signal handler that is called without a signal being sent.
"""

from __future__ import annotations

import signal
import threading
from contextlib import suppress

from marey import _core, threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_LOOK_SECONDS = 0.25
_DEFAULT_HOST_BYTES = 4 << 30


def host_bytes_allowed() -> int:
    """How much a process may grow by default: 4 GiB, or half of the memory that is free, if that is less."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            free = next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        return _DEFAULT_HOST_BYTES
    return min(_DEFAULT_HOST_BYTES, free // 2)


class Limits:
    """Watches from ``start`` to ``stop``; both are called by the window's thread.

    Args:
        ask: Called once with ``seconds`` or ``host memory``, by another thread.
        heed: Called by the main thread soon after, if that is the window's.
        max_seconds: How long may be recorded, from when ``count`` is first called.
        max_host_bytes: How much the process may grow.
    """

    def __init__(
        self, ask: Callable[[str], None], heed: Callable[[], None], max_seconds: float, max_host_bytes: int
    ) -> None:
        """Hold the limits."""
        self._ask = ask
        self._heed = heed
        self._max_seconds = max_seconds
        self._max_host_bytes = max_host_bytes
        self._over = threading.Event()
        self._counts = False
        self._signal: int | None = None

    def start(self) -> None:
        """Begin to watch."""
        with suppress(ValueError, OSError):  # not the main thread, or no such signal
            number = int(getattr(signal, "SIGRTMAX", 0)) - 5
            if number > 0 and signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, self._on_signal)
                self._signal = number
        threads.started(self._watch, "marey-limits")

    def count(self) -> None:
        """Recording begins: from now on seconds count, and torch's first start, which takes some, does not."""
        self._counts = True

    def stop(self) -> None:
        """Watch no longer; signal handlers are as before."""
        self._over.set()
        if self._signal is not None:
            with suppress(ValueError, OSError):
                signal.signal(self._signal, signal.SIG_DFL)
            self._signal = None

    def wake(self) -> None:
        """Have the main thread call ``heed`` soon, if the window is that thread's."""
        if self._signal is not None:
            import _thread

            with suppress(ValueError):
                _thread.interrupt_main(self._signal)  # type: ignore[arg-type]  # any number will do

    def _on_signal(self, _number: int, _frame: Any) -> None:  # noqa: ANN401
        self._heed()

    def _watch(self) -> None:
        before = _core.resident_bytes()
        left = max(1, round(self._max_seconds / _LOOK_SECONDS))
        while left > 0:
            counted = self._counts
            if self._over.wait(min(_LOOK_SECONDS, self._max_seconds)):
                return
            now = _core.resident_bytes()
            if before is not None and now is not None and now - before > self._max_host_bytes:
                self._tell("host memory")
                return
            left -= counted
        self._tell("seconds")

    def _tell(self, reason: str) -> None:
        if not self._over.is_set():
            self._ask(reason)
            self.wake()
