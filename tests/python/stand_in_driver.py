"""A driver with several devices that does as it is told and says what must not be done.

A device's time passes only when the program says so (``gpu.pass_time``), unless it follows the host's clock. Work that
is queued on a stream runs after what was queued there before::

    work(5)   work(3)            pass_time(6)
    |----- 5 -----|--- 3 ---|
                  ^ done at 6?  the first is, the second is not

Each thread has a current device, and a current stream on each device. What a real driver refuses, or what would change
the program, is a violation: it is raised, and kept, because whoever records drops errors.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable

Key = tuple[int, int]
"""A device and a stream of it."""


class Violation(AssertionError):
    """Something that nobody but the program may do, or not at this moment."""


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.device = 0
        self.streams: dict[int, int] = {}
        self.last_error = 0


class Gpu:
    """All devices. Times are milliseconds of the devices' own clock."""

    def __init__(self) -> None:
        self.offset_ms = 1_000_000.0
        self.is_following_host = False
        self.passed_ms = 0.0
        self.n_devices = 2
        self.contexts: set[int] = set()
        self.busy_until: dict[Key, float] = {}
        # Of each stream that is being captured: the thread that began it, and the mode.
        self.captures: dict[Key, tuple[int, str]] = {}
        self.violations: list[str] = []
        self.calls: list[str] = []
        self.counts: Counter[str] = Counter()
        self.fails: dict[str, BaseException] = {}
        self.is_initialized = True
        self.queued: list[Callable[[], None]] = []
        self.held: dict[int, tuple[int, int]] = {}
        self.peaks: dict[int, tuple[int, int]] = {}
        self._of_thread = _OfThread()

    def follow_host(self) -> None:
        """Let time pass as it does on the host."""
        self.is_following_host = True

    @property
    def now_ms(self) -> float:
        """The devices' clock."""
        host = time.perf_counter() * 1e3 if self.is_following_host else self.passed_ms
        return self.offset_ms + host

    def pass_time(self, ms: float) -> None:
        """Let time pass."""
        self.passed_ms += ms

    # What the program does.

    @property
    def device(self) -> int:
        """The thread's current device."""
        return self._of_thread.device

    @device.setter
    def device(self, device: int) -> None:
        """As ``torch.cuda.set_device``, which opens the device's context."""
        self.contexts.add(device)
        self._of_thread.device = device

    @property
    def stream(self) -> int:
        """The thread's current stream on its current device."""
        return self.stream_of(self.device)

    @stream.setter
    def stream(self, stream: int) -> None:
        self._of_thread.streams[self.device] = stream

    def stream_of(self, device: int) -> int:
        """The thread's current stream on a device."""
        return self._of_thread.streams.get(device, 0)

    def use_stream_of(self, device: int, stream: int) -> None:
        """The thread's stream on a device that need not be the current one."""
        self._of_thread.streams[device] = stream

    def work(self, ms: float, device: int | None = None, stream: int | None = None) -> None:
        """Queue work, on the current stream where nothing else is said. Tensors elsewhere change no current device."""
        device = self.device if device is None else device
        key = (device, self.stream_of(device) if stream is None else stream)
        self.contexts.add(device)
        if key not in self.captures:
            self.busy_until[key] = self.done_ms(key) + ms

    def done_ms(self, key: Key) -> float:
        """When everything that is queued on a stream has run."""
        return max(self.now_ms, self.busy_until.get(key, 0.0))

    def is_idle(self) -> bool:
        """Whether everything is done."""
        return all(until <= self.now_ms for until in self.busy_until.values())

    def hold(self, allocated: int, reserved: int = 0, device: int = 0) -> None:
        """The allocator holds so much from now on; never less reserved than allocated."""
        self.contexts.add(device)
        held, peaks = self.held.get(device, (0, 0)), self.peaks.get(device, (0, 0))
        held = self.held[device] = (allocated, max(allocated, reserved, held[1]))
        self.peaks[device] = (max(peaks[0], held[0]), max(peaks[1], held[1]))

    def initialise(self) -> None:
        """What the program's first use of CUDA does."""
        for call in self.queued:
            call()
        self.is_initialized = True
        self.contexts.add(self.device)

    def begin_capture(self, mode: str = "global") -> None:
        """``cudaStreamBeginCapture`` on the current stream, of which torch knows nothing."""
        self.captures[self.device, self.stream] = (threading.get_ident(), mode)

    def end_capture(self) -> None:
        """``cudaStreamEndCapture``."""
        self.captures.pop((self.device, self.stream), None)

    def fail_launch(self) -> None:
        """A launch with impossible sizes: an error that waits until somebody asks this thread for its last one."""
        self._of_thread.last_error = 9

    def take_last_error(self) -> int:
        """``cudaGetLastError``: what it is, and none any more."""
        error, self._of_thread.last_error = self._of_thread.last_error, 0
        return error

    # What everybody does.

    def called(self, name: str) -> None:
        """Note a call, and fail if it is to fail."""
        self.calls.append(name)
        self.counts[name] += 1
        if name in self.fails:
            raise self.fails[name]

    def violate(self, what: str) -> None:
        """Something that must not be done."""
        self.violations.append(what)
        raise Violation(what)

    def touch(self, device: int, by: str) -> None:
        """Something that opens the context of a device, which only the program may do."""
        if device not in self.contexts:
            self.violate(f"{by} opened a context on device {device}, which the program never used")

    def must_not_capture(self, what: str) -> None:
        """Something that ends a capture of this thread, and those of others that are global, as a failure."""
        me = threading.get_ident()
        for thread, mode in self.captures.values():
            if mode == "global" or (thread == me and mode != "relaxed"):
                self.violate(f"{what} during a capture")

    def is_capturing(self, key: Key) -> bool:
        """Whether a stream is being captured."""
        return key in self.captures

    def query(self, at_ms: float, clears_last_error: bool) -> bool:
        """Whether a moment has come. The runtime forgets the thread's last error where it has not."""
        self.called("query")
        self.must_not_capture("an event was asked")
        is_done = at_ms <= self.now_ms
        if clears_last_error and not is_done:
            self.take_last_error()
        return is_done


gpu = Gpu()
