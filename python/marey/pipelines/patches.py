"""What is put into a user's objects, and how it comes out again.

Nothing is put into a class: values go into the ``__dict__`` of single objects, where they hide what the class has, and
come out when they are taken back, in the opposite order. What somebody has put over them since stays.

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
    """A method of one object with something around it; looks like the method from outside.

    A copy of the object gets the method of its class again: what is recorded is the original.
    """

    def __init__(self, owner: Any, key: str, around: Around) -> None:  # noqa: ANN401
        """Take what the object has under this name now."""
        self.key = key
        self.is_active = True
        self._owner = reference_to(owner)
        self._around = around
        self._before = values_of(owner).get(key)
        if self._before is None and not hasattr(kind_of(owner), key):
            # What a wrapper has is another object's.
            self._before = getattr(owner, key)
        self._function = None if self._before is not None else _plain_function(owner, key)
        self._is_compiling = is_compiling()
        self._traced = self._out_of_graphs(getattr(owner, key))

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
        return inspect.getattr_static(kind_of(owner), self.key).__get__(owner, kind_of(owner))

    @property
    def __doc__(self) -> str | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The method's."""
        return self.__wrapped__.__doc__

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """Everything else is the method's, too."""
        return getattr(self.__wrapped__, name)

    def __copy__(self) -> Method:
        """A shallow copy shares it."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:  # noqa: ANN401
        """The copied object's own."""
        if self._before is not None:
            return copy.deepcopy(self._before, memo)
        owner = self._owner()
        return self._of(memo.get(id(owner), owner))

    def __reduce__(self) -> tuple[Any, tuple[Any, str]]:
        """In another process: the object's own."""
        return getattr, (self._owner(), self.key)


def _plain_function(owner: Any, key: str) -> Any:  # noqa: ANN401
    function = inspect.getattr_static(kind_of(owner), key, None)
    return function if inspect.isfunction(function) else None


def reference_to(owner: Any) -> Callable[[], Any]:  # noqa: ANN401
    """What gives an object as long as it lives, for ever where it has no room for such a reference."""
    try:
        return weakref.ref(owner)
    except TypeError:
        return lambda: owner
