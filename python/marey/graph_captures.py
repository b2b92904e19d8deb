"""Tells of graphs whose capture torch begins, and how to ask whether it goes on.

::

    capture_begin |---- nothing is recorded or asked ----| the stream says that it is captured no more

``crates/marey-python/src/devices/captures.rs`` asks.
"""

from __future__ import annotations

from functools import partial

from marey import _core
from marey.replacements import put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def tell(torch: Any) -> None:  # noqa: ANN401
    """Note each graph whose capture begins from now on."""
    graph: type[Any] = torch.cuda.CUDAGraph
    if _put and all(vars(graph).get(name) is ours for name, (ours, _) in _put.items()):
        return
    begin: Callable[..., Any] = graph.capture_begin
    end: Callable[..., Any] = graph.capture_end

    def capture_begin(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        # Its stream says so only later.
        _core.note_capture(id(self), ())
        try:
            result = begin(self, *args, **kwargs)
        except BaseException:
            _core.note_capture(id(self), None)
            raise
        _core.note_capture(id(self), _status(torch._C))
        return result

    def capture_end(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        try:
            return end(self, *args, **kwargs)
        finally:
            _core.note_capture(id(self), None)

    for name, ours, theirs in (("capture_begin", capture_begin, begin), ("capture_end", capture_end, end)):
        ours.__doc__ = theirs.__doc__
        ours.__name__ = ours.__qualname__ = theirs.__name__
        _put[name] = (ours, put(graph, name, ours))


def forget() -> None:
    """Put torch's own functions back, unless somebody else has put theirs in the place of Marey's."""
    for _, take_back in _put.values():
        take_back()
    _put.clear()


def _status(c: Any) -> tuple[Callable[[], bool], ...]:  # noqa: ANN401
    """Functions written in C, of which one says so while the stream that is current now is captured.

    Torch's own, or else of the driver; none where neither tells, and `capture_end` has to.
    """
    try:
        stream_id, device, kind = c._cuda_getCurrentStream(c._cuda_getDevice())
        stream = c._CudaStreamBase(stream_id=stream_id, device_index=device, device_type=kind)
        if hasattr(stream, "is_capturing"):
            return (stream.is_capturing,)

        import ctypes

        ask = ctypes.PyDLL("libcuda.so.1").cuStreamIsCapturing
        ask.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
        status: Any = ctypes.c_int()
        # Asked in this order: the driver fills the status and returns an error code. An error is of a stream that
        # nobody may ask now, and counts as captured.
        return (partial(ask, stream.cuda_stream, ctypes.addressof(status)), status.__bool__)
    except Exception:
        # Another torch, and no driver of this kind.
        return ()


# What stands for torch's functions by their names, and what takes it out.
_put: dict[str, tuple[Any, Callable[[], bool]]] = {}
