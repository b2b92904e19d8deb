"""A torch with GPUs that do as they are told: streams, events, graph capture and the allocator's figures.

``install()`` puts it in ``sys.modules``, with torch's names. Devices, their time and their rules are those of
``stand_in_driver``; a program that breaks one of the rules ends with what it was on its standard error.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
import types
import weakref
from typing import Any

from stand_in_driver import Gpu, gpu

BROKEN = 97
"""How a program ends that broke a rule."""


class Stream:
    """``torch._C._CudaStreamBase``."""

    def __init__(self, priority: int = 0, stream_id: int = 0, device_index: int = 0, device_type: int = 1) -> None:
        assert device_type == 1
        self.key = (device_index, stream_id)
        self.stream_id, self.device_index, self.device_type = stream_id, device_index, device_type
        # By what the driver calls it.
        self.cuda_stream = 1 + 1000 * device_index + stream_id

    def is_capturing(self) -> bool:
        gpu.counts["is_capturing"] += 1
        return gpu.is_capturing(self.key)


class Event:
    """``torch._C._CudaEventBase``. Belongs to the context of the stream where it was recorded first."""

    def __init__(self, enable_timing: bool = False) -> None:
        gpu.called("new_event")
        assert enable_timing
        self.device: int | None = None
        self.at_ms = 0.0
        _events[id(self)] = self

    @property
    def cuda_event(self) -> int:
        return id(self)

    def record(self, stream: Stream) -> None:
        gpu.called("record")
        gpu.touch(stream.key[0], "an event")
        if gpu.is_capturing(stream.key):
            gpu.violate("an event was recorded into a capture")
        if self.device not in {None, stream.key[0]}:
            gpu.violate("an event was recorded in the context of another device")
        self.device = stream.key[0]
        self.at_ms = gpu.done_ms(stream.key)

    def query(self) -> bool:
        return gpu.query(self.at_ms, clears_last_error=True)

    def elapsed_time(self, end: Event) -> float:
        gpu.called("elapsed")
        gpu.must_not_capture("two events were compared")
        if self.device != end.device:
            gpu.violate("events of two devices were compared")
        assert max(self.at_ms, end.at_ms) <= gpu.now_ms
        return end.at_ms - self.at_ms

    def synchronize(self) -> None:
        gpu.violate("somebody waited for an event")


# By what the driver calls them.
_events: weakref.WeakValueDictionary[int, Event] = weakref.WeakValueDictionary()


class Graph:
    """``torch.cuda.CUDAGraph``."""

    def capture_begin(self, pool: object = None, capture_error_mode: str = "global") -> None:
        """Begin."""
        gpu.begin_capture(capture_error_mode)

    def capture_end_pre(self) -> None:
        """End, and leave the graph to be looked at."""
        gpu.end_capture()

    def capture_end_post(self) -> None:
        """Done looking."""

    def capture_end(self) -> None:
        """End."""
        self.capture_end_pre()
        self.capture_end_post()


class graph:
    """``torch.cuda.graph``: a capture on a stream of its own."""

    def __init__(self, cuda_graph: Graph, capture_error_mode: str = "global") -> None:
        self.cuda_graph, self.mode = cuda_graph, capture_error_mode

    def __enter__(self) -> None:
        self.before, gpu.stream = gpu.stream, 99
        self.cuda_graph.capture_begin(capture_error_mode=self.mode)

    def __exit__(self, *exception: object) -> None:
        self.cuda_graph.capture_end()
        gpu.stream = self.before


def memory_stats(device: int) -> dict[str, Any]:
    """Figures of the allocator, nested as torch nests them."""
    gpu.called("stats")
    gpu.touch(device, "a look at the allocator")
    allocated, reserved = gpu.held.get(device, (0, 0))
    allocated_peak, reserved_peak = gpu.peaks.get(device, (0, 0))

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
    gpu.touch(device, "a reset of peaks")
    gpu.peaks[device] = gpu.held.get(device, (0, 0))


def current_stream(device: int) -> tuple[int, int, int]:
    gpu.counts["current_stream"] += 1
    return gpu.stream_of(device), device, 1


def current_device() -> int:
    gpu.counts["current_device"] += 1
    return gpu.device


def has_context(device: int) -> bool:
    gpu.counts["has_context"] += 1
    return device in gpu.contexts


def is_current_stream_capturing() -> bool:
    gpu.counts["is_capturing"] += 1
    return gpu.is_capturing((gpu.device, gpu.stream))


FUNCTIONS: dict[str, Any] = {
    "_CudaEventBase": Event,
    "_CudaStreamBase": Stream,
    "_cuda_getDevice": current_device,
    "_cuda_getDeviceCount": lambda: gpu.n_devices,
    "_cuda_getCurrentStream": current_stream,
    "_cuda_hasPrimaryContext": has_context,
    "_cuda_isCurrentStreamCapturing": is_current_stream_capturing,
    "_cuda_memoryStats": memory_stats,
    "_cuda_resetPeakMemoryStats": reset_peaks,
    "_accelerator_getDeviceStats": memory_stats,
    "_accelerator_resetPeakStats": reset_peaks,
}
"""What stands for functions of ``torch._C``, by their names."""


def install(*, is_initialized: bool = True, devices: int = 2, used: tuple[int, ...] | None = None) -> Gpu:
    """Put it in the place of torch. ``used`` are the devices that the program has used by now: 0, once it uses any."""
    torch: Any = types.ModuleType("torch")
    gpu.is_initialized, gpu.n_devices = is_initialized, devices
    gpu.contexts.update(used if used is not None else {0} if is_initialized else ())
    torch.version = types.SimpleNamespace(hip=None, cuda="13.0")
    torch._C = types.SimpleNamespace(**FUNCTIONS)
    torch.cuda = types.SimpleNamespace(
        CUDAGraph=Graph,
        graph=graph,
        is_initialized=lambda: gpu.is_initialized,
        is_available=lambda: True,
        current_device=lambda: gpu.device,
        memory_allocated=lambda device: memory_stats(device)["allocated_bytes"]["all"]["current"],
        memory_reserved=lambda device: memory_stats(device)["reserved_bytes"]["all"]["current"],
        max_memory_allocated=lambda device: memory_stats(device)["allocated_bytes"]["all"]["peak"],
        _lazy_call=lambda call: call() if gpu.is_initialized else gpu.queued.append(call),
    )
    sys.modules["torch"] = torch
    atexit.register(_end, os.getpid())
    return gpu


def install_driver() -> None:
    """Let ``ctypes`` find the driver's own library: what it is asked there changes no last error of the runtime."""
    prototype = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
    query = prototype(lambda event: 0 if gpu.query(_events[event].at_ms, clears_last_error=False) else 600)

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int))
    def is_capturing(stream: int, status: Any) -> int:
        gpu.counts["is_capturing"] += 1
        status[0] = int(gpu.is_capturing(divmod(stream - 1, 1000)))
        return 0

    library, real = types.SimpleNamespace(cuEventQuery=query, cuStreamIsCapturing=is_capturing), ctypes.PyDLL

    def load(name: str, *arguments: Any) -> Any:
        return library if name == "libcuda.so.1" else real(name, *arguments)

    ctypes.PyDLL = load  # type: ignore[misc, assignment]


def _end(pid: int) -> None:
    """Whoever recorded has dropped what was raised."""
    if gpu.violations and os.getpid() == pid:
        print(*gpu.violations, sep="\n", file=sys.stderr, flush=True)
        sys.stdout.flush()
        os._exit(BROKEN)
