"""Decorators for pipelines whose objects may have a profiler.

Each uses ``self._profiler`` where the object has one that is enabled, else the process's own recorder. What is in the
first parameter counts as the object when that is called ``self`` or ``cls``. Coroutines, generators and async
generators are measured while they run. Result, exceptions, signature, docstring and pickling stay as they are.

Each works without parentheses, too. Functions that a decorator is given to tell more about a call get
``(args, kwargs)`` as the call had them, without ``self``. One that fails is counted among the losses and named once in
the log ``marey``; the call is recorded all the same.
"""

from __future__ import annotations

from marey import _core, denoising_steps
from marey.bare_use import decorated_or_decorator
from marey.functions import in_section, is_decorated, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    import inspect
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar, overload

    from marey.functions import Run

    F = TypeVar("F", bound=Callable[..., Any])
    About = Callable[[tuple[Any, ...], dict[str, Any]], Mapping[str, Any]]
    Number = Callable[[tuple[Any, ...], dict[str, Any]], int]

    @overload
    def profile_method(stage_name: F) -> F: ...
    @overload
    def profile_method(
        stage_name: str | None = None, metadata: Mapping[str, Any] | About | None = None
    ) -> Callable[[F], F]: ...
    @overload
    def profile_session(session_id: F) -> F: ...
    @overload
    def profile_session(session_id: str | None = None, tags: Mapping[str, Any] | None = None) -> Callable[[F], F]: ...
    @overload
    def add_profiling_event(name: F) -> F: ...
    @overload
    def add_profiling_event(
        name: str, data_func: Callable[..., Mapping[str, Any]] | None = None
    ) -> Callable[[F], F]: ...
    @overload
    def profile_diffusion_step(func: About | None = None) -> Callable[[F], F]: ...
    @overload
    def profile_diffusion_step(func: F) -> F: ...
    @overload
    def profile_block_computation(func: About | None = None) -> Callable[[F], F]: ...
    @overload
    def profile_block_computation(func: F) -> F: ...
    @overload
    def profile_model_parameters(func: About | None = None) -> Callable[[F], F]: ...
    @overload
    def profile_model_parameters(func: F) -> F: ...
    @overload
    def profile_layer(layer_name: F) -> F: ...
    @overload
    def profile_layer(layer_name: str | None = None, parameters_count: int | None = None) -> Callable[[F], F]: ...
    @overload
    def profile_streaming(batch_size_func: Number | None = None) -> Callable[[F], F]: ...
    @overload
    def profile_streaming(batch_size_func: F) -> F: ...


__all__ = [
    "add_profiling_event",
    "profile_block_computation",
    "profile_diffusion_step",
    "profile_layer",
    "profile_method",
    "profile_model_parameters",
    "profile_session",
    "profile_streaming",
]


def profile_method(stage_name: Any = None, metadata: Mapping[str, Any] | About | None = None) -> Any:  # noqa: ANN401
    """Record each call as a stage.

    Args:
        stage_name: Name of the stage; default: the function's.
        metadata: Kept with each call: a dict, or a function of ``(args, kwargs)`` that returns one.
    """
    if is_decorated(stage_name):  # @profile_method
        return profile_method()(stage_name)

    def decorate(function: Any) -> Any:  # noqa: ANN401
        name = stage_name or _name_of(function)
        target = _Target(function, "profile_method")
        about = _Told(target, metadata) if callable(metadata) else None

        def metadata_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
            return metadata if about is None else about.of_call(args, kwargs)

        def stage(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
            return target.profiler(args).stage(name, metadata_of(args, kwargs))

        def plain(function: Any) -> Any:  # noqa: ANN401
            def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
                with stage(args, kwargs):
                    return function(*args, **kwargs)

            return call

        return wrap(
            function,
            plain=plain,
            coroutine=lambda function: in_section(function, stage),
            run=lambda args, kwargs: target.profiler(args).paused_stage(name, metadata_of(args, kwargs)),
        )

    return decorate


def profile_session(session_id: Any = None, tags: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401
    """Make each call a session of its own.

    Args:
        session_id: Any text; None makes one up for each call.
        tags: Kept with the session.
    """
    if is_decorated(session_id):  # @profile_session
        return profile_session()(session_id)

    def decorate(function: Any) -> Any:  # noqa: ANN401
        target = _Target(function, "profile_session")

        def session(args: tuple[Any, ...], _kwargs: object) -> Any:  # noqa: ANN401
            return target.profiler(args).session(session_id, tags)

        def plain(function: Any) -> Any:  # noqa: ANN401
            def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
                with session(args, kwargs):
                    return function(*args, **kwargs)

            return call

        return wrap(
            function,
            plain=plain,
            coroutine=lambda function: in_section(function, session),
            run=lambda args, _kwargs: _core.PausedSession(target.profiler(args), session_id, tags),
        )

    return decorate


def add_profiling_event(name: Any, data_func: Callable[..., Mapping[str, Any]] | None = None) -> Any:  # noqa: ANN401
    """Record an event after each call that returns.

    Args:
        name: Name of the event; without parentheses the function's.
        data_func: Tells the data of the event from the result and the arguments: parameters after the first one get
            the argument of their name, or of their place; ``**kwargs`` gets all others by name, ``*args`` the
            positional ones as they came.
    """
    if is_decorated(name):  # @add_profiling_event
        return add_profiling_event(_name_of(name))(name)

    def decorate(function: Any) -> Any:  # noqa: ANN401
        target = _Target(function, "add_profiling_event")
        data = None if data_func is None else _EventData(target, data_func)

        def finish(_watch: object, result: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            target.profiler(args).add_event(name, data and data.of_result(result, args, kwargs))

        return _measured(function, finish)

    return decorate


def profile_diffusion_step(func: Any = None) -> Any:  # noqa: ANN401
    """Record each call that returns as a denoising step.

    Args:
        func: Returns some of ``step``, ``timestep``, ``block_size``, ``computation_time_ms``, ``guidance_scale``; what
            is missing is absent. Without a time the call itself is measured, by the host's clock: work that it leaves
            to the GPU is not in it.
    """

    def decorate(function: Any) -> Any:  # noqa: ANN401
        target = _Target(function, "profile_diffusion_step")
        told = _Told(target, func)

        def finish(watch: _core.Stopwatch, _result: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            about = told.of_call(args, kwargs)
            target.profiler(args).record_diffusion_step(
                about.get("step"),
                about.get("timestep"),
                about.get("block_size"),
                _or(about.get("computation_time_ms"), watch),
                about.get("guidance_scale"),
            )

        return _measured(function, finish, is_step=True)

    return decorate if func is None else decorated_or_decorator(func, profile_diffusion_step(), decorate)


def profile_block_computation(func: Any = None) -> Any:  # noqa: ANN401
    """Record each call that returns as a block of frames.

    Args:
        func: Returns some of ``block_index``, ``block_size``, ``computation_time_ms``, ``memory_usage_mb``; what is
            missing is absent. Without a time the call itself is measured, by the host's clock.
    """

    def decorate(function: Any) -> Any:  # noqa: ANN401
        target = _Target(function, "profile_block_computation")
        told = _Told(target, func)

        def finish(watch: _core.Stopwatch, _result: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            about = told.of_call(args, kwargs)
            target.profiler(args).record_block_computation(
                about.get("block_index"),
                about.get("block_size"),
                _or(about.get("computation_time_ms"), watch),
                about.get("memory_usage_mb"),
            )

        return _measured(function, finish)

    return decorate if func is None else decorated_or_decorator(func, profile_block_computation(), decorate)


def profile_model_parameters(func: Any = None) -> Any:  # noqa: ANN401
    """Record a model after each call that returns.

    Args:
        func: Returns some of ``model_name``, ``parameters_count``, ``model_type``, ``flops_per_call`` (floating point
            operations of one pass), ``calls_per_step`` (passes of a denoising step); what is missing is absent. Without
            it, or without a name, nothing is recorded.
    """

    def decorate(function: Any) -> Any:  # noqa: ANN401
        target = _Target(function, "profile_model_parameters")
        told = _Told(target, func)

        def finish(_watch: object, _result: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            about = told.of_call(args, kwargs)
            name = about.get("model_name")
            if name is not None:
                target.profiler(args).record_model_parameters(
                    name,
                    about.get("parameters_count"),
                    about.get("model_type"),
                    about.get("flops_per_call"),
                    about.get("calls_per_step"),
                )

        return _measured(function, finish)

    return decorate if func is None else decorated_or_decorator(func, profile_model_parameters(), decorate)


def profile_layer(layer_name: Any = None, parameters_count: int | None = None) -> Any:  # noqa: ANN401
    """Record each call that returns as a layer of a model, with its time by the host's clock.

    Args:
        layer_name: Default: the function's name.
        parameters_count: Number of its parameters; absent when None.
    """
    if is_decorated(layer_name):  # @profile_layer
        return profile_layer()(layer_name)

    def decorate(function: Any) -> Any:  # noqa: ANN401
        target = _Target(function, "profile_layer")
        name = layer_name or _name_of(function)

        def finish(watch: _core.Stopwatch, _result: object, args: tuple[Any, ...], _kwargs: object) -> None:
            target.profiler(args).end_layer_computation(name, watch, parameters_count)

        return _measured(function, finish)

    return decorate


def profile_streaming(batch_size_func: Any = None) -> Any:  # noqa: ANN401
    """Record each call that returns as frames that were delivered; its time, by the host's clock, as that of encoding.

    Args:
        batch_size_func: Returns how many frames; absent without it.
    """

    def decorate(function: Any) -> Any:  # noqa: ANN401
        target = _Target(function, "profile_streaming")
        told = _Told(target, batch_size_func)

        def finish(watch: _core.Stopwatch, _result: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            target.profiler(args).record_streaming_event(told.number_of_call(args, kwargs), watch)

        return _measured(function, finish)

    return (
        decorate if batch_size_func is None else decorated_or_decorator(batch_size_func, profile_streaming(), decorate)
    )


class _Target:
    """A decorated function: what it is called with, and what there is to say about it."""

    def __init__(self, function: Any, decorator: str) -> None:  # noqa: ANN401
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


class _Told:
    """A function of the user's that tells more about a call. What goes wrong in it is counted, and shown once."""

    def __init__(self, target: _Target, function: Any) -> None:  # noqa: ANN401
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


class _EventData(_Told):
    """The function that tells an event's data: how the arguments of a call become its arguments."""

    def __init__(self, target: _Target, function: Callable[..., Any]) -> None:
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


class _Measured:
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


class _MeasuredStep(_Measured):
    """One call that is a denoising step: whoever listens is told when it has returned."""

    __slots__ = ("_begun",)

    def __init__(self, finish: Callable[..., None], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        super().__init__(finish, args, kwargs)
        self._begun = denoising_steps.begin()

    def finish(self, is_failed: bool, result: object = None, /) -> None:
        super().finish(is_failed, result)
        if not is_failed:
            denoising_steps.end(self._begun)


def _measured(function: Any, finish: Callable[..., None], *, is_step: bool = False) -> Any:  # noqa: ANN401
    """A function that calls ``finish`` with a stopwatch, the result and its arguments whenever a call returns.

    Args:
        function: What is measured.
        finish: What is called.
        is_step: A call is a denoising step, which windows of a profiler count.
    """

    def start(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run:
        return _MeasuredStep(finish, args, kwargs) if is_step else _Measured(finish, args, kwargs)

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


def _name_of(function: Any) -> str:  # noqa: ANN401
    function = getattr(function, "fget", None) or getattr(function, "__func__", function)
    return getattr(function, "__name__", type(function).__name__)


def _or(value: object, otherwise: object) -> Any:  # noqa: ANN401
    return otherwise if value is None else value
