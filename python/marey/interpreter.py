"""Which interpreters Marey records in: the main one of a process, of a Python with the GIL. Refuses others."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def refusal(abiflags: str, is_main: bool) -> str | None:
    """Why Marey cannot record here, in one sentence; None where it can.

    Args:
        abiflags: ``sys.abiflags``, which holds a ``t`` in a free-threaded build.
        is_main: The interpreter is the main one of its process.
    """
    if "t" in abiflags:
        return (
            "Marey needs the GIL, and this Python is free-threaded; use the build of the same version without the 't'"
        )
    if not is_main:
        return "Marey records in the main interpreter only, and this is a subinterpreter"
    return None


def is_main_interpreter() -> bool:
    """Whether this interpreter is the main one of its process. Costs some 0.3 ms before 3.13."""
    import _thread

    is_main: Callable[[], bool] | None = getattr(_thread, "_is_main_interpreter", None)
    if is_main is not None:
        return is_main()
    try:
        import _xxsubinterpreters
    except ImportError:
        return True
    interpreters: Any = _xxsubinterpreters
    return interpreters.get_current() == interpreters.get_main()


_refusal = refusal(sys.abiflags, is_main_interpreter())
if _refusal is not None:
    raise ImportError(_refusal, name="marey")
