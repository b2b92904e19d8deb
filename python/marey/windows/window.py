"""One bounded window of torch's profiler, from when it is opened until what it wrote is complete.

With ``wait=0``, ``warmup=1``, ``active=3``, ``repeat=1``::

    opened        step 0 ends   step 1        step 2        step 3 ends
      |--- recorded ---|------------- recorded and kept -------------|      rest of the block
       thrown away: warm-up                                          stopped · export beside the program

Nobody knows beforehand whether a block has denoising steps. So recording starts at once, and its beginning is thrown
away with the first step, if that is one for warm-up; without any step the whole block is kept. With ``wait`` above 0
nothing is recorded before so many steps have ended.

Whatever torch raises is noted in the capture and ends the window; the program goes on.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

from marey import _core
from marey.windows import newcomers, opened, signals, steps
from marey.windows.cycle import Cycle
from marey.windows.export import TraceExport, describe
from marey.windows.files import ClaimedFile, folder_for, rank, safe_name
from marey.windows.limits import Limits, host_bytes_allowed
from marey.windows.memory import MemoryWindow
from marey.windows.notes import WindowNotes
from marey.windows.options import counted
from marey.windows.surroundings import available_activities, moving_hook, other_profiler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

    from marey.windows.options import WindowOptions


class ProfilerWindow:
    """A window. One is open at a time in a process; opened, stepped and closed by one thread.

    Args:
        options: What to record, how long, and how much at most.
        name: Beginning of the files' names.
        output_dir: Made absolute, otherwise used literally; default as ``get_profiler_output_dir``.
        ending: Of the file's name, after the rank where there is one; compressed if it ends in ``.gz``.
    """

    def __init__(
        self,
        options: WindowOptions,
        name: str,
        output_dir: str | os.PathLike[str] | None = None,
        *,
        ending: str = ".trace.json.gz",
    ) -> None:
        """Make it; nothing is opened."""
        self.options = options
        self.name = name
        self.profiler: Any = None
        self.output_dir: Path | None = None
        self.trace_path: Path | None = None
        self.memory_snapshot_path: Path | None = None
        self._stem = name
        self._given_dir = output_dir
        self._ending = ending
        self._log = WindowNotes(name, options.as_dict())
        self._owner: int | None = None
        self._is_busy = False
        self._asked: str | None = None
        self._is_lost = False
        self._is_forgotten = False
        self._is_broken = False
        self._interruption: BaseException | None = None
        self._said: set[str] = set()
        self._undo: list[Callable[[], object]] = []
        self._file: ClaimedFile | None = None
        self._memory: MemoryWindow | None = None
        self._cycle: Cycle | None = None
        self._activities: list[Any] = []
        self._limits: Limits | None = None
        self._steps = 0
        self._n_done = 0
        self._kept = 0
        self._counts_explicitly = False
        self._is_told_beside = False
        self._exports: list[TraceExport] = []

    @property
    def is_open(self) -> bool:
        """It was opened and has not stopped."""
        return self._owner is not None

    def open(self) -> None:
        """Open it in this thread. What a signal's handler raises meanwhile is raised afterwards, and stops it."""
        try:
            with self._alone():
                self._open()
        except BaseException:
            self._finish("interrupted")
            raise

    def _open(self) -> None:
        self._log.opened()
        with self._during("open"):
            self._take_names()
            torch: Any = sys.modules.get("torch")
            if torch is None:
                self._remark("torch is not imported: there is nothing to record")
            elif self._is_allowed(torch):
                self._owner = threading.get_ident()
                with self._during("start"), _core.profile_section("marey window start"):
                    self._begin(torch)
        if self._owner is None:
            self._give_names_back()
            self._log.stopped("not opened")
        elif self._is_broken:
            self._finish("failure")
        elif not self._activities and self._memory is None:
            self._finish("nothing to record")

    def step(self) -> None:
        """A denoising step has ended, says the program; from now on only what it says counts."""
        if self._is_mine("a step"):
            is_told_before = self._steps > 0 and not self._counts_explicitly
            self._counts_explicitly = self._is_told_beside = True
            if not is_told_before:
                self._turn()

    def close(self, reason: str = "end") -> None:
        """Stop, if it is open; a thread other than the window's only asks for it."""
        if self._owner is None:
            return
        if self._is_mine("the end"):
            if self._asked is not None:
                self._remark(f"the limit of {self._asked} was passed, and no step came at which to stop")
            self._finish(reason)
            return
        self.ask("another thread")

    def close_at_exit(self) -> None:
        """The interpreter ends, in the main thread; a window of another one can only be given up."""
        if self._owner == threading.get_ident():
            self._finish("exit")
        else:
            self._log.failed("stop", "the interpreter ended before the thread that opened the window stopped it")

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the files are complete.

        False when that takes longer, the window is still open, or a file that it names was not written.
        """
        are_complete = all([export.wait(seconds) for export in self._exports]) and not self.is_open
        return are_complete and (self._is_forgotten or self._has_written())

    def _has_written(self) -> bool:
        paths = (self.trace_path, self.memory_snapshot_path)
        return all(path is None or os.path.abspath(path) in self._log.written for path in paths) and all(
            export.is_written for export in self._exports
        )

    def ask(self, reason: str) -> None:
        """Have the window's thread stop it at the next step, or sooner."""
        self._asked = self._asked or reason
        if self._limits is not None:
            self._limits.wake()

    def heed(self) -> None:
        """Stop if that was asked for; called by the window's thread."""
        if self._asked is not None and threading.get_ident() == self._owner and not self._is_busy:
            self._finish(self._asked)

    def make_way(self) -> None:
        """Another profiler is about to start: two at once end in a crash."""
        if threading.get_ident() == self._owner:
            self._finish("another profiler")
        elif self._owner is not None:
            self._is_lost = True
            self.ask("another profiler")

    def forget(self) -> None:
        """The process was forked: in the child there is no window, and nothing is recorded."""
        self._owner = None
        self._is_forgotten = True
        self._undo.clear()
        self._exports.clear()

    # Opening

    def _take_names(self) -> None:
        folder = folder_for(self._given_dir)
        number = rank()
        self._stem = safe_name(self.name) if number is None else f"{safe_name(self.name)}-rank{number}"
        self.output_dir = folder
        self.trace_path = folder / f"{self._stem}{self._ending}"
        wants_trace = self.options.activities != ("MEM",)
        if wants_trace:
            with self._during("open"):
                self._file = ClaimedFile.claim(folder, self._stem, self._ending)
                self.trace_path = self._file.path
        if "MEM" in self.options.activities:
            self._memory = MemoryWindow(folder, safe_name(self.name), number or 0)
            if not wants_trace:
                self.trace_path = self._memory.path

    def _give_names_back(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.drop()
            self._file = None

    def _is_allowed(self, torch: Any) -> bool:  # noqa: ANN401
        opened.stop_given_up(torch)
        before = opened.take(self)
        if before is not None:
            self._remark(f"not opened: the window {before.name!r} is open")
            return False
        is_allowed = False
        try:
            other = other_profiler(torch)
            is_allowed = other is None
        finally:
            if not is_allowed:
                opened.leave(self)
        if other is not None:
            self._remark(f"not opened: {other}")
        return is_allowed

    def _begin(self, torch: Any) -> None:  # noqa: ANN401
        options = self.options
        hook = moving_hook() if options.keeps_tensors and not options.force else None
        if hook is not None:
            options.record_shapes = options.with_stack = options.profile_memory = False
            self._remark(f"no shapes, stacks or allocations, because models are moved by {hook} (force=True has them)")
        self._activities, remarks = available_activities(torch, options.activities)
        for remark in remarks:
            self._remark(remark)
        if self._memory is not None:
            why_not = self._memory.start(self._log)
            if why_not is not None:
                self._remark(f"MEM is not recorded: {why_not}")
                self._memory = None
            else:
                self.memory_snapshot_path = self._memory.path
                if options.activities == ("MEM",):
                    self.trace_path = self._memory.path
        if not self._activities and self._memory is None:
            return
        self._undo.append(steps.listen(self._told))
        self._undo.append(newcomers.watch(torch, self.make_way))
        self._limits = Limits(self.ask, self.heed, options.max_seconds, options.max_host_bytes or host_bytes_allowed())
        self._limits.start()
        self._undo.append(self._limits.stop)
        if options.wait == 0:
            self._start_cycle(is_trial=options.warmup > 0)

    # Steps

    def _told(self) -> None:
        """Some loop of this thread took a step."""
        if threading.get_ident() == self._owner and not self._counts_explicitly and not self._is_busy:
            self._is_told_beside = self._is_told_beside or steps.is_told_beside()
            self._turn()

    def _turn(self) -> None:
        if self._asked is not None:
            self._finish(self._asked)
            return
        self._steps += 1
        options = self.options
        in_cycle = self._steps - self._n_done * (options.wait + options.warmup + options.active)
        with self._alone():
            with self._during("step"):
                self._follow(in_cycle)
                return
            self._finish("failure")

    def _follow(self, in_cycle: int) -> None:
        options = self.options
        if in_cycle < options.wait:
            return
        if in_cycle >= options.wait + options.warmup + options.active:
            self._n_done += 1
            if self._n_done == options.repeat:
                self._finish("steps")
                return
            self._stop_cycle(is_kept=True)
            if options.wait == 0:
                self._start_cycle()
        elif self._cycle is None:
            if in_cycle == options.wait:
                self._start_cycle()
        elif self._cycle.is_trial and options.warmup > 0:
            self._stop_cycle(is_kept=False)
            self._start_cycle(n_warmup=options.warmup - in_cycle)
        else:
            was_recording = self._cycle.is_recording
            with newcomers.ours():
                self._cycle.step()
            if self._cycle.is_recording and not was_recording:
                self._log.recording()

    def _start_cycle(self, *, n_warmup: int | None = None, is_trial: bool = False) -> None:
        if not self._activities:
            self._log.recording()
            self._count_seconds()
            return
        cycle = Cycle(
            sys.modules["torch"],
            self.options,
            self._activities,
            first=self._steps,
            n_warmup=self.options.warmup if n_warmup is None else n_warmup,
            is_trial=is_trial,
        )
        with newcomers.ours():
            self._cycle, self.profiler = cycle, cycle.profiler
            cycle.start()
        self._count_seconds()
        if cycle.is_recording and not (is_trial and self.options.warmup > 0):
            self._log.recording()

    def _count_seconds(self) -> None:
        if self._limits is not None:
            self._limits.count()

    def _stop_cycle(self, *, is_kept: bool) -> None:
        cycle, self._cycle = self._cycle, None
        if cycle is None:
            return
        is_stopped = False
        with self._during("stop"), _core.profile_section("marey window stop"):
            cycle.stop()
            is_stopped = True
        if is_kept and is_stopped and cycle.is_recording:
            self._export(cycle)

    def _export(self, cycle: Cycle) -> None:
        with self._during("export"):
            file = self._file or ClaimedFile.claim(self.output_dir or Path(), self._stem, self._ending)
            self._file = None
            if self._kept == 0:
                self.trace_path = file.path
            self._kept += 1
            export = TraceExport(cycle.profiler, file, self._log, cycle.stop_seconds, self.options.max_file_bytes)
            self._exports.append(export)
            opened.waits_for(export)

    # The end

    def _finish(self, reason: str) -> None:
        if self._owner is None:
            return
        self._owner = None
        with self._alone():
            for undo in reversed(self._undo):
                with self._during("stop"):
                    undo()
            self._undo.clear()
            if self._is_lost and self._cycle is not None:
                self._log.failed("recording", "another thread started a torch profiler, which ended this recording")
                opened.give_up(self._cycle)
                self._cycle = None
                with self._during("stop"):
                    opened.stop_given_up(sys.modules["torch"])
            if self._steps == 0 and self._cycle is not None and self.options.warmup > 0:
                self._log.recording()
                self._remark("no step was seen: what was recorded is the whole block")
            self._stop_cycle(is_kept=not self._is_broken)
            if self._memory is not None:
                self._memory.finish(self._log, self._during)
            if self._kept == 0 and self._activities and reason in ("end", "exit"):
                self._remark(f"nothing was kept: the block ended after {counted(self._steps, 'step', 'steps')}")
            if self._steps > 0 and self._is_told_beside and not self._is_broken:
                self._log.tell(self.options.in_words(self._steps))
            with self._during("stop"):
                self._give_names_back()
            opened.leave(self)
            self._log.stopped(reason if self._interruption is None else "interrupted")

    # Containment

    @contextmanager
    def _during(self, what: str) -> Generator[None]:
        """Whatever is raised is noted; what is no ``Exception`` is raised again when the window is in order."""
        try:
            yield
        except BaseException as error:
            if not isinstance(error, Exception):
                self._interruption = error
            self._is_broken = self._is_broken or what in ("start", "step")
            with suppress(Exception):
                self._log.failed(what, describe(error))

    @contextmanager
    def _alone(self) -> Generator[None]:
        """Handlers of signals wait meanwhile, and so does what interrupted torch."""
        was_busy = self._is_busy
        with signals.held():
            self._is_busy = True
            try:
                yield
            finally:
                self._is_busy = was_busy
            self.heed()
        if self._interruption is not None and not was_busy:
            error, self._interruption = self._interruption, None
            raise error

    def _is_mine(self, what: str) -> bool:
        if self._owner is None or threading.get_ident() == self._owner:
            return self._owner is not None
        self._remark(f"{what} came from another thread than the one that opened the window")
        return False

    def _remark(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._log.remark(text)
