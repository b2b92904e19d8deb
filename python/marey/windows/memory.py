"""The memory history of torch's allocator while a window is open, and its snapshot at the end."""

from __future__ import annotations

import importlib
import time
from pathlib import Path

from marey import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Any


class MemoryWindow:
    """What MEM asks for.

    Args:
        folder: Where the snapshot goes.
        stem: Beginning of its name.
        rank: In its name, also where there is only one.
    """

    def __init__(self, folder: Path, stem: str, rank: int) -> None:
        """Choose a name that no file has."""
        second = int(time.time())
        self.path = folder / f"{stem}-rank{rank}-memory-{second}.pickle"
        while self.path.exists():
            second += 1
            self.path = folder / f"{stem}-rank{rank}-memory-{second}.pickle"
        self._history: Any = None

    def start(self) -> str | None:
        """Begin to record; why not, if not."""
        try:
            module: Any = importlib.import_module("marey.memory_history")
        except ImportError:
            return "this version of Marey keeps no memory history"
        history = module.MemoryHistory()
        if not history.start():
            return history.why_not or "unknown"
        self._history = history
        return None

    def finish(self, log: _core.WindowLog, during: Callable[[str], AbstractContextManager[None]]) -> None:
        """Write the snapshot and record no longer."""
        if self._history is None:
            return
        watch = _core.Stopwatch()
        with during("export"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with watch, _core.profile_section("marey memory snapshot"):
                written = self._history.dump(self.path)
            if written is None:
                log.failed("export", self._history.why_not or "no memory snapshot was written")
            else:
                log.exported(str(written), Path(written).stat().st_size, watch)
        with during("stop"):
            self._history.stop()
