"""GPU time of sections by torch's own events, which nobody waits for; CUDA and ROCm alike.

The first sections of a program look whether it has imported torch. Then torch itself says when CUDA is initialised
(its queue of lazy calls), and from there on each section is watched: an event is recorded on the current stream at
both ends, and read later, when ``query`` says that it is done. ``MAREY_GPU_TIMES=0`` keeps it off.
"""

from __future__ import annotations

import os
import sys

from marey import _core, section_memory

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
        if _is_wanted("MAREY_GPU_TIMES"):
            _start(torch)
        if _is_wanted("MAREY_SECTION_MEMORY"):
            section_memory.begin(torch)
    except Exception:
        # As above.
        return


def _start(torch: Any) -> None:  # noqa: ANN401
    # Functions of torch's C part: nothing of the program runs between a section and its events.
    c = torch._C
    event: Any = c._CudaEventBase
    _tell_captures(torch.cuda.CUDAGraph)
    _core.start_gpu_times(
        how="HIP events" if getattr(torch.version, "hip", None) else "CUDA events",
        new_event=event,
        new_stream=c._CudaStreamBase,
        record=event.record,
        query=event.query,
        elapsed=event.elapsed_time,
        current_device=c._cuda_getDevice,
        current_stream=c._cuda_getCurrentStream,
        is_capturing=c._cuda_isCurrentStreamCapturing,
    )


def _is_wanted(variable: str) -> bool:
    return os.environ.get(variable, "").strip().lower() not in {"0", "false", "no", "off"}


def _tell_captures(graph: Any) -> None:  # noqa: ANN401
    """Let nothing be recorded or asked while a graph is captured, in whatever thread: it would break the capture.

    ::

        capture_begin |---- nothing ----| capture_end
    """
    if hasattr(graph.capture_begin, "__marey__"):
        return
    begin: Callable[..., Any] = graph.capture_begin
    end: Callable[..., Any] = graph.capture_end

    def capture_begin(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        _core.graph_capture(True)
        try:
            return begin(*args, **kwargs)
        except BaseException:
            _core.graph_capture(False)
            raise

    def capture_end(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        try:
            return end(*args, **kwargs)
        finally:
            _core.graph_capture(False)

    for ours, theirs in ((capture_begin, begin), (capture_end, end)):
        ours.__doc__ = theirs.__doc__
        ours.__name__ = ours.__qualname__ = theirs.__name__
        setattr(ours, "__marey__", theirs)  # noqa: B010
    graph.capture_begin = capture_begin
    graph.capture_end = capture_end


os.register_at_fork(after_in_child=_core.forget_device_watch)
