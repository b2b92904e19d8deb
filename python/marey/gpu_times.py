"""GPU time of sections by torch's own events, which nobody waits for; CUDA and ROCm alike.

The first sections of a program look whether it has imported torch. Then torch itself says when CUDA is initialised
(its queue of lazy calls), and from there on each section is watched: an event is recorded at both ends, on the stream
on which its work runs (``work_device``), and read later, when ``query`` says that it is done. ``MAREY_GPU_TIMES=0``
keeps it off, and ``MAREY_SECTION_MEMORY=0`` the allocator's figures, which are read at both ends, too.
"""

from __future__ import annotations

import operator
import os
import sys

from marey import _core, graph_captures, work_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def watch() -> bool:
    """Measure from the moment that torch has CUDA initialised; now, if it has. Never raises.

    Returns:
        Nobody has to ask again: it is arranged, or cannot be. False while torch is not imported yet.
    """
    torch: Any = sys.modules.get("torch")
    try:
        if torch is None or getattr(torch.__spec__, "_initializing", False):
            return False
        _give_ranges(torch)
        if not hasattr(torch._C, "_cuda_getDeviceCount"):
            return True  # A torch without CUDA.
        if torch.cuda.is_initialized():
            _begin()
        else:
            torch.cuda._lazy_call(_begin)
    except Exception:
        # Another torch than those that are known: nothing is measured with it.
        return True
    return True


def _begin() -> None:
    """CUDA is initialised, or just being so. Never raises, because torch would hand that to the program."""
    torch: Any = sys.modules.get("torch")
    try:
        work_device.watch(torch._C)
        if _is_wanted("MAREY_GPU_TIMES"):
            _start(torch)
        if _is_wanted("MAREY_SECTION_MEMORY"):
            _core.start_section_memory(torch._C._cuda_memoryStats)
    except Exception:
        # As above.
        return


def _give_ranges(torch: Any) -> None:  # noqa: ANN401
    """By which sections are ranges of torch's profiler and of NVTX, if that is asked for."""
    nvtx = getattr(torch.cuda, "nvtx", None) if hasattr(torch._C, "_cuda_getDeviceCount") else None

    def begin(name: str) -> tuple[Any, Any]:
        recorded = torch.autograd.profiler.record_function(name)
        recorded.__enter__()
        return recorded, nvtx and nvtx.range_start(name)

    def end(begun: tuple[Any, Any]) -> None:
        recorded, number = begun
        if nvtx is not None:
            nvtx.range_end(number)
        recorded.__exit__(None, None, None)

    _core.set_section_ranges(begin, end)


def _start(torch: Any) -> None:  # noqa: ANN401
    # Functions that are written in C: nothing of the program runs between a section and its events.
    event, query = event_and_query(torch._C._CudaEventBase)
    graph_captures.tell(torch)
    _core.start_gpu_times(
        how="HIP events" if getattr(torch.version, "hip", None) else "CUDA events",
        undo=graph_captures.forget,
        new_event=event,
        record=event.record,
        query=query,
        elapsed=event.elapsed_time,
    )


def event_and_query(base: type[Any]) -> tuple[type[Any], Callable[[Any], bool]]:
    """The kind of events to record, made of torch's, and what tells whether one is done; written in C both.

    Torch's ``query`` takes the thread's last error away when an event is not done: CUDA's runtime notes that as an
    error, too. A launch of the program that failed before, and was not looked at yet, would then seem to have worked.
    The driver's own library has no last error, so it is asked where it is there; a broken context is an event that is
    never done. On ROCm torch is asked, with that effect.
    """
    try:
        import ctypes

        # With the GIL, as torch asks: no other thread begins a capture meanwhile.
        query = ctypes.PyDLL("libcuda.so.1").cuEventQuery
    except (OSError, AttributeError):
        return base, base.query
    query.argtypes = (ctypes.c_void_p,)
    # 0 is done; 600 is not, and everything else is no answer.
    query.restype = operator.not_

    class Event(base):
        __slots__ = ()
        _as_parameter_ = base.cuda_event

    return Event, query


def _is_wanted(variable: str) -> bool:
    return os.environ.get(variable, "").strip().lower() not in {"0", "false", "no", "off"}


os.register_at_fork(after_in_child=_core.forget_device_watch)
