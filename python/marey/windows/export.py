"""What a window of torch's profiler writes: traces, memory snapshots, and notes of both in the capture.

torch writes a trace in one call that keeps the interpreter to itself, so a thread alone does not help: the program
stands still for as long. A forked child does it while the program goes on; what that costs the program is the fork,
which takes the longer the more memory the process has::

    thread    |== save, program stands still ==|-- compress --| rename
    child     |fork|  save, compress, rename in the child   |
    program        |------------------------------------------------------

The cheaper of both is taken. A child that fails, hangs or grows beyond the limits is ended, and leaves nothing behind.
"""

from __future__ import annotations

import gzip
import logging
import os
import shutil
import signal
import sys
import threading
import time
import warnings
from contextlib import suppress
from pathlib import Path

from marey import _core, threads
from marey.memory_history import MemoryHistory
from marey.windows.files import ClaimedFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Any

THREAD = "marey-export"
# Measured: a fork takes some 28 us for each MiB in RAM, torch's export a third of the time that its stop took.
_FORK_SECONDS_PER_BYTE = 28e-6 / (1 << 20)
_SAVE_PER_STOP = 1 / 3
# Left free on the disk.
_RESERVE_BYTES = 256 << 20
# A child is looked at so often, and ended after so many looks.
_LOOK_SECONDS = 0.1
_MOST_LOOKS = 6_000
_COMPRESSION = 4
_CHUNK_BYTES = 1 << 20
_MOST_SAID = 1_000

_said: set[tuple[str, str]] = set()


class WindowNotes:
    """What a window notes; failures and remarks are warnings of the logger ``marey`` where no report will have them.

    A remark is made once in a window, and each warning once for windows of one name.

    Args:
        name: Of the window.
        options: What it was asked for.

    Attributes:
        written: Absolute paths of the files that are complete.
        why_not: What failed or was remarked last.
    """

    def __init__(self, name: str, options: dict[str, Any]) -> None:
        """Note nothing yet."""
        self._name = name
        self._log = _core.WindowLog(name, "torch.profiler", options)
        self._remarks: set[str] = set()
        self.written: set[str] = set()
        self.why_not = "nothing was recorded"
        self.opened = self._log.opened
        self.recording = self._log.recording
        self.stopped = self._log.stopped
        self.told = self._log.remark  # Worth knowing; nobody is warned of it.

    def exported(self, path: str, size: int, watch: _core.Stopwatch) -> None:
        """A file is complete."""
        self.written.add(path)
        self._log.exported(path, size, watch)

    def failed(self, during: str, error: BaseException | str) -> None:
        """Something went wrong."""
        text = error if isinstance(error, str) else _in_words(error)
        self._log.failed(during, text)
        self._warn(f"failed during {during}: {text}")

    def remark(self, text: str) -> None:
        """Something that was asked for is not done."""
        if text not in self._remarks:
            self._remarks.add(text)
            self._log.remark(text)
            self._warn(text)

    def _warn(self, text: str) -> None:
        self.why_not = text
        said = (self._name, text)
        if _core.capture_path() is not None or said in _said or len(_said) >= _MOST_SAID:
            return
        _said.add(said)
        with suppress(Exception):  # of the program's own handlers
            logging.getLogger("marey").warning("the window %r: %s", self._name, text)


class TraceExport:
    """The export of one recording, in a thread that starts at once.

    Args:
        profiler: The ``torch.profiler.profile`` that has stopped.
        file: Where it goes; compressed if the name ends in ``.gz``.
        log: Of the window.
        stop_seconds: How long torch took to stop, which tells how much was recorded.
        max_bytes: Largest file before compression.
    """

    def __init__(self, profiler: Any, file: ClaimedFile, log: WindowNotes, stop_seconds: float, max_bytes: int) -> None:  # noqa: ANN401
        """Begin."""
        self.path = file.path
        self._profiler = profiler
        self._file = file
        self._log = log
        self._stop_seconds = stop_seconds
        self._max_bytes = max_bytes
        self._thread = threads.started(self._run, THREAD)
        if self._thread is None:
            file.drop()
            log.failed("export", "RuntimeError: no thread is to be had that writes the trace")

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end. False when it takes longer than that."""
        if self._thread is None:
            return True
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        watch = _core.Stopwatch()
        try:
            with watch:
                self._check()
                if self._is_fork_cheaper():
                    self._in_child()
                else:
                    _write(self._profiler, self._file, self._check)
            self._log.exported(os.path.abspath(self.path), self.path.stat().st_size, watch)
        except BaseException as error:  # whatever torch raises stays here
            self._log.failed("export", error)
        finally:
            self._profiler = None
            with suppress(Exception):
                self._file.drop()

    def _check(self) -> None:
        free = shutil.disk_usage(self.path.parent).free
        if free < _RESERVE_BYTES:
            raise OSError(f"{free} bytes are free on the disk; at least {_RESERVE_BYTES} are left free")
        size = _written_bytes(self._file)
        if size > self._max_bytes:
            raise OSError(f"the trace has {size} bytes; max_file_bytes is {self._max_bytes}")

    def _is_fork_cheaper(self) -> bool:
        resident = _core.resident_bytes()
        if not sys.platform.startswith("linux") or resident is None:
            return False
        return _FORK_SECONDS_PER_BYTE * resident < _SAVE_PER_STOP * self._stop_seconds

    def _in_child(self) -> None:
        reads, writes = os.pipe()
        with warnings.catch_warnings():
            # Python warns of forks in programs with threads; this child runs nothing of theirs.
            warnings.simplefilter("ignore")
            child = os.fork()
        if child == 0:
            _be_child(self._profiler, self._file, writes)
        os.close(writes)
        with os.fdopen(reads, "rb") as pipe:
            try:
                status = self._watch(child)
            except BaseException:
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
                with suppress(ChildProcessError):
                    os.waitpid(child, 0)
                raise
            said = pipe.read().decode(errors="replace")
        if not self.path.exists():
            raise RuntimeError(said or f"the child that wrote the trace ended with {status}")

    def _watch(self, child: int) -> int | None:
        """The child's exit status; None when somebody else took it."""
        for _ in range(_MOST_LOOKS):
            try:
                ended, status = os.waitpid(child, os.WNOHANG)
            except ChildProcessError:
                return None
            if ended:
                return status
            self._check()
            threading.Event().wait(_LOOK_SECONDS)
        raise TimeoutError("the child that writes the trace did not end")


def _be_child(profiler: Any, file: ClaimedFile, writes: int) -> None:  # noqa: ANN401
    """All that the child does; it never returns."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.nice(10)
        _write(profiler, file, lambda: None)
        os._exit(0)
    except BaseException as error:
        with suppress(OSError):
            os.write(writes, _in_words(error).encode()[:4000])
    finally:
        os._exit(1)


def _write(profiler: Any, file: ClaimedFile, check: Callable[[], None]) -> None:  # noqa: ANN401
    profiler.export_chrome_trace(str(file.raw))
    check()
    if not file.path.name.endswith(".gz"):
        shutil.copymode(file.part, file.raw)
        os.replace(file.raw, file.part)
    else:
        with file.raw.open("rb") as content, file.part.open("wb") as part:
            with gzip.GzipFile("", "wb", _COMPRESSION, part, mtime=0) as compressed:
                shutil.copyfileobj(content, compressed, _CHUNK_BYTES)
        file.raw.unlink()
    file.keep()


def _written_bytes(file: ClaimedFile) -> int:
    """The size of what is there so far; a child renames and removes these files meanwhile."""
    size = 0
    for path in file.unfinished:
        with suppress(FileNotFoundError):
            size += path.stat().st_size
    return size


def _in_words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


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

    def start(self, log: WindowNotes) -> str | None:
        """Begin to record; why not, if not."""
        history = _NotedHistory(log, lambda: self._claim("-oom"))
        if not history.start():
            return history.why_not or "unknown"
        self._history = history
        if history.is_of_user:
            log.remark("the memory history was on already, with limits of its own")
        self.path = self._claim("")
        return None

    def finish(self, log: WindowNotes, during: Callable[[str], AbstractContextManager[None]]) -> None:
        """Write the snapshot and record no longer."""
        history, self._history = self._history, None
        if history is None:
            return
        with during("export"):
            if history.dump(self.path) is None:
                log.failed("export", history.why_not or "no memory snapshot was written")
        with during("stop"):
            history.stop()
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

    def __init__(self, log: WindowNotes, out_of_memory_path: Callable[[], Path]) -> None:
        super().__init__(out_of_memory_path=out_of_memory_path)
        self._log = log

    def dump(self, path: str | os.PathLike[str]) -> Path | None:
        watch = _core.Stopwatch()
        with watch, _core.profile_section("marey memory snapshot"):
            written = super().dump(path)
        if written is not None:
            self._log.exported(os.path.abspath(written), written.stat().st_size, watch)
        return written
