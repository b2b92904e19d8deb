"""The decorator that times functions, and what all decorators make of one: ``wrap``."""

from __future__ import annotations

from marey import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator
    from typing import Any, ParamSpec, TypeVar, overload

    P = ParamSpec("P")
    R = TypeVar("R")

    Finish = Callable[[bool, object], None]
    Begin = Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, Finish | None]]
    """What measures a call: entered whenever its code runs; and what gets its end, whether it failed and its result.

    Only of generators a failure is reported.
    """

    @overload
    def profile_function(name: Callable[P, R]) -> Callable[P, R]: ...
    @overload
    def profile_function(
        name: str | None = None, enabled: bool = True
    ) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def profile_function(name: Any = None, enabled: bool = True) -> Any:
    """Record the time of each call of the decorated function.

    Coroutines are timed from their first step to their end, awaits included; generators and async generators while
    they run, without what their consumer does between two items. Works on methods, properties (cached ones, too),
    static, class and partial methods; of a class the making of its objects is timed. Signature, docstring, results and
    exceptions stay as they are. Adds about 30 ns to a call of a plain function.

    Args:
        name: Name of the section; default ``module.qualified_name``. ``@profile_function`` without parentheses is fine.
        enabled: False returns the function itself.
    """

    def decorate(function: Any, name: str | None) -> Any:  # noqa: ANN401
        if not enabled:
            return function
        section = name_of_function(function) if name is None else name
        return wrap(
            function,
            lambda _args, _kwargs: (_core.profile_section(section), None),
            pausing=lambda _args, _kwargs: paused(_core.PausedSection(section)),
            plain=lambda function: _core.wrap_function(function, section),
        )

    return named(name, decorate)


def is_decoratable(given: Any) -> bool:  # noqa: ANN401
    """Whether it is a function, a class, or something of both that a class holds, such as a property: no name."""
    return callable(given) or hasattr(given.__class__, "__get__")


def function_in(decorated: Any) -> Any:  # noqa: ANN401
    """The function that runs where a property, or a static, class or partial method is used; else what is given."""
    if isinstance(decorated, type):
        return decorated.__init__
    found = getattr(decorated, "fget", None) or getattr(decorated, "__func__", decorated)
    return found if callable(found) else getattr(found, "func", found)


def in_section(function: Any, section: Any, paused_section: Callable[[], _core.PausedSection]) -> Any:  # noqa: ANN401
    """What ``@profile_section(…)`` makes of a function. The section may be entered again while it is open."""
    return wrap(
        function,
        lambda _args, _kwargs: (section, None),
        pausing=lambda _args, _kwargs: paused(paused_section()),
    )


def named(given: Any, decorate: Callable[[Any, Any], Any]) -> Any:  # noqa: ANN401
    """What a decorator returns that is given a name, or without parentheses what it decorates.

    Args:
        given: The one or the other.
        decorate: Makes the decorated function of one and the name; without parentheses that is None.
    """
    if is_decoratable(given):
        return decorate(given, None)

    def decorator(function: Any) -> Any:  # noqa: ANN401
        return decorate(function, given)

    return decorator


def paused(section: _core.PausedSection | _core.PausedSession) -> tuple[Any, Finish]:
    """What measures a generator with a section that stands still while it does."""
    return section, section.finish


def wrap(
    function: Any,  # noqa: ANN401
    begin: Begin,
    *,
    pausing: Begin | None = None,
    plain: Callable[[Any], Any] | None = None,
) -> Any:  # noqa: ANN401
    """What a decorator makes of a function, method, property or other callable, looking like it from outside.

    Args:
        function: What is decorated.
        begin: What measures one call, from its arguments.
        pausing: What measures a generator or an async generator; default ``begin``.
        plain: Makes the wrapper of a plain function, where there is a faster one.
    """
    # These take a while to import; a program that never decorates does without.
    import functools
    import inspect

    again = functools.partial(wrap, begin=begin, pausing=pausing, plain=plain)
    if _is(function, type):
        # It stays a class. What makes its objects without a function of Python's is left alone.
        made = function.__init__
        if inspect.isfunction(made) or hasattr(made, "__wrapped__"):
            function.__init__ = again(made)
        return function
    if _is(function, staticmethod, classmethod):
        return type(function)(again(function.__func__))
    if _is(function, property):
        return function.getter(again(function.fget))
    if _is(function, functools.cached_property):
        return type(function)(again(function.func))
    if _is(function, functools.partialmethod):
        return type(function)(again(function.func), *function.args, **function.keywords)
    has_code = _is(function, functools.partial) or hasattr(inspect.unwrap(function), "__code__")
    # What runs when any other object is called is its class's method.
    code = function if has_code else type(function).__call__
    wrapped: Any
    if inspect.isasyncgenfunction(code):
        wrapped = _async_generator(function, pausing or begin)
    elif inspect.iscoroutinefunction(code):
        wrapped = _coroutine(function, begin)
    elif inspect.isgeneratorfunction(code):
        wrapped = _generator(function, pausing or begin)
        if getattr(getattr(code, "__code__", None), "co_flags", 0) & inspect.CO_ITERABLE_COROUTINE:
            import types

            wrapped = types.coroutine(wrapped)
    else:
        wrapped = _plain(function, begin) if plain is None else plain(function)
    if wrapped is not function:
        functools.update_wrapper(wrapped, function)
    return wrapped


def _is(value: Any, *kinds: type) -> bool:  # noqa: ANN401
    return isinstance(value, kinds)


def name_of_function(function: Any) -> str:  # noqa: ANN401
    """Module and qualified name: of a ``partial`` its function's, of a property its getter's, else the class's."""
    if _is(function, property) and function.fget is not None:
        function = function.fget
    while not hasattr(function, "__qualname__") and hasattr(function, "func"):
        function = function.func
    if not hasattr(function, "__qualname__"):
        function = function.__class__
    return f"{getattr(function, '__module__', None) or 'unknown'}.{function.__qualname__}"


def _plain(function: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        running, finish = begin(args, kwargs)
        with running:
            result = function(*args, **kwargs)
        if finish is not None:
            finish(False, result)
        return result

    return call


def _coroutine(function: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    async def coroutine(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        running, finish = begin(args, kwargs)
        with running:
            result = await function(*args, **kwargs)
        if finish is not None:
            finish(False, result)
        return result

    return coroutine


def _generator(function: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    def generator(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:  # noqa: ANN401
        running, finish = begin(args, kwargs)
        is_failed, result = True, None
        try:
            with running:
                inner = function(*args, **kwargs)
            result = yield from _Resumed(inner, running)
            is_failed = False
            return result
        except GeneratorExit:
            is_failed = False
            raise
        finally:
            if finish is not None:
                finish(is_failed, result)

    return generator


class _Resumed:
    """An iterator for ``yield from`` that is in the section whenever the inner generator runs."""

    def __init__(self, inner: Generator[Any, Any, Any], running: Any) -> None:  # noqa: ANN401
        self.inner = inner
        self.running = running

    def __iter__(self) -> Generator[Any, Any, Any]:
        return self  # type: ignore[return-value]  # it has all that `yield from` asks for

    def __next__(self) -> Any:  # noqa: ANN401
        with self.running:
            return next(self.inner)

    def send(self, value: Any) -> Any:  # noqa: ANN401
        with self.running:
            return self.inner.send(value)

    def throw(self, *error: Any) -> Any:  # noqa: ANN401
        with self.running:
            return self.inner.throw(*error)

    def close(self) -> None:
        with self.running:
            self.inner.close()


def _async_generator(function: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    async def async_generator(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:  # noqa: ANN401
        running, finish = begin(args, kwargs)
        is_failed = True
        try:
            with running:
                inner = function(*args, **kwargs)
            step: Any = inner.__anext__()
            while True:
                try:
                    with running:
                        item = await step
                except StopAsyncIteration:
                    break
                try:
                    sent = yield item
                except GeneratorExit:
                    with running:
                        await inner.aclose()
                    is_failed = False
                    raise
                except BaseException as error:
                    step = inner.athrow(error)
                else:
                    step = inner.__anext__() if sent is None else inner.asend(sent)
            is_failed = False
        finally:
            if finish is not None:
                finish(is_failed, None)

    return async_generator
