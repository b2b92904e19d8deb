"""What a window notes in the capture, and says in Python's log where no capture is written."""

from __future__ import annotations

import os
from contextlib import suppress

from marey import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST_SAID = 1_000
_said: set[tuple[str, str]] = set()


class WindowNotes:
    """The window's log; failures and remarks are warnings of the logger ``marey`` where no report will have them.

    Each text is said once for windows of one name.

    Args:
        name: Of the window.
        options: What it was asked for.

    Attributes:
        written: Absolute paths of the files that are complete.
    """

    def __init__(self, name: str, options: dict[str, Any]) -> None:
        """Note nothing yet."""
        self._name = name
        self._log = _core.WindowLog(name, "torch.profiler", options)
        self.written: set[str] = set()
        self.opened = self._log.opened
        self.recording = self._log.recording
        self.stopped = self._log.stopped

    def exported(self, path: str, size: int, watch: _core.Stopwatch) -> None:
        """A file is complete."""
        self.written.add(os.path.abspath(path))
        self._log.exported(path, size, watch)

    def failed(self, during: str, error: str) -> None:
        """Something went wrong."""
        self._log.failed(during, error)
        self._say(f"failed during {during}: {error}")

    def remark(self, text: str) -> None:
        """Something that was asked for is not done."""
        self._log.remark(text)
        self._say(text)

    def tell(self, text: str) -> None:
        """Something worth knowing, of which nobody is warned."""
        self._log.remark(text)

    def _say(self, text: str) -> None:
        said = (self._name, text)
        if _core.capture_path() is not None or said in _said or len(_said) >= _MOST_SAID:
            return
        _said.add(said)
        with suppress(Exception):  # of the program's own handlers
            import logging

            logging.getLogger("marey").warning("the window %r: %s", self._name, text)
