"""A torch with GPUs that do as they are told: streams, events, graph capture and the allocator's figures.

``install()`` puts it in ``sys.modules``, with torch's names. A device's time passes only when the program says so
(``gpu.pass_time``), unless it follows the host's clock (``gpu.follow_host``). Work that is queued on a stream runs
after what was queued there before::

    work(5)   work(3)            pass_time(6)
    |----- 5 -----|--- 3 ---|
                  ^ done at 6?  the first is, the second is not
"""

from __future__ import annotations

import sys
import time
import types
from collections.abc import Callable
from typing import Any


class Gpu:
    """All devices. Times are milliseconds of the devices' own clock."""

    def __init__(self) -> None:
        self.offset_ms = 1_000_000.0
        self.is_following_host = False
        self.passed_ms = 0.0
        self.device = 0
        self.stream = 0
        self.busy_until: dict[tuple[int, int], float] = {}
        self.capturing: set[tuple[int, int]] = set()
        self.calls: list[str] = []
        self.fails: dict[str, BaseException] = {}
        self.is_initialized = True
        self.queued: list[Callable[[], None]] = []
        self.held = {0: (0, 0), 1: (0, 0)}
        self.peaks = {0: (0, 0), 1: (0, 0)}

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

    def work(self, ms: float) -> None:
        """Queue work on the current stream."""
        key = (self.device, self.stream)
        self.busy_until[key] = max(self.now_ms, self.busy_until.get(key, 0.0)) + ms

    def is_idle(self) -> bool:
        """Whether everything is done."""
        return all(until <= self.now_ms for until in self.busy_until.values())

    def hold(self, allocated: int, reserved: int = 0, device: int = 0) -> None:
        """The allocator holds so much from now on; never less reserved than allocated."""
        self.held[device] = (allocated, max(allocated, reserved, self.held[device][1]))
        self.peaks[device] = (
            max(self.peaks[device][0], self.held[device][0]),
            max(self.peaks[device][1], self.held[device][1]),
        )

    def called(self, name: str) -> None:
        """Note a call, and fail if it is to fail."""
        self.calls.append(name)
        if name in self.fails:
            raise self.fails[name]

    def initialise(self) -> None:
        """What the program's first use of CUDA does."""
        for call in self.queued:
            call()
        self.is_initialized = True


gpu = Gpu()


class Stream:
    """``torch._C._CudaStreamBase``."""

    def __init__(self, stream_id: int, device_index: int, device_type: int) -> None:
        assert device_type == 1
        self.key = (device_index, stream_id)


class Event:
    """``torch._C._CudaEventBase``. Belongs to the device where it was recorded first."""

    def __init__(self, enable_timing: bool = False) -> None:
        gpu.called("new_event")
        assert enable_timing
        self.device: int | None = None
        self.at_ms = 0.0

    def record(self, stream: Stream) -> None:
        gpu.called("record")
        assert not gpu.capturing, "an event was recorded during a capture"
        assert self.device in {None, stream.key[0]}, "an event was recorded on another device"
        self.device = stream.key[0]
        self.at_ms = max(gpu.now_ms, gpu.busy_until.get(stream.key, 0.0))

    def query(self) -> bool:
        gpu.called("query")
        assert not gpu.capturing, "an event was asked during a capture"
        return self.at_ms <= gpu.now_ms

    def elapsed_time(self, end: Event) -> float:
        gpu.called("elapsed")
        assert self.query()
        assert end.query()
        assert self.device == end.device
        return end.at_ms - self.at_ms

    def synchronize(self) -> None:
        raise AssertionError("somebody waited for an event")


class Graph:
    """``torch.cuda.CUDAGraph``."""

    def capture_begin(self, pool: object = None) -> None:
        """Begin."""
        gpu.capturing.add((gpu.device, gpu.stream))

    def capture_end(self) -> None:
        """End."""
        gpu.capturing.discard((gpu.device, gpu.stream))


def memory_stats(device: int) -> dict[str, Any]:
    """Figures of the allocator, nested as torch nests them."""
    gpu.called("stats")
    (allocated, reserved), (allocated_peak, reserved_peak) = gpu.held[device], gpu.peaks[device]

    def of(current: int, peak: int) -> dict[str, dict[str, int]]:
        return {pool: {"current": current, "peak": peak} for pool in ("all", "small_pool", "large_pool")}

    return {
        "num_ooms": 0,
        "active_bytes": of(allocated, allocated_peak),
        "reserved_bytes": of(reserved, reserved_peak),
        "allocated_bytes": of(allocated, allocated_peak),
        "inactive_split_bytes": of(reserved - allocated, reserved_peak),
        "oversize_segments": {"current": 0, "peak": 0},
    }


def reset_peaks(device: int) -> None:
    """The allocator's peaks count from now on."""
    gpu.called("reset")
    gpu.peaks[device] = gpu.held[device]


def install(*, is_initialized: bool = True) -> Gpu:
    """Put it in the place of torch."""
    torch: Any = types.ModuleType("torch")
    gpu.is_initialized = is_initialized
    torch.version = types.SimpleNamespace(hip=None, cuda="13.0")
    torch._C = types.SimpleNamespace(
        _CudaEventBase=Event,
        _CudaStreamBase=Stream,
        _cuda_getDevice=lambda: gpu.device,
        _cuda_getDeviceCount=lambda: 2,
        _cuda_getCurrentStream=lambda device: (gpu.stream, device, 1),
        _cuda_isCurrentStreamCapturing=lambda: (gpu.device, gpu.stream) in gpu.capturing,
        _cuda_memoryStats=memory_stats,
        _cuda_resetPeakMemoryStats=reset_peaks,
        _accelerator_getDeviceStats=memory_stats,
        _accelerator_resetPeakStats=reset_peaks,
    )
    torch.cuda = types.SimpleNamespace(
        CUDAGraph=Graph,
        is_initialized=lambda: gpu.is_initialized,
        is_available=lambda: True,
        _lazy_call=lambda call: call() if gpu.is_initialized else gpu.queued.append(call),
    )
    sys.modules["torch"] = torch
    return gpu
