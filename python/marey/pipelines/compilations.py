"""Time that ``torch.compile`` takes, apart from the call that it happens in.

Torch tells listeners when a compilation begins and ends. The first one of a piece of code is the section ``compile``,
each later one ``recompile``; the attribute ``id`` is what torch calls it.
"""

from __future__ import annotations

import re
import sys
import threading
from typing import Any

from marey import _core

_NUMBERS = re.compile(r"(\d+)/(\d+)")


class _Open(threading.local):
    def __init__(self) -> None:
        self.sections: list[Any] = []


_open = _Open()
# A pipeline may go while another one starts, in the same thread: the garbage collector runs whenever it wants.
_change = threading.RLock()
_listening: set[int] = set()


class Listener:
    """Records compilations from ``start`` to ``stop``; several of them record each once."""

    def start(self) -> None:
        """Listen, as soon as there is a compiler; nothing when that is done already."""
        handler = _handler()
        with _change:
            if handler is None:
                return
            _listening.add(id(self))
            # ``torch._dynamo.reset()`` forgets all listeners.
            if _begin not in handler.start_callbacks:
                handler.register_start_callback(_begin)
                handler.register_end_callback(_end)

    def stop(self) -> None:
        """Listen no more."""
        with _change:
            if id(self) in _listening:
                _listening.remove(id(self))
                if not _listening:
                    _leave(_handler())

    def __del__(self) -> None:
        """The pipeline is gone."""
        try:
            self.stop()
        except Exception:
            # The interpreter ends.
            return


def _handler() -> Any:  # noqa: ANN401
    """Torch's list of listeners; None while no compiler is imported, or where it has none."""
    module = sys.modules.get("torch._dynamo.callback")
    return getattr(module, "callback_handler", None)


def _leave(handler: Any) -> None:  # noqa: ANN401
    for listeners, ours in (("start_callbacks", _begin), ("end_callbacks", _end)):
        left = getattr(handler, listeners, [])
        if ours in left:
            left.remove(ours)


def _begin(about: Any = None) -> None:  # noqa: ANN401
    try:
        identity = str(getattr(about, "compile_id", ""))
        numbers = _NUMBERS.search(identity)
        is_first = numbers is None or numbers[2] == "0"
        section = _core.profile_section("compile" if is_first else "recompile", id=identity)
        section.__enter__()
        _open.sections.append(section)
    except Exception:
        # Whatever torch calls it with: the compilation goes on.
        return


def _end(_about: Any = None) -> None:  # noqa: ANN401
    if _open.sections:
        _open.sections.pop().__exit__(None, None, None)
