"""What Marey puts in the place of functions of classes and modules, and how it comes out again."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_MISSING = object()


def put(owner: Any, name: str, ours: Any) -> Callable[[], bool]:  # noqa: ANN401
    """Put a function into a class or module.

    Returns:
        What puts back exactly what was there. False where somebody has put something else there since, which stays.
    """
    before = owner.__dict__.get(name, _MISSING)
    setattr(owner, name, ours)

    def take_back() -> bool:
        if owner.__dict__.get(name) is not ours:
            return False
        if before is _MISSING:  # It was a base class's.
            delattr(owner, name)
        else:
            setattr(owner, name, before)
        return True

    return take_back
