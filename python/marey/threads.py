"""Threads of Marey's own."""

from __future__ import annotations

import signal
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGSYS, signal.SIGABRT}


def started(work: Callable[[], object], name: str) -> threading.Thread | None:
    """A daemon thread that works, which no signal of the program's is delivered to; None where no more are to be had.

    Where all threads of the program hold a signal back it has to wait, and must not end the process from here.
    """
    thread = threading.Thread(target=work, name=name, daemon=True)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - _FAULTS)
    try:
        thread.start()
    except RuntimeError:  # Also when the interpreter ends.
        return None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return thread
