"""The memory history of torch's allocator while a window is open, and its snapshots."""

from __future__ import annotations

import os
import time
from pathlib import Path

from marey import _core
from marey.memory_history import MemoryHistory
from marey.windows.files import ClaimedFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager


class MemoryWindow:
    """What MEM asks for: a snapshot at the end, and one when memory runs out.

    Args:
        folder: Where the snapshots go.
        stem: Beginning of their names.
        rank: In their names, also where there is only one.

    Attributes:
        path: Where the snapshot at the end will be; from the start on nobody else has that name.
    """

    def __init__(self, folder: Path, stem: str, rank: int) -> None:
        """Choose a name."""
        self._folder = folder
        self._beginning = f"{stem}-rank{rank}-memory-"
        self._claims: list[ClaimedFile] = []
        self._history: _NotedHistory | None = None
        self.path = folder / f"{self._beginning}{int(time.time())}.pickle"

    def start(self, log: _core.WindowLog) -> str | None:
        """Begin to record; why not, if not."""
        history = _NotedHistory(log, lambda: self._claim("-oom"))
        if not history.start():
            return history.why_not or "unknown"
        self._history = history
        if history.is_of_user:
            log.remark("the memory history was on already, with limits of its own")
        self.path = self._claim("")
        return None

    def finish(self, log: _core.WindowLog, during: Callable[[str], AbstractContextManager[None]]) -> None:
        """Write the snapshot and record no longer."""
        history, self._history = self._history, None
        if history is None:
            return
        with during("export"):
            if history.dump(self.path) is None:
                log.failed("export", history.why_not or "no memory snapshot was written")
        with during("stop"):
            history.stop()
        with during("stop"):
            for claim in self._claims:
                claim.drop()

    def _claim(self, ending: str) -> Path:
        stem = f"{self._beginning}{int(time.time())}{ending}"
        try:
            claim = ClaimedFile.claim(self._folder, stem, ".pickle")
        except OSError:  # Writing it will say why.
            return self._folder / f"{stem}.pickle"
        self._claims.append(claim)
        return claim.path


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
            self._log.exported(os.path.abspath(written), written.stat().st_size, watch)
        return written
