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
import signal
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from marey import _core, threads
from marey.signal_handlers import came_from_handler
from marey.windows import endings, surroundings
from marey.windows.export import THREAD, MemoryWindow, TraceExport, WindowNotes
from marey.windows.files import ClaimedFile, folder_for, rank, safe_name
from marey.windows.options import in_steps

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

    Attributes:
        on_end: Called once it is over and its files are complete, by another thread, with why there is no trace, if so.
    """

    def __init__(
        self, options: WindowOptions, name: str, output_dir: str | os.PathLike[str] | None, ending: str
    ) -> None:
        """Make it; nothing is opened."""
        self.name = name
        self.profiler: Any = None
        self.output_dir: Path | None = None
        self.trace_path: Path | None = None
        self.memory_snapshot_path: Path | None = None
        self.on_end: Callable[[str | None], None] | None = None
        self._options = options
        self._given_dir = output_dir
        self._stem = name
        self._ending = ending
        self._log = WindowNotes(name, options.as_dict())
        self._owner: int | None = None
        self._is_busy = self._is_lost = self._is_forgotten = self._is_broken = self._has_failed = False
        self._asked: str | None = None
        self._interruption: BaseException | None = None
        self._undo: list[Callable[[], object]] = []
        self._limits: endings.Limits | None = None
        self._memory: MemoryWindow | None = None
        self._file: ClaimedFile | None = None
        self._exports: list[TraceExport] = []
        self._recorded: dict[str, Any] = {}
        """Arguments of torch's profiler; none where only memory is recorded."""
        self._is_started = False
        self._steps = 0
        self._keeps_from = 0
        self._counts_explicitly = False
        self._is_told_beside = False

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

    def step(self) -> None:
        """A denoising step has ended, says the program; from now on only what it says counts."""
        if self._is_mine("a step"):
            is_told_before = self._steps > 0 and not self._counts_explicitly
            self._counts_explicitly = self._is_told_beside = True
            if not is_told_before:
                self._turn()

    def close(self, reason: str = "end") -> None:
        """Stop, if it is open; a thread other than the window's only asks for it."""
        if self._is_mine("the end"):
            if self._asked is not None:
                self._log.remark(f"the limit of {self._asked} was passed, and no step came at which to stop")
            self._finish(reason)
        elif self._owner is not None:
            self.ask("another thread")

    def close_at_exit(self) -> None:
        """The interpreter ends, in the main thread; a window of another one can only be given up."""
        if self._owner == threading.get_ident():
            self._finish("exit")
        else:
            self._log.failed("stop", "the interpreter ended before the thread that opened the window stopped it")
            if self.on_end is not None:
                self.on_end(self._log.why_not)

    def give_up(self, why_not: str) -> None:
        """It will not be opened, and the report says why."""
        self._log.opened()
        self._log.remark(why_not)
        self._over("not opened")

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the files are complete.

        False when that takes longer, the window is still open, or a file that it names was not written.
        """
        are_complete = all([export.wait(seconds) for export in self._exports]) and not self.is_open
        named = (self.trace_path, self.memory_snapshot_path, *(export.path for export in self._exports))
        paths = [os.path.abspath(path) for path in named if path is not None]
        are_written = self.trace_path is not None and self._log.written.issuperset(paths)
        return are_complete and (self._is_forgotten or are_written)

    def ask(self, reason: str) -> None:
        """Have the window's thread stop it at the next step, or sooner."""
        self._asked = self._asked or reason
        _core.wake_main_thread()

    def heed(self) -> None:
        """Stop if that was asked for; called by the window's thread."""
        is_free = threading.get_ident() == self._owner and not self._is_busy
        if self._asked is not None and is_free and not surroundings.is_capturing():
            self._finish(self._asked)

    def make_way(self) -> None:
        """A profiler is about to start: two at once end in a crash. While the window is busy it is its own."""
        if threading.get_ident() != self._owner:
            if self._owner is not None:
                self._is_lost = True
                self.ask("another profiler")
        elif not self._is_busy:
            self._finish("another profiler")

    def forget(self) -> None:
        """The process was forked: in the child there is no window, and nothing is recorded."""
        self._owner = None
        self._is_forgotten = True
        self._undo.clear()
        self._exports.clear()

    # Opening

    def _open(self) -> None:
        self._log.opened()
        with self._during("open"):
            self._take_names()
            torch: Any = sys.modules.get("torch")
            if torch is None:
                self._log.remark("torch is not imported: there is nothing to record")
            elif self._is_allowed(torch):
                self._owner = threading.get_ident()
                with self._during("start"):
                    self._begin(torch)
        if self._owner is None:
            self._give_name_back()
            self._over("not opened")
        elif self._is_broken:
            self._finish("failure")
        elif not self._recorded and self._memory is None:
            self._finish("nothing to record")

    def _take_names(self) -> None:
        folder, number, name = folder_for(self._given_dir), rank(), safe_name(self.name)
        self.output_dir = folder
        self._stem = name if number is None else f"{name}-rank{number}"
        if "MEM" in self._options.activities:
            self._memory = MemoryWindow(folder, name, number or 0)
            self.trace_path = self._memory.path
        if self._options.activities != ("MEM",):
            self.trace_path = folder / f"{self._stem}{self._ending}"
            with self._during("open"):
                self._file = ClaimedFile.claim(folder, self._stem, self._ending)
                self.trace_path = self._file.path

    def _give_name_back(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                file.drop()

    def _is_allowed(self, torch: Any) -> bool:  # noqa: ANN401
        endings.stop_given_up(torch)
        other = surroundings.other_profiler(torch)
        before = endings.take(self)
        if before is not None:
            other = f"the window {before.name!r} is open"
        elif other is not None:
            endings.leave(self)
        if other is not None:
            self._log.remark(f"not opened: {other}")
        return other is None

    def _begin(self, torch: Any) -> None:  # noqa: ANN401
        options = self._options
        kept = {name: getattr(options, name) for name in ("record_shapes", "with_stack", "profile_memory")}
        hook = surroundings.moving_hook() if any(kept.values()) and not options.force else None
        if hook is not None:
            kept = dict.fromkeys(kept, False)
            self._log.remark(
                f"no shapes, stacks or allocations, because models are moved by {hook} (force=True has them)"
            )
        activities, why_not = surroundings.available_activities(torch, options.activities)
        if why_not is not None:
            self._log.remark(why_not)
        if activities:
            whose = surroundings.every_thread(torch) if options.all_threads else {}
            self._recorded = {"activities": activities, **kept, **whose}
        self._begin_memory()
        if not activities and self._memory is None:
            return
        self._undo.append(surroundings.listen_to_steps(self._told))
        self._undo.append(surroundings.watch_profilers(torch, self.make_way))
        self._limits = endings.Limits(self.ask, options.max_seconds, options.max_host_bytes)
        self._limits.start()
        self._undo.append(self._limits.stop)
        if options.wait == 0:
            self._start()

    def _begin_memory(self) -> None:
        memory = self._memory
        why_not = None if memory is None else memory.start(self._log)
        if why_not is not None:
            self._log.remark(f"MEM is not recorded: {why_not}")
            self._memory = None
        elif memory is not None:
            self.memory_snapshot_path = memory.path
            if self._options.activities == ("MEM",):
                self.trace_path = memory.path

    # Steps

    def _told(self, is_beside: bool) -> None:
        """Some loop took a step, of which no section is recorded where it ``is_beside``."""
        if threading.get_ident() == self._owner and not self._counts_explicitly and not self._is_busy:
            self._is_told_beside = self._is_told_beside or is_beside
            self._turn()

    def _turn(self) -> None:
        if self._asked is not None:
            self._finish(self._asked)
            return
        self._steps += 1
        with self._alone():
            with self._during("step"):
                self._follow()
                return
            self._finish("failure")

    def _follow(self) -> None:
        """Do what the schedule says at the end of a step."""
        options = self._options
        n_done, place = divmod(self._steps, options.n_steps)
        if place == 0 and n_done == options.repeat:
            self._finish("steps")
            return
        if place == 0:
            self._stop(is_kept=True)
        if place == options.wait:
            self._start()
        elif self._is_started and self._steps == 1 and options.warmup > 0:
            self._stop(is_kept=False)
            self._start()
        elif self._is_started:
            self.profiler.step()
            if self._steps == self._keeps_from:
                self._log.recording()

    def _start(self) -> None:
        """Start torch's profiler, which marks the step that runs with its number, ``ProfilerStep#n``."""
        options, first = self._options, self._steps
        keeps_from = first - first % options.n_steps + options.wait + options.warmup if first > 0 else 0
        self._keeps_from = keeps_from
        if self._recorded:
            torch = sys.modules["torch"]
            actions = torch.profiler.ProfilerAction

            def action(step: int) -> Any:  # noqa: ANN401
                if step < first:
                    return actions.NONE
                return actions.WARMUP if step < keeps_from else actions.RECORD

            with _core.profile_section("marey window start"):
                self.profiler = torch.profiler.profile(schedule=action, **self._recorded)
                self._is_started = True
                self.profiler.start()
                for _ in range(first):
                    self.profiler.step()
        if self._limits is not None:
            self._limits.is_recording = True
        is_perhaps_warmup = first == 0 and options.warmup > 0
        if not self._recorded or (first >= keeps_from and not is_perhaps_warmup):
            self._log.recording()

    def _stop(self, *, is_kept: bool) -> None:
        """Stop torch's profiler, and write what it recorded beside the program."""
        if not self._is_started:
            return
        self._is_started = is_stopped = False
        began = time.perf_counter()
        with self._during("stop"), _core.profile_section("marey window stop"):
            self.profiler.stop()
            is_stopped = True
        seconds = time.perf_counter() - began
        if not (is_kept and is_stopped) or self._steps < self._keeps_from:
            return
        with self._during("export"):
            file = self._file or ClaimedFile.claim(self.output_dir or Path(), self._stem, self._ending)
            self._file = None
            if not self._exports:
                self.trace_path = file.path
            self._exports.append(TraceExport(self.profiler, file, self._log, seconds, self._options.max_file_bytes))

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
            if self._is_lost and self._is_started:
                self._is_started = False
                self._log.failed("recording", "another thread started a torch profiler, which ended this recording")
                endings.give_up(self.profiler)
                with self._during("stop"):
                    endings.stop_given_up(sys.modules["torch"])
            if self._is_started and self._steps == 0 and self._options.warmup > 0 and not self._is_broken:
                self._log.recording()
                self._log.remark("no step was seen: what was recorded is the whole block")
            self._stop(is_kept=not self._is_broken)
            if self._memory is not None:
                self._memory.finish(self._log, self._during)
            if not (self._exports or self._has_failed) and self._recorded and reason in ("end", "exit"):
                self._log.remark(f"nothing was kept: the block ended after {in_steps(self._steps)}")
            if self._steps > 0 and self._is_told_beside and not self._is_broken:
                self._log.told(self._options.in_words(self._steps))
            self._give_name_back()
            endings.leave(self)
            self._over(reason if self._interruption is None else "interrupted")

    def _over(self, reason: str) -> None:
        self._log.stopped(reason)
        on_end = self.on_end
        if on_end is not None:
            threads.started(lambda: on_end(None if self.wait() else self._log.why_not), THREAD)

    # Containment

    @contextmanager
    def _during(self, what: str) -> Generator[None]:
        """Whatever is raised is noted; what is no ``Exception``, or a signal handler's, is raised again at the end."""
        try:
            yield
        except BaseException as error:
            if not isinstance(error, Exception) or came_from_handler(error):
                self._interruption = error
            self._has_failed = True
            self._is_broken = self._is_broken or what in ("start", "step")
            with suppress(Exception):
                self._log.failed(what, error)

    @contextmanager
    def _alone(self) -> Generator[None]:
        """Handlers of signals wait meanwhile, and so does what interrupted torch."""
        was_busy = self._is_busy
        with endings.held(signal.SIGINT), endings.held(signal.SIGTERM):
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
        self._log.remark(f"{what} came from another thread than the one that opened the window")
        return False
