"""Steps of diffusers' schedulers, told while somebody listens, where no pipeline is instrumented.

The classes' ``step`` is wrapped from when the first window opens until the last one closes, and put back exactly.
"""

from __future__ import annotations

import functools
import sys
import threading

from marey import denoising_steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_change = threading.Lock()
_users = 0
_wrapped: list[tuple[type, Any, Any]] = []


def listen(listener: Callable[[], None]) -> Callable[[], None]:
    """Call ``listener`` at the end of each denoising step; what comes back ends this."""
    global _users
    leave = denoising_steps.listen(listener)
    with _change:
        _users += 1
        if _users == 1:
            _wrap()
    is_over = False

    def end() -> None:
        nonlocal is_over
        global _users
        if is_over:
            return
        is_over = True
        leave()
        with _change:
            _users -= 1
            if _users == 0:
                _unwrap()

    return end


def _wrap() -> None:
    module = sys.modules.get("diffusers.schedulers.scheduling_utils")
    base: type | None = getattr(module, "SchedulerMixin", None)
    kinds: set[type] = set() if base is None else set(_subclasses(base))
    for kind in kinds:
        step: Any = kind.__dict__.get("step")
        if callable(step):
            told = _told(step)
            kind.step = told  # type: ignore[attr-defined]
            _wrapped.append((kind, step, told))


def _unwrap() -> None:
    for kind, step, told in _wrapped:
        if kind.__dict__.get("step") is told:
            kind.step = step  # type: ignore[attr-defined]
    _wrapped.clear()


def _subclasses(kind: type) -> Iterator[type]:
    for child in kind.__subclasses__():
        yield child
        yield from _subclasses(child)


def _told(step: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(step)
    def told(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        begun = denoising_steps.begin()
        result = step(*args, **kwargs)
        denoising_steps.end(begun)
        return result

    return told
