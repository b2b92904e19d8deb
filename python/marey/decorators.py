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
from marey.decorated_calls import Decorated, event_data, measured, tellable
from marey.functions import named, paused, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar, overload

    from marey.decorated_calls import Record

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

    def decorate(function: Any, name: str | None) -> Any:  # noqa: ANN401
        target = Decorated(function, "profile_method")
        name = name or target.name
        profiler, about = target.profiler, None if metadata is None else target.told(metadata)
        return wrap(
            function,
            lambda args, kwargs: (profiler(args).stage(name, about and about(args, kwargs)), None),
            pausing=lambda args, kwargs: paused(profiler(args).paused_stage(name, about and about(args, kwargs))),
        )

    return named(stage_name, decorate)


def profile_session(session_id: Any = None, tags: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401
    """Make each call a session of its own.

    Args:
        session_id: Any text; None makes one up for each call.
        tags: Kept with the session.
    """

    def decorate(function: Any, session_id: Any) -> Any:  # noqa: ANN401
        profiler = Decorated(function, "profile_session").profiler
        return wrap(
            function,
            lambda args, _kwargs: (profiler(args).session(session_id, tags), None),
            pausing=lambda args, _kwargs: paused(_core.PausedSession(profiler(args), session_id, tags)),
        )

    return named(session_id, decorate)


def add_profiling_event(name: Any, data_func: Callable[..., Mapping[str, Any]] | None = None) -> Any:  # noqa: ANN401
    """Record an event after each call that returns.

    Args:
        name: Name of the event; without parentheses the function's.
        data_func: Tells the data of the event from the result and the arguments: parameters after the first one get
            the argument of their name, or of their place; ``**kwargs`` gets all others by name, ``*args`` the
            positional ones as they came.
    """

    def decorate(function: Any, name: Any) -> Any:  # noqa: ANN401
        target = Decorated(function, "add_profiling_event")
        name = target.name if name is None else name
        data = None if data_func is None else event_data(target, data_func)
        return measured(target, lambda profiler, _watch, data: profiler.add_event(name, data), data)

    return named(name, decorate)


def profile_diffusion_step(func: Any = None) -> Any:  # noqa: ANN401
    """Record each call that returns as a denoising step.

    Args:
        func: Returns some of ``step``, ``timestep``, ``block_size``, ``computation_time_ms``, ``guidance_scale``; what
            is missing is absent. Without a time the call itself is measured, by the host's clock: work that it leaves
            to the GPU is not in it.
    """
    keys = ("step", "timestep", "block_size", "computation_time_ms", "guidance_scale")
    return tellable("profile_diffusion_step", func, _reported("record_diffusion_step", keys), is_step=True)


def profile_block_computation(func: Any = None) -> Any:  # noqa: ANN401
    """Record each call that returns as a block of frames.

    Args:
        func: Returns some of ``block_index``, ``block_size``, ``computation_time_ms``, ``memory_usage_mb``; what is
            missing is absent. Without a time the call itself is measured, by the host's clock.
    """
    keys = ("block_index", "block_size", "computation_time_ms", "memory_usage_mb")
    return tellable("profile_block_computation", func, _reported("record_block_computation", keys))


def profile_model_parameters(func: Any = None) -> Any:  # noqa: ANN401
    """Record a model after each call that returns.

    Args:
        func: Returns some of ``model_name``, ``parameters_count``, ``model_type``, ``flops_per_call`` (floating point
            operations of one pass), ``calls_per_step`` (passes of a denoising step); what is missing is absent. Without
            it, or without a name, nothing is recorded.
    """
    keys = ("model_name", "parameters_count", "model_type", "flops_per_call", "calls_per_step")
    report = _reported("record_model_parameters", keys)

    def record(profiler: _core.ProfilerCore, watch: _core.Stopwatch, about: dict[str, Any]) -> None:
        if about.get("model_name") is not None:
            report(profiler, watch, about)

    return tellable("profile_model_parameters", func, record)


def profile_layer(layer_name: Any = None, parameters_count: int | None = None) -> Any:  # noqa: ANN401
    """Record each call that returns as a layer of a model, with its time by the host's clock.

    Args:
        layer_name: Default: the function's name.
        parameters_count: Number of its parameters; absent when None.
    """

    def decorate(function: Any, name: str | None) -> Any:  # noqa: ANN401
        target = Decorated(function, "profile_layer")
        name = name or target.name

        def record(profiler: _core.ProfilerCore, watch: _core.Stopwatch, _about: object) -> None:
            profiler.end_layer_computation(name, watch, parameters_count)

        return measured(target, record)

    return named(layer_name, decorate)


def profile_streaming(batch_size_func: Any = None) -> Any:  # noqa: ANN401
    """Record each call that returns as frames that were delivered; its time, by the host's clock, as that of encoding.

    Args:
        batch_size_func: Returns how many frames; absent without it.
    """

    def record(profiler: _core.ProfilerCore, watch: _core.Stopwatch, frames: Any) -> None:  # noqa: ANN401
        profiler.record_streaming_event(frames, watch)

    return tellable("profile_streaming", batch_size_func, record, shape=lambda frames: frames)


def _reported(method: str, keys: tuple[str, ...]) -> Record:
    """Reports by a method of profilers what a call says; where that is no time, the one that was measured."""

    def record(profiler: _core.ProfilerCore, watch: _core.Stopwatch, about: dict[str, Any]) -> None:
        given = {key: about.get(key) for key in keys}
        if "computation_time_ms" in given and given["computation_time_ms"] is None:
            given["computation_time_ms"] = watch
        getattr(profiler, method)(**given)

    return record
