"""The decorator that times functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any, ParamSpec, TypeVar, cast

from marey import _core

P = ParamSpec("P")
R = TypeVar("R")


def profile_function(name: str | None = None, enabled: bool = True) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Record the time of each call of the decorated function.

    Coroutines are timed from their first step to their end, awaits included; generators and async generators while they run, without what
    their consumer does between two items. Works on methods, static and class methods. Signature, docstring, results
    and exceptions stay as they are. Adds about 25 ns to a call of a plain function.

    Args:
        name: Name of the section; default ``module.qualified_name``. ``@profile_function`` without parentheses is fine.
        enabled: False returns the function itself.
    """
    if callable(name):  # @profile_function
        return cast("Callable[[Callable[P, R]], Callable[P, R]]", _profiled(name, None))

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        return cast("Callable[P, R]", _profiled(function, name)) if enabled else function

    return decorate


def _profiled(function: Any, name: str | None) -> Any:  # noqa: ANN401
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(_profiled(function.__func__, name))
    section = name if name is not None else f"{function.__module__}.{function.__qualname__}"
    if inspect.isasyncgenfunction(function):
        return _async_generator(function, section)
    if inspect.isgeneratorfunction(function):
        return _generator(function, section)
    if inspect.iscoroutinefunction(function):
        return _coroutine(function, section)
    wrapped = _core.wrap_function(function, section)
    return wrapped if wrapped is function else functools.update_wrapper(wrapped, function)


def _coroutine(function: Callable[..., Any], section: str) -> Callable[..., Any]:
    @functools.wraps(function)
    async def coroutine(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        with _core.profile_section(section):
            return await function(*args, **kwargs)

    return coroutine


def _generator(function: Callable[..., Any], section: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def generator(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:  # noqa: ANN401
        run = _core.PausedSection(section)
        failed = True
        try:
            with run:
                inner = function(*args, **kwargs)
            result = yield from _Resumed(inner, run)
            failed = False
            return result
        except GeneratorExit:
            failed = False
            raise
        finally:
            run.finish(failed)

    return generator


class _Resumed:
    """An iterator for ``yield from`` that is in the section whenever the inner generator runs."""

    def __init__(self, inner: Generator[Any, Any, Any], run: _core.PausedSection) -> None:
        self.inner = inner
        self.run = run

    def __iter__(self) -> _Resumed:
        return self

    def __next__(self) -> Any:  # noqa: ANN401
        with self.run:
            return next(self.inner)

    def send(self, value: Any) -> Any:  # noqa: ANN401
        with self.run:
            return self.inner.send(value)

    def throw(self, *error: Any) -> Any:  # noqa: ANN401
        with self.run:
            return self.inner.throw(*error)

    def close(self) -> None:
        with self.run:
            self.inner.close()


def _async_generator(function: Callable[..., Any], section: str) -> Callable[..., Any]:
    @functools.wraps(function)
    async def async_generator(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:  # noqa: ANN401
        run = _core.PausedSection(section)
        inner = function(*args, **kwargs)
        failed = True
        try:
            step = inner.__anext__
            while True:
                try:
                    with run:
                        item = await step()
                except StopAsyncIteration:
                    break
                try:
                    sent = yield item
                except GeneratorExit:
                    failed = False
                    with run:
                        await inner.aclose()
                    raise
                except BaseException as error:
                    step = functools.partial(inner.athrow, error)
                else:
                    step = inner.__anext__ if sent is None else functools.partial(inner.asend, sent)
            failed = False
        finally:
            run.finish(failed)

    return async_generator
