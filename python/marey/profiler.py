"""A profiler with sessions and stages, as a configuration says."""

from __future__ import annotations

import os

from marey import _core
from marey.functions import name_of_function, paused, wrap
from marey.recording import join_job, start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from marey.display import Display


class Profiler(_core.ProfilerCore):
    """Records sessions, their stages, and what a generating program reports of its own work.

    Making one that is enabled starts recording into the folder of the configuration. From then on nothing here
    raises: what could not be recorded is counted among the losses. One that is not enabled does nothing.

    Which session is current is kept by thread and asyncio task, and by profiler. A task begins with the session of the
    code that made it. In a thread that has begun no session itself it is the only open one, if exactly one is open
    besides those that it is nested in, else none; what is recorded then belongs to no session.

    Args:
        config: A ``ProfilingConfig``, the path of a YAML file, or a mapping in its place; default: the environment's.
        keywords: Keys of the configuration, above it.

    Raises:
        ConfigError: A key or a value that does not fit.
        CaptureError: The output folder cannot be made or written.
    """

    def __init__(
        self,
        config: _core.ProfilingConfig | Mapping[str, Any] | str | os.PathLike[str] | None = None,
        **keywords: Any,  # noqa: ANN401
    ) -> None:
        """Make a profiler; start recording if it is enabled."""
        self.config = _configuration(config, keywords)
        self._display: Display | None = None
        if self.config.enabled and start(self.config.output_dir, profiling=self.config) is not None:
            self.set_up(self.config)
            self._show_live_metrics()

    def _show_live_metrics(self) -> None:
        if not self.config.real_time_display:
            return
        import weakref

        from marey.display import Display

        this = weakref.ref(self)

        def session() -> str | None:
            profiler = this()
            open_sessions = [] if profiler is None else profiler.open_sessions
            return open_sessions[-1] if open_sessions else None

        display = self._display = Display(self.config.display_interval, session)
        display.start()
        weakref.finalize(self, display.stop).atexit = False

    def layer(self, name: str, parameters_count: int | None = None) -> _Layer:
        """A layer of a model for a ``with`` block: its time by the host's clock is recorded, unless it raises.

        Args:
            name: Name of the layer.
            parameters_count: Number of its parameters; absent when None.
        """
        return _Layer(self, name, parameters_count)

    def profile_function(
        self,
        function: Any = None,  # noqa: ANN401
        stage_name: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        """A function that is a stage of this profiler whenever it runs; coroutines and generators, too.

        ``@profiler.profile_function``, ``@profiler.profile_function("name")`` and
        ``profiler.profile_function(function, stage_name="name")`` are the same. Signature, docstring, results and
        exceptions stay as they are.

        Args:
            function: What is wrapped, or the stage's name where this is used as a decorator.
            stage_name: Default: module and qualified name of the function.
            metadata: Kept with each call.
        """
        if function is None or isinstance(function, str):
            name = stage_name or function
            return lambda function: self._stage_of(function, name, metadata)  # pyright: ignore
        return self._stage_of(function, stage_name, metadata)

    def cleanup(self) -> None:
        """End all sessions of this profiler, and its display. Recording goes on; nobody has to call this."""
        self.close()
        if self._display is not None:
            self._display.stop()

    def __enter__(self) -> Profiler:
        """The profiler itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """As ``cleanup``."""
        self.cleanup()

    def __copy__(self) -> Profiler:
        """The profiler itself: a copied pipeline reports to the same one."""
        return self

    def __deepcopy__(self, memo: object) -> Profiler:
        """As a copy."""
        return self

    def __reduce__(self) -> tuple[Callable[..., Profiler], tuple[Any, ...]]:
        """Another process makes its own, configured alike, and records into this one's job while that runs."""
        return _made_again, (type(self), self.config, _core.job_of_process())

    def _stage_of(self, function: Any, name: str | None, metadata: Mapping[str, Any] | None) -> Any:  # noqa: ANN401
        stage_name = name or name_of_function(function)
        return wrap(
            function,
            lambda _args, _kwargs: (self.stage(stage_name, metadata), None),
            pausing=lambda _args, _kwargs: paused(self.paused_stage(stage_name, metadata)),
        )


class _Layer:
    """A layer while it is computed."""

    __slots__ = ("_count", "_name", "_profiler", "_watch")

    def __init__(self, profiler: Profiler, name: str, count: int | None) -> None:
        self._profiler = profiler
        self._name = name
        self._count = count

    def __enter__(self) -> None:
        self._watch = _core.Stopwatch()
        self._watch.__enter__()

    def __exit__(self, kind: object, *_error: object) -> None:
        self._watch.__exit__(None, None, None)
        if kind is None:
            self._profiler.end_layer_computation(self._name, self._watch, self._count)


def _made_again(kind: type[Profiler], config: _core.ProfilingConfig, job: tuple[int, str, str] | None) -> Profiler:
    if config.enabled and job is not None:
        join_job(job, config)
    return kind(config)


def _configuration(given: Any, keywords: dict[str, Any]) -> _core.ProfilingConfig:  # noqa: ANN401
    if isinstance(given, _core.ProfilingConfig):
        return _core.ProfilingConfig(**(given.to_dict() | keywords)) if keywords else given
    if given is None:
        return _core.ProfilingConfig(**keywords)
    if isinstance(given, (str, os.PathLike)):
        return _core.ProfilingConfig.from_yaml(os.fspath(given), **keywords)
    return _core.ProfilingConfig.from_dict(given, **keywords)
