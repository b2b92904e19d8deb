"""Windows that are asked for while a program runs: from outside, by a thread of its own, or for its first steps.

torch's profiler belongs to the thread that starts it. So a window of steps waits for the end of one, and opens in the
thread that took it. One of seconds opens in the main thread, between two of its instructions, unless a step is sooner::

    marey window     writes what it wants, sets a word ························ reads: waiting · open · written PATH
    drain thread        sees the word ─► pending call
    main thread                               takes it, listens to steps
    thread of steps   step   |    step    |    step   ► opens | warm-up |  step  |  step  |  step  ► stops · export

Where the main thread is in a call that lasts, the beginning of a step takes the request. Nothing here waits for a lock:
a signal's handler and a pending call run in the midst of what the main thread does.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from contextlib import suppress

from marey import _core
from marey.signal_handlers import came_from_handler
from marey.windows import endings, surroundings
from marey.windows.options import WindowOptions, number
from marey.windows.window import ProfilerWindow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

# No program makes so many steps in the seconds that a window lasts.
_ANY_STEPS = 1_000_000


class RequestedWindow:
    """A window that was asked for; it opens by itself.

    Attributes:
        trace_path: The trace, once it is complete.
        why_not: Why there is none, in words, once that is known.

    Args:
        options: What to record, as of ``options_of``.
        asker: Who waits for it outside.
    """

    def __init__(self, options: WindowOptions, asker: Asker | None = None) -> None:
        """Ask for nothing yet."""
        self.trace_path: Path | None = None
        self.why_not: str | None = None
        self._asker = asker
        self._once = threading.Lock()
        self._done = threading.Event()
        self._leave_steps = lambda: None
        self._window = ProfilerWindow(options, "window", None, ".trace.json.gz")
        self._window.on_end = self._ended
        self.is_of_seconds = options.active == _ANY_STEPS

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the trace is complete. False when that takes longer, and where there will be none."""
        self._done.wait(seconds)
        return self.trace_path is not None

    def cancel(self, why_not: str = "it was cancelled before it opened") -> None:
        """Ask for it no longer, which the report says. A window that is open ends by itself."""
        if self._withdraw():
            self._window.give_up(why_not)

    def ask(self, *, is_early: bool = False) -> None:
        """Have it opened; ``is_early`` where torch may be imported later."""
        global _waiting
        other, is_open = _waiting, endings.open_window()
        if not is_early and "torch" not in sys.modules:
            self._ended("torch is not imported")
        elif is_open is not None:
            self._ended(f"the window {is_open.name!r} is open")
        elif other is not None and other.is_wanted():
            self._ended("another window was asked for, and waits for a step")
        else:
            if other is not None:
                other._withdraw()
            _waiting = self
            self._tell("waiting")
            self._leave_steps = surroundings.listen_to_steps(lambda _is_beside: self.open())
            if self._once.locked():  # Another thread has opened it meanwhile.
                self._leave_steps()
            if self.is_of_seconds:
                _core.wake_main_thread()

    def is_wanted(self) -> bool:
        """Whoever asked for it still waits."""
        return self._asker is None or self._asker.is_there()

    def open(self) -> None:
        """Open it in this thread, unless another one has."""
        if self._withdraw() and self.is_wanted():
            self._tell("starting")
            self._window.open()
            if self._window.is_open:
                self._tell("open")

    def _withdraw(self) -> bool:
        """It waits for nothing any more; false where that was so before."""
        global _waiting
        if not self._once.acquire(blocking=False):
            return False
        _waiting = None
        self._leave_steps()
        return True

    def _ended(self, why_not: str | None) -> None:
        self.why_not = why_not
        if why_not is None:
            self.trace_path = self._window.trace_path
        self._tell(*(("failed", why_not) if why_not is not None else ("written", str(self.trace_path))))
        self._done.set()

    def _tell(self, what: str, about: str = "") -> None:
        if self._asker is not None:
            self._asker.tell(what, about)


_waiting: RequestedWindow | None = None


class Asker:
    """A ``marey window`` that waits: it holds the file ``window`` beside the rings locked, whose first line is its own.

    Args:
        folder: That of the rings.

    Raises:
        OSError: There is no such file any more.
    """

    def __init__(self, folder: str) -> None:
        """Read what it wants."""
        self._path = os.path.join(folder, "window")
        with open(self._path, encoding="utf-8") as file:
            self._line = file.readline()

    def options(self) -> WindowOptions:
        """What it wants."""
        what, amount = self._line.split()[:2]
        return options_of(seconds=float(amount)) if what == "seconds" else options_of(int(amount))

    def is_there(self) -> bool:
        """It still waits, for this very window."""
        import fcntl

        try:
            with open(self._path, encoding="utf-8") as file:
                if file.readline() == self._line:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def tell(self, what: str, about: str) -> None:
        """Tell it how far its window is: ``waiting``, ``starting``, ``open``, ``written PATH`` or ``failed WHY``."""
        with suppress(OSError), open(self._path, "r+", encoding="utf-8", errors="surrogateescape") as file:
            if file.readline() == self._line:
                file.seek(0, os.SEEK_END)
                file.write(f"{what} {' '.join(about.splitlines())}\n")


def options_of(steps: int | None = None, seconds: float | None = None, **more: Any) -> WindowOptions:  # noqa: ANN401
    """So many steps, by default 3, after one for warm-up; or so many seconds, whatever steps come, of all threads."""
    if steps is not None and seconds is not None:
        raise _core.ConfigError("steps and seconds were both given: leave one of them out")
    for taken, by in (("active", "steps"), ("max_seconds", "seconds")):
        if taken in more:
            raise _core.ConfigError(f"{taken} is not taken here: give {by} instead")
    if seconds is None:
        return WindowOptions(active=_within("steps", 3 if steps is None else steps, 1, 10_000, 3), **more)
    longest = _within("seconds", seconds, 0.1, 3600, 5)
    settings: dict[str, Any] = {"warmup": 0, "all_threads": True, **more}
    return WindowOptions(active=_ANY_STEPS, max_seconds=longest, **settings)


def _within(name: str, value: Any, least: float, most: int, good: int) -> Any:  # noqa: ANN401
    is_whole = isinstance(least, int)
    given = number(value, is_whole=is_whole)
    if given is None or not least <= given <= most:
        what = "a whole number" if is_whole else "a number"
        raise _core.ConfigError(f"{name} must be {what} from {least} to {most}, not {value!r}: {good} is a good start")
    return given


def hear() -> None:
    """Take what is asked for outside, open what waits for the main thread, and stop a window of it that was asked to.

    Called between two instructions of that, and at the beginning of a step; raises what handlers of signals raise.
    """
    try:
        if surroundings.is_capturing():
            return  # Whoever called calls again.
        folder = _core.take_window_request()
        if folder is not None:
            asker = Asker(folder)
            RequestedWindow(asker.options(), asker).ask()
        waiting = _waiting
        if waiting is not None and waiting.is_of_seconds and threading.current_thread() is threading.main_thread():
            waiting.open()
        window = endings.open_window()
        if window is not None:
            window.heed()
    except Exception as error:
        if came_from_handler(error):
            raise


def of_first_steps(steps: str) -> None:
    """Ask for a window of so many steps, the first of the program. Never raises."""
    try:
        RequestedWindow(options_of(int(steps))).ask(is_early=True)
    except ValueError as error:
        import logging

        logging.getLogger("marey").warning("MAREY_TORCH_PROFILE=%r changes nothing: %s", steps, error)


@atexit.register
def _at_exit() -> None:
    if _waiting is not None:
        _waiting.cancel("no denoising step was seen before the program ended")


def _in_child() -> None:
    """What was asked for was asked of the parent."""
    if _waiting is not None:
        _waiting._withdraw()  # pyright: ignore[reportPrivateUsage]


os.register_at_fork(after_in_child=_in_child)
