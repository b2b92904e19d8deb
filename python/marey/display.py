"""Live metrics on the console while a program generates.

Where they go depends on what is there: into the postfix of a tqdm bar, so that the bar stays whole; as a block of lines
on a terminal without a bar; as one line with the time where there is no terminal. Only rank 0 of a job shows anything.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Protocol, cast

from marey import threads
from marey._core import LiveMetrics, rank

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

__all__ = ["Display"]


class _Tqdm(Protocol):
    """What is used of a tqdm bar."""

    pos: int
    marey_text: str

    def refresh(self) -> None: ...
    def get_lock(self) -> AbstractContextManager[object]: ...


_displays: set[Display] = set()


class Display:
    """Shows what is known every ``interval_s`` seconds, on a thread of its own, until it is stopped.

    ``name`` is asked for the name of the session each time; None while there is none. Nothing is shown then, nor on
    other ranks than 0, nor while nothing is known. A display that fails ends; it never raises.
    """

    def __init__(self, interval_s: float, name: Callable[[], str | None]) -> None:
        """Does not start yet."""
        self._interval_s = interval_s
        self._name = name
        self._metrics = LiveMetrics()
        self._bar = _Bar()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start showing; nothing on other ranks than 0, or when it is started already."""
        if (rank() or 0) != 0 or self._thread is not None:
            return
        _displays.add(self)
        self.resume()

    def stop(self) -> None:
        """Stop showing and take what was shown off the progress bar. Waits for what is being written, at most 0.2 s."""
        _displays.discard(self)
        self.pause()
        self._bar.clear()

    def resume(self) -> None:
        """Show again after ``pause``."""
        self._stop = stop = threading.Event()
        self._thread = threads.started(lambda: self._run(stop), "marey-display")

    def pause(self) -> None:
        """Show nothing until ``resume``. Waits for what is being written, at most 0.2 s."""
        self._stop.set()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join(0.2)

    def _run(self, stop: threading.Event) -> None:
        try:
            self._metrics.look()
            while not stop.wait(self._interval_s):
                name = self._name()
                if self._metrics.look() and name is not None:
                    self._show(name)
        except Exception:
            # A closed console, a bar of another kind: the program goes on without metrics.
            return

    def _show(self, name: str) -> None:
        if self._bar.show(self._metrics.postfix()):
            return
        if _is_terminal(sys.stdout):
            # On lines of its own, wherever the program has stopped in one.
            sys.stdout.write("\n" + self._metrics.block(name))
            sys.stdout.flush()
        else:
            _log(self._metrics.line())


class _Bar:
    """The end of the outermost tqdm bar, behind what the program itself puts there."""

    def __init__(self) -> None:
        self._bar: _Tqdm | None = None

    def show(self, text: str) -> bool:
        """Show a text; False when there is no bar. tqdm's own refresh draws the bar, so its line stays whole."""
        bar = _outermost_bar()
        if bar is None:
            return False
        if bar is not self._bar:
            self.clear()
            self._bar = bar
        self._put(bar, text)
        return True

    def clear(self) -> None:
        """Give the bar back."""
        bar, self._bar = self._bar, None
        try:
            if bar is not None:
                self._put(bar, "")
        except Exception:
            # A bar of another kind.
            return

    def _put(self, bar: _Tqdm, text: str) -> None:
        # tqdm's own lock: nothing else draws meanwhile.
        with bar.get_lock():
            kind = type(bar)
            if text and not hasattr(bar, "marey_text"):
                bar.__class__ = _with_text(kind)
            bar.marey_text = text
            if _is_drawn(bar):
                bar.refresh()
            if not text and hasattr(kind, "marey_text"):
                bar.__class__ = kind.__mro__[1]


def _with_text(kind: type) -> type:
    """A kind of bar that ends with ``marey_text``, whatever postfix the program sets; that stays its own."""

    def format_dict(bar: _Tqdm) -> dict[str, object]:
        shown = cast("dict[str, object]", super(made, bar).format_dict)  # pyright: ignore
        parts = (shown.get("postfix"), bar.marey_text)
        shown["postfix"] = ", ".join(str(part) for part in parts if part)
        return shown

    made = type(kind.__name__, (kind,), {"marey_text": "", "format_dict": property(format_dict)})
    return made


def _outermost_bar() -> _Tqdm | None:
    """The tqdm bar with the lowest position that is drawn on a terminal or in a notebook."""
    tqdm = getattr(sys.modules.get("tqdm.std"), "tqdm", None)
    instances = cast("list[object]", list(getattr(tqdm, "_instances", ())))
    bars = [cast("_Tqdm", bar) for bar in instances if _is_drawn(bar)]
    return min(bars, key=lambda bar: abs(bar.pos), default=None)


def _is_drawn(bar: object) -> bool:
    if getattr(bar, "disable", True) or not hasattr(bar, "pos"):
        return False
    return hasattr(bar, "container") or _is_terminal(getattr(bar, "fp", None))


def _is_terminal(stream: object) -> bool:
    try:
        return bool(getattr(stream, "isatty", bool)())
    except Exception:
        # Closed, or not a stream.
        return False


def _log(line: str) -> None:
    """One line with the time, through logging where that shows it, otherwise to stderr."""
    logging = sys.modules.get("logging")
    logger = logging.getLogger("marey") if logging else None
    if logger is not None and logger.hasHandlers() and logger.isEnabledFor(20):
        logger.info(line)
        return
    sys.stderr.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} marey: {line}\n")


def _pause_all() -> None:
    for display in list(_displays):
        display.pause()


def _resume_all() -> None:
    for display in list(_displays):
        display.resume()


def _stop_all() -> None:
    for display in list(_displays):
        display.stop()


# Python warns of a fork in a process with threads; a child shows nothing, its parent does.
os.register_at_fork(before=_pause_all, after_in_parent=_resume_all, after_in_child=_displays.clear)
atexit.register(_stop_all)
