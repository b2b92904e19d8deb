"""Where windows of torch's profiler write, and names that nobody else has.

A name is taken by making a hidden file beside it that must not exist yet. What is written goes there, and gets the name
when it is complete::

    claim    .flux.trace.json.gz.part  (exclusive)  ── and flux.trace.json.gz does not exist ──► ours
    keep     .flux.trace.json.gz.part  ──rename──►  flux.trace.json.gz  ──link──►  flux.pt.trace.json.gz

TensorBoard's plugin looks for the second name. It is a link: the trace is on the disk once.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from marey import _core
from marey.recording import start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_VARIABLE = "CACHE_DIT_TORCH_PROFILER_DIR"
_TRACE = ".trace.json.gz"
_MOST_OF_ONE_NAME = 10_000

_chosen: Path | None = None


def set_profiler_output_dir(path: str | os.PathLike[str] | None) -> None:
    """Where windows write that have no folder of their own; None goes back to the default."""
    global _chosen
    _chosen = None if path is None else Path(path)


def get_profiler_output_dir() -> Path:
    """Where windows write that have no folder of their own.

    What ``set_profiler_output_dir`` said, else ``CACHE_DIT_TORCH_PROFILER_DIR`` as it is now, else the folder of the
    recording; before anything is recorded into one that is ``profiling_results``.
    """
    told = _chosen or os.environ.get(_VARIABLE)
    if told:
        return Path(told)
    capture = _core.capture_path()
    return Path("profiling_results") if capture is None else Path(capture).parent


def folder_for(output_dir: str | os.PathLike[str] | None) -> Path:
    """The folder of one window: what the user names, else the default, for which a recording is started.

    It is absolute: a program that goes to another folder meanwhile still finds what was begun here.
    """
    if output_dir is None:
        if not _chosen and not os.environ.get(_VARIABLE) and _core.capture_path() is None:
            with suppress(Exception):  # The window is then in `profiling_results`, where its own failure is noted.
                start()
        output_dir = get_profiler_output_dir()
    return Path(os.path.abspath(output_dir))


def rank() -> int | None:
    """This process's rank: torch.distributed's, else the environment's; None outside a job of several."""
    torch: Any = sys.modules.get("torch")
    with suppress(Exception):
        if torch is not None and torch.distributed.is_available() and torch.distributed.is_initialized():
            return int(torch.distributed.get_rank())
    return _core.rank()


def safe_name(name: object) -> str:
    """A name as the beginning of a file's: no separators, control codes or leading dots, at most 120 characters."""
    kept = "".join(c if c.isprintable() and c not in '/\\:*?"<>|' else "_" for c in str(name))
    return kept.strip().lstrip(".")[:120] or "profile"


class ClaimedFile:
    """A name that is this process's, and the hidden file that becomes it.

    Attributes:
        path: The name.
        part: Where the content is written meanwhile.
        raw: Where torch writes what is compressed into ``part``.
        unfinished: All files that there may be while it is written.
    """

    def __init__(self, path: Path) -> None:
        """Hold a name that was taken."""
        self.path = path
        self.part = path.with_name(f".{path.name}.part")
        self.raw = path.with_name(f"{self.part.name}.json")
        self.unfinished = (self.raw, path.with_name(f"{self.raw.name}.tmp"), self.part)

    @classmethod
    def claim(cls, folder: Path, stem: str, ending: str) -> ClaimedFile:
        """``<stem><ending>``, or the first of ``<stem>-2<ending>``, … that is free.

        Raises:
            OSError: The folder cannot be made or written.
        """
        mode = _core.file_mode()
        # Who may read a file may enter its folder.
        folder.mkdir(mode | (mode & 0o444) >> 2, parents=True, exist_ok=True)
        for number in range(1, _MOST_OF_ONE_NAME):
            file = cls(folder / (f"{stem}{ending}" if number == 1 else f"{stem}-{number}{ending}"))
            try:
                os.close(os.open(file.part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
            except FileExistsError:
                continue
            if not file.path.exists() and not _linked(file.path).exists():
                return file
            file.part.unlink(missing_ok=True)
        raise FileExistsError(f"{folder} has {_MOST_OF_ONE_NAME} files named {stem}")

    def keep(self) -> None:
        """The content is complete: it gets its names."""
        os.replace(self.part, self.path)
        # A folder that has no links, as some over a network, has the one name.
        with suppress(OSError):
            os.link(self.path, _linked(self.path))

    def drop(self) -> None:
        """Give the name back and remove what was written; a complete file stays."""
        for path in self.unfinished:
            path.unlink(missing_ok=True)


def _linked(path: Path) -> Path:
    """The name that TensorBoard's plugin looks for; of other files than packed traces the same one."""
    stem = path.name.removesuffix(_TRACE)
    return path if stem == path.name or stem.endswith(".pt") else path.with_name(f"{stem}.pt{_TRACE}")
