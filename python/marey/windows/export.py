"""Writing a trace beside the program.

torch writes a trace in one call that keeps the interpreter to itself, so a thread alone does not help: the program
stands still for as long. A forked child does it while the program goes on; what that costs the program is the fork,
which takes the longer the more memory the process has::

    thread    |== save, program stands still ==|-- compress --| rename
    child     |fork|  save, compress, rename in the child   |
    program        |------------------------------------------------------

The cheaper of both is taken. A child that fails, hangs or grows beyond the limits is ended, and leaves nothing behind.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress

from marey import _core, threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from marey.windows.files import ClaimedFile
    from marey.windows.notes import WindowNotes

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


class TraceExport:
    """The export of one recording, in a thread that starts at once.

    Args:
        profiler: The ``torch.profiler.profile`` that has stopped.
        file: Where it goes; compressed if the name ends in ``.gz``.
        log: Of the window.
        stop_seconds: How long torch took to stop, which tells how much was recorded.
        max_bytes: Largest file before compression.

    Attributes:
        is_written: The file is complete.
    """

    def __init__(
        self,
        profiler: Any,  # noqa: ANN401
        file: ClaimedFile,
        log: WindowNotes,
        stop_seconds: float,
        max_bytes: int,
    ) -> None:
        """Begin."""
        self._profiler = profiler
        self._file = file
        self._log = log
        self._stop_seconds = stop_seconds
        self._max_bytes = max_bytes
        self.is_written = False
        thread = threads.started(self._run, "marey-export")
        if thread is None:
            raise RuntimeError("no thread is to be had that writes the trace")
        self._thread = thread

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end. False when it takes longer than that."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        watch = _core.Stopwatch()
        try:
            with watch:
                self._check_room()
                if self._is_fork_cheaper():
                    self._in_child()
                else:
                    _write(self._profiler, self._file, self._check_size)
            self.is_written = True
            self._log.exported(os.path.abspath(self._file.path), self._file.path.stat().st_size, watch)
        except BaseException as error:  # whatever torch raises stays here
            self._log.failed("export", describe(error))
        finally:
            self._profiler = None
            with suppress(Exception):
                self._file.drop()

    def _check_room(self) -> None:
        import shutil

        free = shutil.disk_usage(self._file.part.parent).free
        if free < _RESERVE_BYTES:
            raise OSError(f"{free} bytes are free on the disk; at least {_RESERVE_BYTES} are left free")

    def _check_size(self) -> None:
        self._check_room()
        size = _written_bytes(self._file)
        if size > self._max_bytes:
            raise OSError(f"the trace has {size} bytes; max_file_bytes is {self._max_bytes}")

    def _is_fork_cheaper(self) -> bool:
        resident = _core.resident_bytes()
        if not sys.platform.startswith("linux") or resident is None:
            return False
        return _FORK_SECONDS_PER_BYTE * resident < _SAVE_PER_STOP * self._stop_seconds

    def _in_child(self) -> None:
        # Imported here, because a child must not wait for a lock of the importer that another thread holds.
        import gzip
        import signal
        import warnings

        _ = gzip
        reads, writes = os.pipe()
        with warnings.catch_warnings():
            # Python warns of forks in programs with threads; this child runs nothing of theirs.
            warnings.simplefilter("ignore")
            child = os.fork()
        if child == 0:
            _be_child(self._profiler, self._file, writes, signal)
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
        if not self._file.path.exists():
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
            self._check_size()
            threading.Event().wait(_LOOK_SECONDS)
        raise TimeoutError("the child that writes the trace did not end")


def describe(error: BaseException) -> str:
    """An error as its type and text."""
    return f"{type(error).__name__}: {error}"


def _be_child(profiler: Any, file: ClaimedFile, writes: int, signal: Any) -> None:  # noqa: ANN401
    """All that the child does; it never returns."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.nice(10)
        _write(profiler, file, lambda: None)
        os._exit(0)
    except BaseException as error:
        with suppress(OSError):
            os.write(writes, describe(error).encode()[:4000])
    finally:
        os._exit(1)


def _write(profiler: Any, file: ClaimedFile, check: Any) -> None:  # noqa: ANN401
    profiler.export_chrome_trace(str(file.raw))
    check()
    if not file.path.name.endswith(".gz"):
        os.replace(file.raw, file.part)
    else:
        _compress(file.raw, file.part)
        file.raw.unlink()
    file.keep()


def _compress(raw: Path, part: Path) -> None:
    import gzip

    with raw.open("rb") as content, part.open("wb") as file:
        with gzip.GzipFile("", "wb", _COMPRESSION, file, mtime=0) as compressed:
            while chunk := content.read(_CHUNK_BYTES):
                compressed.write(chunk)


def _written_bytes(file: ClaimedFile) -> int:
    """The size of what is there so far; a child renames and removes these files meanwhile."""
    size = 0
    for path in (file.raw, file.raw.with_name(f"{file.raw.name}.tmp"), file.part):
        with suppress(FileNotFoundError):
            size += path.stat().st_size
    return size
