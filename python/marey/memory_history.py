"""Memory history: what torch's CUDA allocator did, written to a file on request and when memory runs out.

The file is what ``torch.cuda.memory._dump_snapshot`` writes; ``marey analyze`` and torch's own viewer read it.

One history is on at a time in a process, because torch has one::

    history        |---- ours ----|           switched on, and off again at the end
    user's    |------------------------|      was on before: left as it is, and read at a dump
    user's            |----------------|      begun meanwhile: theirs from then on
    two of ours    |------|
                      |-------|               on from the first start to the last stop
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import sys
import threading
import time
from pathlib import Path

from marey.replacements import put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal

MIN_FREE_BYTES = 1 << 30
"""A file is written only where the disk has more than this left."""

MAX_DUMPS_OUT_OF_MEMORY = 3
"""Files that one history writes because memory ran out."""

SECONDS_BETWEEN_DUMPS = 60.0
"""Memory that runs out again sooner after such a file writes none: programs that catch the error try again."""


class MemoryHistory:
    """Records what torch's CUDA allocator does.

    Nothing here raises: what could not be done is in ``why_not``. While it is on, an allocation costs some 2 us and
    an entry some hundred bytes of host memory, more with deep stacks; the oldest entries are overwritten.

    Args:
        max_entries: Events that are kept.
        stacks: "python", or "all" with those of C++, which cost much more.
        out_of_memory_path: Names the file that is written when memory runs out; it is called at that moment. At most 3
            files, at least a minute apart. None writes none.
    """

    def __init__(
        self,
        max_entries: int = 100_000,
        stacks: Literal["python", "all"] = "python",
        out_of_memory_path: Callable[[], str | os.PathLike[str]] | None = None,
    ) -> None:
        """Make a history that is off."""
        self.max_entries = max_entries
        self.stacks = stacks
        self.why_not: str | None = None
        """Why the last call did not do what it is for, and None when it did."""
        self.is_of_user = False
        """The history had been switched on by somebody else, with limits of their own."""
        self.out_of_memory_files: list[Path] = []
        """What was written because memory ran out."""
        self._out_of_memory_path = out_of_memory_path
        self._last_dump: float | None = None

    def start(self) -> bool:
        """Switch it on; False when there is nothing to record, and ``why_not`` says why."""
        torch: Any = sys.modules.get("torch")
        try:
            if torch is None:
                self.why_not = "torch is not imported"
            elif not torch.cuda.is_available():
                self.why_not = "torch sees no CUDA device"
            else:
                self.why_not = None
                _join(self, torch)
                if self._out_of_memory_path is not None:
                    _observe(torch)
        except Exception as error:
            self.why_not = _said(error)
        return self.why_not is None

    def dump(self, path: str | os.PathLike[str]) -> Path | None:
        """Write what there is now; the file appears when it is complete. None when that failed."""
        written, self.why_not = _dump(path)
        return written

    def stop(self) -> None:
        """Switch it off, unless somebody else switched it on. What was not written by then is gone."""
        try:
            _leave(self)
        except Exception as error:
            self.why_not = _said(error)

    def _ran_out(self) -> None:
        """Memory ran out: write a file, if it is time for one."""
        now = time.monotonic()
        if self._out_of_memory_path is None or len(self.out_of_memory_files) >= MAX_DUMPS_OUT_OF_MEMORY:
            return
        if self._last_dump is not None and now - self._last_dump < SECONDS_BETWEEN_DUMPS:
            return
        self._last_dump = now
        written = self.dump(self._out_of_memory_path())
        if written is not None:
            self.out_of_memory_files.append(written)


def dump_now(path: str | os.PathLike[str]) -> Path | None:
    """Write what torch's CUDA allocators hold now, with their history if one is on; None when that failed.

    Without a history the file has the state of this moment, and stacks of none of it.
    """
    return _dump(path)[0]


class _State:
    """What this process has switched on."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.active: list[MemoryHistory] = []
        self.pid = os.getpid()
        self.is_of_user = False
        self.undo: Callable[[], object] | None = None
        """Puts torch's own function back, while a wrapper stands in its place."""
        self.is_observing = False


_state = _State()


def _join(history: MemoryHistory, torch: Any) -> None:  # noqa: ANN401
    with _state.lock:
        if _state.pid != os.getpid():
            # A forked child has none of what its parent switched on.
            _state.active.clear()
            _state.pid = os.getpid()
        if history in _state.active:
            return
        if not _state.active:
            # Asked before CUDA is initialised torch's function ends the process; there is no history then.
            is_on = getattr(torch._C, "_cuda_isHistoryEnabled", None) if torch.cuda.is_initialized() else None
            _state.is_of_user = bool(is_on and is_on())
            if not _state.is_of_user:
                torch.cuda.memory._record_memory_history(
                    enabled="all",
                    context="all",
                    stacks=history.stacks,
                    max_entries=history.max_entries,
                )
                _watch_user(torch.cuda.memory)
        history.is_of_user = _state.is_of_user
        _state.active.append(history)


def _leave(history: MemoryHistory) -> None:
    with _state.lock:
        if history not in _state.active:
            return
        _state.active.remove(history)
        if _state.active or _state.pid != os.getpid():
            return
        torch: Any = sys.modules.get("torch")
        undo, _state.undo = _state.undo, None
        if undo is not None:
            undo()
        if not _state.is_of_user:
            torch.cuda.memory._record_memory_history(enabled=None)


def _watch_user(memory: Any) -> None:  # noqa: ANN401
    """Notice when the program begins a history of its own while ours is on."""
    if _state.undo is not None:
        return
    record = memory._record_memory_history

    @functools.wraps(record)
    def record_of_user(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        _state.is_of_user = True
        for history in _state.active:
            history.is_of_user = True
        return record(*args, **kwargs)

    _state.undo = put(memory, "_record_memory_history", record_of_user)


@atexit.register
def _end() -> None:
    """The interpreter ends: nothing stays switched on."""
    for history in list(_state.active):
        history.stop()


def _observe(torch: Any) -> None:  # noqa: ANN401
    """Ask torch to tell when memory runs out; once, because it cannot be taken back."""
    with _state.lock:
        if not _state.is_observing:
            torch._C._cuda_attach_out_of_memory_observer(_ran_out)
            _state.is_observing = True


def _ran_out(*_sizes: object) -> None:
    """Torch calls this in the thread whose request failed; what it raised would replace torch's own error."""
    for history in list(_state.active):
        with contextlib.suppress(Exception):
            history._ran_out()  # pyright: ignore[reportPrivateUsage]


def _dump(path: str | os.PathLike[str]) -> tuple[Path | None, str | None]:
    """The file that was written, or why none was."""
    try:
        target = Path(path)
        torch: Any = sys.modules.get("torch")
        if torch is None:
            return None, "torch is not imported"
        target.parent.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(target.parent).free
        if free < MIN_FREE_BYTES:
            return None, f"the disk has only {free >> 20} MiB left"
        half = target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}")
        try:
            torch.cuda.memory._dump_snapshot(str(half))
            half.replace(target)
        finally:
            half.unlink(missing_ok=True)
    except Exception as error:
        return None, _said(error)
    return target, None


def _said(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
