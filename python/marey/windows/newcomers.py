"""Other profilers of torch that start while a window is open.

Kineto, which both use, gives way to the newcomer and crashes when the first one is stopped afterwards. So the window
stops before the newcomer starts::

    window      |========|  stopped, exported
    newcomer             |======================|
"""

from __future__ import annotations

import threading
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any


class _Ours(threading.local):
    """Whether this thread is starting a window's own profiler."""

    is_starting = False


_ours = _Ours()


@contextmanager
def ours() -> Generator[None]:
    """What starts in this block is the window's own."""
    was_starting, _ours.is_starting = _ours.is_starting, True
    try:
        yield
    finally:
        _ours.is_starting = was_starting


def watch(torch: Any, make_way: Callable[[], None]) -> Callable[[], None]:  # noqa: ANN401
    """Call ``make_way`` before another profiler starts, in its thread; what comes back ends this."""
    kind: Any = torch.autograd.profiler.profile
    own: dict[str, Any] = dict(kind.__dict__)
    name = "_prepare_trace" if "_prepare_trace" in own else "__enter__"
    before = own[name]

    def begins(profiler: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        if not _ours.is_starting:
            make_way()
        return before(profiler, *args, **kwargs)

    setattr(kind, name, begins)

    def leave() -> None:
        if kind.__dict__.get(name) is begins:
            setattr(kind, name, before)

    return leave
