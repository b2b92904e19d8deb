"""Decorators for pipelines whose objects may have a profiler.

Each uses ``self._profiler`` where the object has one that is enabled, else the process's own recorder. What is in the
first parameter counts as the object when that is called ``self`` or ``cls``. Coroutines, generators and async
generators are measured while they run. Result, exceptions, signature, docstring and pickling stay as they are.

Each works without parentheses, too. Functions that a decorator is given to tell more about a call get
``(args, kwargs)`` as the call had them, without ``self``. One that fails is counted among the losses and named once in
the log ``marey``; the call is recorded all the same.
"""

from __future__ import annotations

from marey import _core
from marey.bare_use import decorated_or_decorator
from marey.decorated_calls import Decorated, EventData, Told, measured
from marey.functions import in_section, is_decorated, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar, overload

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
        target = Decorated(function, "profile_method")
        about = Told(target, metadata) if callable(metadata) else None

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
        target = Decorated(function, "profile_session")

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
        target = Decorated(function, "add_profiling_event")
        data = None if data_func is None else EventData(target, data_func)

        def finish(_watch: object, result: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            target.profiler(args).add_event(name, data and data.of_result(result, args, kwargs))

        return measured(function, finish)

    return decorate


def profile_diffusion_step(func: Any = None) -> Any:  # noqa: ANN401
    """Record each call that returns as a denoising step.

    Args:
        func: Returns some of ``step``, ``timestep``, ``block_size``, ``computation_time_ms``, ``guidance_scale``; what
            is missing is absent. Without a time the call itself is measured, by the host's clock: work that it leaves
            to the GPU is not in it.
    """

    def decorate(function: Any) -> Any:  # noqa: ANN401
        target = Decorated(function, "profile_diffusion_step")
        told = Told(target, func)

        def finish(watch: _core.Stopwatch, _result: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            about = told.of_call(args, kwargs)
            target.profiler(args).record_diffusion_step(
                about.get("step"),
                about.get("timestep"),
                about.get("block_size"),
                _or(about.get("computation_time_ms"), watch),
                about.get("guidance_scale"),
            )

        return measured(function, finish, is_step=True)

    return decorate if func is None else decorated_or_decorator(func, profile_diffusion_step(), decorate)


def profile_block_computation(func: Any = None) -> Any:  # noqa: ANN401
    """Record each call that returns as a block of frames.

    Args:
        func: Returns some of ``block_index``, ``block_size``, ``computation_time_ms``, ``memory_usage_mb``; what is
            missing is absent. Without a time the call itself is measured, by the host's clock.
    """

    def decorate(function: Any) -> Any:  # noqa: ANN401
        target = Decorated(function, "profile_block_computation")
        told = Told(target, func)

        def finish(watch: _core.Stopwatch, _result: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            about = told.of_call(args, kwargs)
            target.profiler(args).record_block_computation(
                about.get("block_index"),
                about.get("block_size"),
                _or(about.get("computation_time_ms"), watch),
                about.get("memory_usage_mb"),
            )

        return measured(function, finish)

    return decorate if func is None else decorated_or_decorator(func, profile_block_computation(), decorate)


def profile_model_parameters(func: Any = None) -> Any:  # noqa: ANN401
    """Record a model after each call that returns.

    Args:
        func: Returns some of ``model_name``, ``parameters_count``, ``model_type``, ``flops_per_call`` (floating point
            operations of one pass), ``calls_per_step`` (passes of a denoising step); what is missing is absent. Without
            it, or without a name, nothing is recorded.
    """

    def decorate(function: Any) -> Any:  # noqa: ANN401
        target = Decorated(function, "profile_model_parameters")
        told = Told(target, func)

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

        return measured(function, finish)

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
        target = Decorated(function, "profile_layer")
        name = layer_name or _name_of(function)

        def finish(watch: _core.Stopwatch, _result: object, args: tuple[Any, ...], _kwargs: object) -> None:
            target.profiler(args).end_layer_computation(name, watch, parameters_count)

        return measured(function, finish)

    return decorate


def profile_streaming(batch_size_func: Any = None) -> Any:  # noqa: ANN401
    """Record each call that returns as frames that were delivered; its time, by the host's clock, as that of encoding.

    Args:
        batch_size_func: Returns how many frames; absent without it.
    """

    def decorate(function: Any) -> Any:  # noqa: ANN401
        target = Decorated(function, "profile_streaming")
        told = Told(target, batch_size_func)

        def finish(watch: _core.Stopwatch, _result: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            target.profiler(args).record_streaming_event(told.number_of_call(args, kwargs), watch)

        return measured(function, finish)

    return (
        decorate if batch_size_func is None else decorated_or_decorator(batch_size_func, profile_streaming(), decorate)
    )


def _name_of(function: Any) -> str:  # noqa: ANN401
    function = getattr(function, "fget", None) or getattr(function, "__func__", function)
    return getattr(function, "__name__", type(function).__name__)


def _or(value: object, otherwise: object) -> Any:  # noqa: ANN401
    return otherwise if value is None else value
