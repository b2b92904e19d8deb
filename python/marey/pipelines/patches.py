"""What is put into a user's objects, and how it comes out again.

Nothing is put into a class: values go into the ``__dict__`` of single objects, where they hide what the class has, and
come out when they are taken back, in the opposite order. What somebody has put over them since stays. Copies and
pickles of the objects are without them: what is recorded is the original.

```text
                   put                 take back
vae.__dict__       {"decode": Method}  {}                    as before
pipe.vae.decode()  Method ─► around ─► the class's decode
```
"""

from __future__ import annotations

import copy
import inspect
import sys
import weakref
from typing import TYPE_CHECKING, Any, cast

from marey import _core

if TYPE_CHECKING:
    from collections.abc import Callable

    Call = Callable[..., Any]
    Around = Callable[[Call, tuple[Any, ...], dict[str, Any]], Any]

_MISSING = object()
_STATE = "__getstate__"
"""Where ``copy`` and ``pickle`` ask an object for its values, before they look in its class."""
_passed_over: set[str] = set()


def pass_over(what: str, error: BaseException) -> None:
    """Note once in a process that something could not be instrumented, as the event ``not_instrumented``."""
    if what not in _passed_over:
        _passed_over.add(what)
        _core.event("not_instrumented", what=what, reason=f"{type(error).__name__}: {error}"[:200])


def values_of(owner: Any) -> dict[str, Any]:  # noqa: ANN401
    """The ``__dict__`` of an object."""
    return cast("dict[str, Any]", vars(owner))


def kind_of(owner: Any) -> Any:  # noqa: ANN401
    """The class of an object."""
    return cast("Any", type(owner))


def owner_of(call: Any) -> Any:  # noqa: ANN401
    """The object of a bound method; None for another callable."""
    return getattr(call, "__self__", None)


def is_compiling() -> Callable[[], bool]:
    """Torch's function that says whether the code is being traced by a compiler; one that denies it without torch."""
    compiler: Any = getattr(sys.modules.get("torch"), "compiler", None)
    return cast("Callable[[], bool]", getattr(compiler, "is_compiling", bool))


provisional: weakref.WeakKeyDictionary[Any, Callable[[], None]] = weakref.WeakKeyDictionary()
"""What takes out of an object what gives way to the patches of a pipeline that gets it."""


def release(owner: Any) -> None:  # noqa: ANN401
    """Take it out, if there is any."""
    try:
        take_back = provisional.pop(owner, None)
    except TypeError:
        # An object without room for a reference has none.
        return
    if take_back is not None:
        take_back()


class Patches:
    """Values in the ``__dict__`` of objects, which are kept alive by nobody here."""

    def __init__(self) -> None:
        """None yet."""
        self._each: list[tuple[Callable[[], Any], str, Any, Any]] = []

    def put(self, owner: Any, key: str, value: Any) -> None:  # noqa: ANN401
        """Put a value into an object, past its ``__setattr__``."""
        values = values_of(owner)
        self._each.append((reference_to(owner), key, value, values.get(key, _MISSING)))
        values[key] = value

    def wrap(self, owner: Any, key: str, around: Around) -> None:  # noqa: ANN401
        """Put a ``Method`` into an object in place of one that it has; nothing where it has none or one is there."""
        if isinstance(values_of(owner).get(key), Method) or not callable(getattr(owner, key, None)):
            return
        self.put(owner, key, Method(owner, key, around))
        if not isinstance(values_of(owner).get(_STATE), Method):
            self.put(owner, _STATE, Method(owner, _STATE, _bare))

    def take_back(self) -> None:
        """Take everything out that is still in its place. Doing it again changes nothing."""
        each, self._each = self._each, []
        for reference, key, value, before in reversed(each):
            if isinstance(value, Method):
                value.is_active = False
            owner = reference()
            values: dict[str, Any] = {} if owner is None else values_of(owner)
            if values.get(key) is not value:
                continue
            if before is _MISSING:
                del values[key]
            else:
                values[key] = before


class Method:
    """A method of one object with something around it; looks like the method from outside."""

    def __init__(self, owner: Any, key: str, around: Around) -> None:  # noqa: ANN401
        """Take what the object has under this name now."""
        self.key = key
        self.is_active = True
        self._owner = reference_to(owner)
        self._around = around
        self.own = values_of(owner).get(key)
        """What the object itself had in its place."""
        self._before = self.own
        if self.own is None and key != _STATE and not hasattr(kind_of(owner), key):
            # What a wrapper has is another object's.
            self._before = getattr(owner, key)
        self._function = None if self._before is not None else _plain_function(owner, key)
        self._is_compiling = is_compiling()
        self._traced = self._out_of_graphs(getattr(owner, key, None))

    def _out_of_graphs(self, method: Any) -> Callable[..., Any] | None:  # noqa: ANN401
        """What a compiler calls instead of tracing it, where the method is not for graphs anyway."""
        compiler: Any = getattr(sys.modules.get("torch"), "compiler", None)
        is_disabled = getattr(method, "_torchdynamo_disable", False) and hasattr(compiler, "disable")
        return compiler.disable(self._run) if is_disabled else None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """Call the method."""
        if not self._is_compiling():
            return self._run(*args, **kwargs)
        # A compiler that traces this sees the method only.
        if self._traced is not None:
            return self._traced(*args, **kwargs)
        if self._function is not None:
            return self._function(self._owner(), *args, **kwargs)
        return self.__wrapped__(*args, **kwargs)

    def _run(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        call = self.__wrapped__
        return self._around(call, args, kwargs) if self.is_active else call(*args, **kwargs)

    @property
    def __wrapped__(self) -> Any:  # noqa: ANN401
        """The method itself, bound."""
        return self._before if self._before is not None else self._of(self._owner())

    def _of(self, owner: Any) -> Any:  # noqa: ANN401
        # Before Python 3.11 few objects have a state of their own: of the others it is their values.
        return inspect.getattr_static(kind_of(owner), self.key, values_of).__get__(owner, kind_of(owner))

    @property
    def __doc__(self) -> str | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The method's."""
        return self.__wrapped__.__doc__

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """Everything else is the method's, too."""
        return getattr(self.__wrapped__, name)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:  # noqa: ANN401
        """The copied object's own; itself where values of the object are copied without it."""
        copied = memo.get(id(self._owner()))
        if copied is None:
            return self
        return self._of(copied) if self._before is None else copy.deepcopy(self._before, memo)

    def __reduce__(self) -> tuple[Any, tuple[Any, str]]:
        """In another process: the object's own."""
        return getattr, (self._owner(), self.key)


def _bare(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
    """What is copied or pickled of an object, as it would be without a ``Method`` in it."""
    state = call(*args, **kwargs)
    if not isinstance(state, dict):
        return state
    return {
        key: value.own if isinstance(value, Method) else value
        for key, value in cast("dict[str, Any]", state).items()
        if not isinstance(value, Method) or value.own is not None
    }


def _plain_function(owner: Any, key: str) -> Any:  # noqa: ANN401
    function = inspect.getattr_static(kind_of(owner), key, None)
    return function if inspect.isfunction(function) else None


def reference_to(owner: Any) -> Callable[[], Any]:  # noqa: ANN401
    """What gives an object as long as it lives, for ever where it has no room for such a reference."""
    try:
        return weakref.ref(owner)
    except TypeError:
        return lambda: owner
