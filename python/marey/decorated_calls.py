"""What the decorators of ``decorators.py`` do at each call: they measure it, and ask the user's functions about it."""

from __future__ import annotations

from marey import _core, denoising_steps
from marey.functions import wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    import inspect
    from collections.abc import Callable
    from typing import Any

    from marey.functions import Run


class Decorated:
    """A decorated function: what it is called with, and what there is to say about it."""

    def __init__(self, function: Any, decorator: str) -> None:  # noqa: ANN401
        """What is decorated, and the name of the decorator."""
        import inspect

        function = getattr(function, "fget", None) or getattr(function, "__func__", function)
        self.decorator = decorator
        self.name = getattr(function, "__qualname__", type(function).__qualname__)
        self.signature: inspect.Signature | None
        try:
            self.signature = inspect.signature(function)
        except (TypeError, ValueError):
            self.signature = None
        first = next(iter(self.signature.parameters), None) if self.signature else None
        self.has_owner = first in ("self", "cls")

    def profiler(self, args: tuple[Any, ...]) -> _core.ProfilerCore:
        """Whose profiler records a call."""
        return _core.profiler_of(args[0]) if self.has_owner and args else _core.profiler_of()

    def arguments(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The positional arguments without the object."""
        return args[1:] if self.has_owner else args

    def by_name(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The arguments of a call by name, without the object, and the defaults of those it was not given."""
        if self.signature is None:
            return dict(kwargs), {}
        given: dict[str, Any] = {}
        defaults: dict[str, Any] = {}
        bound = self.signature.bind(*args, **kwargs).arguments
        for place, parameter in enumerate(self.signature.parameters.values()):
            if (place == 0 and self.has_owner) or parameter.kind is parameter.VAR_POSITIONAL:
                continue
            if parameter.kind is parameter.VAR_KEYWORD:
                given.update(bound.get(parameter.name, {}))
            elif parameter.name in bound:
                given[parameter.name] = bound[parameter.name]
            elif parameter.default is not parameter.empty:
                defaults[parameter.name] = parameter.default
        return given, defaults


class Told:
    """A function of the user's that tells more about a call. What goes wrong in it is counted, and shown once."""

    def __init__(self, target: Decorated, function: Any) -> None:  # noqa: ANN401
        """The function that tells about calls of ``target``; None for none."""
        self._target = target
        self._function = function
        self._was_shown = False

    def of_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """What it returns; empty when it fails or there is none."""
        if self._function is None:
            return {}
        try:
            return dict(self._function(self._target.arguments(args), kwargs) or {})
        except (Exception, SystemExit) as error:
            self.failed(error)
            return {}

    def number_of_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        """What it returns; None when it fails or there is none."""
        if self._function is None:
            return None
        try:
            return self._function(self._target.arguments(args), kwargs)
        except (Exception, SystemExit) as error:
            self.failed(error)
            return None

    def failed(self, error: BaseException) -> None:
        """Counts a failure, and logs the first. Its text is not shown: it may hold a prompt."""
        _core.ProfilerCore.count_unrecorded()
        if self._was_shown:
            return
        self._was_shown = True
        import logging

        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        line = "" if trace is None else f" in {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        logging.getLogger("marey").warning(
            "%s: the function that tells about %s raised %s%s; what it tells is not recorded",
            self._target.decorator,
            self._target.name,
            type(error).__name__,
            line,
        )


class EventData(Told):
    """The function that tells an event's data: how the arguments of a call become its arguments."""

    def __init__(self, target: Decorated, function: Callable[..., Any]) -> None:
        """The function that tells the data; what its parameters are called decides what it gets."""
        import inspect

        super().__init__(target, function)
        self._names: list[str] = []
        self._only_by_name: list[str] = []
        self._takes_args = self._takes_kwargs = False
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            self._takes_args = self._takes_kwargs = True
            return
        for parameter in parameters:
            if parameter.kind is parameter.VAR_POSITIONAL:
                self._takes_args = True
            elif parameter.kind is parameter.VAR_KEYWORD:
                self._takes_kwargs = True
            elif parameter.kind is parameter.KEYWORD_ONLY:
                self._only_by_name.append(parameter.name)
            else:
                self._names.append(parameter.name)

    def of_result(self, result: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        """The data; empty when the function fails."""
        try:
            if self._takes_args:
                return self._function(result, *self._target.arguments(args), **kwargs)
            positional, named = self._arguments(result, args, kwargs)
            return self._function(*positional, **named)
        except (Exception, SystemExit) as error:
            self.failed(error)
            return {}

    def _arguments(
        self, result: object, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        given, defaults = self._target.by_name(args, kwargs)
        known = defaults | given
        in_place = self._target.arguments(args)
        values: list[Any] = [result] if self._names else []
        for place, name in enumerate(self._names[1:]):
            if name in known:
                values.append(known[name])
                given.pop(name, None)
            elif place < len(in_place):
                values.append(in_place[place])
            else:
                break
        named = {name: known[name] for name in self._only_by_name if name in known}
        if self._takes_kwargs:
            named.update((name, value) for name, value in given.items() if name not in self._names)
        return values, named


class _MeasuredCall:
    """One call: a stopwatch that runs while it does, and what is done at its end."""

    __slots__ = ("_args", "_finish", "_kwargs", "_watch")

    def __init__(self, finish: Callable[..., None], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._finish = finish
        self._args = args
        self._kwargs = kwargs
        self._watch = _core.Stopwatch()

    def __enter__(self) -> None:
        self._watch.__enter__()

    def __exit__(self, *exception: object) -> None:
        self._watch.__exit__(None, None, None)

    def finish(self, is_failed: bool, result: object = None, /) -> None:
        if not is_failed:
            self._finish(self._watch, result, self._args, self._kwargs)


class _MeasuredStep(_MeasuredCall):
    """One call that is a denoising step: windows of torch's profiler count it when it has returned."""

    __slots__ = ("_begun",)

    def __init__(self, finish: Callable[..., None], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        super().__init__(finish, args, kwargs)
        self._begun = denoising_steps.begin()

    def finish(self, is_failed: bool, result: object = None, /) -> None:
        super().finish(is_failed, result)
        if not is_failed:
            denoising_steps.end(self._begun)


def measured(function: Any, finish: Callable[..., None], *, is_step: bool = False) -> Any:  # noqa: ANN401
    """A function that calls ``finish`` with a stopwatch, the result and its arguments whenever a call returns.

    Args:
        function: What is measured.
        finish: What is called.
        is_step: A call is a denoising step, which windows of a profiler count.
    """

    def start(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run:
        return _MeasuredStep(finish, args, kwargs) if is_step else _MeasuredCall(finish, args, kwargs)

    def plain(function: Any) -> Any:  # noqa: ANN401
        def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            run = start(args, kwargs)
            with run:
                result = function(*args, **kwargs)
            run.finish(False, result)
            return result

        return call

    def coroutine(function: Any) -> Any:  # noqa: ANN401
        async def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            run = start(args, kwargs)
            with run:
                result = await function(*args, **kwargs)
            run.finish(False, result)
            return result

        return call

    return wrap(function, plain=plain, coroutine=coroutine, run=start)
