"""The memory history of torch's allocator while a window is open, and its snapshots."""

from __future__ import annotations

import time
from pathlib import Path

from marey import _core
from marey.memory_history import MemoryHistory

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from contextlib import AbstractContextManager


class MemoryWindow:
    """What MEM asks for: a snapshot at the end, and one when memory runs out.

    Args:
        folder: Where the snapshots go.
        stem: Beginning of their names.
        rank: In their names, also where there is only one.
    """

    def __init__(self, folder: Path, stem: str, rank: int) -> None:
        """Choose a name that no file has."""
        self._beginning = folder / f"{stem}-rank{rank}-memory-"
        self.path = self._free("")
        self._history: _NotedHistory | None = None

    def start(self, log: _core.WindowLog) -> str | None:
        """Begin to record; why not, if not."""
        history = _NotedHistory(log, lambda: self._free("-oom"))
        if not history.start():
            return history.why_not or "unknown"
        self._history = history
        return None

    def finish(self, log: _core.WindowLog, during: Callable[[str], AbstractContextManager[None]]) -> None:
        """Write the snapshot and record no longer."""
        history, self._history = self._history, None
        if history is None:
            return
        with during("export"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if history.dump(self.path) is None:
                log.failed("export", history.why_not or "no memory snapshot was written")
        with during("stop"):
            history.stop()

    def _free(self, ending: str) -> Path:
        second = int(time.time())
        while (path := Path(f"{self._beginning}{second}{ending}.pickle")).exists():
            second += 1
        return path


class _NotedHistory(MemoryHistory):
    """A history whose files are noted in a window as soon as they are written."""

    def __init__(self, log: _core.WindowLog, out_of_memory_path: Callable[[], Path]) -> None:
        super().__init__(out_of_memory_path=out_of_memory_path)
        self._log = log

    def dump(self, path: str | os.PathLike[str]) -> Path | None:
        watch = _core.Stopwatch()
        with watch, _core.profile_section("marey memory snapshot"):
            written = super().dump(path)
        if written is not None:
            self._log.exported(str(written), written.stat().st_size, watch)
        return written
