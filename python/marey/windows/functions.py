"""The decorator that records calls in windows of torch's profiler."""

from __future__ import annotations

from marey.windows.context import ProfilerContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])


def profile_function(
    enabled: bool = True,
    activities: Iterable[str] | None = None,
    output_dir: str | os.PathLike[str] | None = None,
    profile_name: str | None = None,
    with_stack: bool = False,
    record_shapes: bool = True,
    **more: Any,  # noqa: ANN401
) -> Callable[[F], F]:
    """Record each call of the decorated function in a window of its own; later ones get a number in their names.

    Coroutines, generators and async generators are recorded from their first step to their last, with what runs in the
    same thread meanwhile. A call inside another one's window, or while one is open, is not recorded.

    Args:
        enabled: False returns the function itself.
        activities: As of ``ProfilerContext``, with everything that follows.
        output_dir: As there.
        profile_name: Default: the function's name.
        with_stack: As there.
        record_shapes: As there.
        more: As there.
    """
    settings: dict[str, Any] = {"with_stack": with_stack, "record_shapes": record_shapes, **more}
    if activities is not None:
        settings["activities"] = activities if isinstance(activities, str) else tuple(activities)
    if enabled:
        ProfilerContext(True, profile_name="check", **settings)

    def decorate(function: F) -> F:
        return _decorated(function, output_dir, profile_name, settings) if enabled else function

    return decorate


def _decorated(function: Any, output_dir: Any, name: str | None, settings: dict[str, Any]) -> Any:  # noqa: ANN401
    from marey.functions import in_section, name_of_function, wrap

    chosen = name_of_function(function).rpartition(".")[2] if name is None else name

    def context(_args: object, _kwargs: object) -> ProfilerContext:
        return ProfilerContext(True, output_dir=output_dir, profile_name=chosen, **settings)

    def plain(function: Any) -> Any:  # noqa: ANN401
        def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            with context(args, kwargs):
                return function(*args, **kwargs)

        return call

    return wrap(
        function,
        plain=plain,
        coroutine=lambda function: in_section(function, context),
        run=lambda args, kwargs: _GeneratorRun(context(args, kwargs)),
    )


class _GeneratorRun:
    """The window of a generator: opened when it first runs, stopped when it has ended."""

    def __init__(self, context: ProfilerContext) -> None:
        self._context = context
        self._has_run = False

    def __enter__(self) -> None:
        if not self._has_run:
            self._has_run = True
            self._context.open()

    def __exit__(self, *_exception: object) -> None:
        pass

    def finish(self, is_failed: bool, _result: object = None) -> None:
        self._context.__exit__(Exception if is_failed else None)
