"""Live figures for experiment trackers: TensorBoard, Weights & Biases, MLflow, Trackio.

Nothing is imported: a sink is handed the tracker's own object, and calls one method of it.

>>> class Writer:
...     def add_scalar(self, tag, value, global_step=None):
...         pass
>>> with marey.sinks.TensorBoardSink(Writer()) as sink:
...     sink.log(step=0)
"""

from __future__ import annotations

import logging
import math
import re
import threading

from marey import _core
from marey.recording import get_global_stats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Any, Protocol, TypeVar

    AnySink = TypeVar("AnySink", bound="Sink")

    class Metrics(Protocol):
        """A ``Profiler``, or anything else that knows the moment."""

        def get_current_metrics(self) -> dict[str, Any]:
            """What is known now."""
            ...


__all__ = ["MlflowSink", "Sink", "TensorBoardSink", "TrackioSink", "WandbSink"]


class Sink:
    """Takes figures to a tracker; ``send`` says how.

    Names are ``marey/fps``, ``marey/cpu/process_cpu_cores``, ``marey/gpu/<UUID>/power_watts`` and so on, as in
    ``get_current_metrics()``; at the end ``marey/section/<name>/<figure>`` as in ``get_all_stats()``. What is not known
    is not sent. Whatever a tracker raises is counted in ``failed`` and said once in the log ``marey``; only Ctrl-C goes
    through. While one call hangs in a tracker, others return at once and are counted in ``skipped``.

    Args:
        profiler: The ``Profiler`` whose figures are sent; default: those of the process.
        prefix: Stands before every name.
    """

    def __init__(self, profiler: Metrics | None = None, *, prefix: str = "marey/") -> None:
        """Make a sink; nothing is sent."""
        self.failed = 0
        self.skipped = 0
        self._metrics: Metrics = _core.ProfilerCore() if profiler is None else profiler
        self._prefix = prefix
        self._step = 0
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def send(self, values: dict[str, float], step: int) -> None:
        """Hands figures to the tracker."""
        raise NotImplementedError

    def log(self, step: int | None = None) -> None:
        """Sends what is known now. Without a step they are numbered from the last one on."""
        self._contained(lambda: self._metrics.get_current_metrics(), step)

    def every(self: AnySink, seconds: float) -> AnySink:
        """Sends what is known now again and again from a thread of its own, until ``close()``.

        Raises:
            ValueError: Not a positive number of seconds, or one too large to wait for.
        """
        if not 0 < seconds <= threading.TIMEOUT_MAX:
            raise ValueError(f"not a positive number of seconds that a thread can wait: {seconds}")
        if self._thread is None and not self._is_closed:

            def work() -> None:
                while not self._end.wait(seconds):
                    self.log()

            self._thread = threading.Thread(target=work, name="marey-sink", daemon=True)
            try:
                self._thread.start()
            except RuntimeError as problem:
                self._thread = None
                self._failed(problem)
        return self

    def close(self) -> None:
        """Sends the figures of all sections, once, and ends the thread. The tracker stays open: it is its maker's.

        The last figures are not sent where the thread still hangs in the tracker after five seconds.
        """
        if self._is_closed:
            return
        self._is_closed = True
        self._end.set()
        # A tracker that hangs keeps its thread, and not the program.
        if self._thread is not None:
            self._thread.join(timeout=5)
            if self._thread.is_alive():
                self._failed(TimeoutError("the tracker does not return"))
                return
        self._contained(lambda: {"section": get_global_stats().get_all_stats()}, None)

    def __enter__(self: AnySink) -> AnySink:
        """Return the sink."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def _contained(self, ask: Any, step: int | None) -> None:  # noqa: ANN401
        """Nothing that goes wrong in here reaches the pipeline."""
        if not self._lock.acquire(blocking=False):
            self.skipped += 1
            return
        try:
            if step is not None:
                self._step = step
            values = dict(_flat(self._prefix, ask()))
            if values:
                self.send(values, self._step)
            self._step += 1
        except (Exception, SystemExit) as problem:
            self._failed(problem)
        finally:
            self._lock.release()

    def _failed(self, problem: BaseException) -> None:
        self.failed += 1
        if self.failed == 1:
            kind = type(self).__name__
            said = " ".join(str(problem).split())
            logging.getLogger("marey").warning("%s: %s: %s; not said again", kind, type(problem).__name__, said)


class TensorBoardSink(Sink):
    """For anything with ``add_scalar(tag, value, global_step)``, such as a ``SummaryWriter``."""

    def __init__(self, writer: Any, profiler: Metrics | None = None, *, prefix: str = "marey/") -> None:  # noqa: ANN401
        """Make a sink for a writer."""
        super().__init__(profiler, prefix=prefix)
        self._writer = writer

    def send(self, values: dict[str, float], step: int) -> None:
        """One scalar for each figure."""
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)


class WandbSink(Sink):
    """For anything with ``log(values, step=…)``, such as what ``wandb.init()`` returns.

    Weights & Biases ignores steps that go back: with steps of your own elsewhere, give them to ``log(step=…)``, too.
    """

    def __init__(self, run: Any, profiler: Metrics | None = None, *, prefix: str = "marey/") -> None:  # noqa: ANN401
        """Make a sink for a run."""
        super().__init__(profiler, prefix=prefix)
        self._run = run

    def send(self, values: dict[str, float], step: int) -> None:
        """All figures at once."""
        self._run.log(values, step=step)


class TrackioSink(WandbSink):
    """For the module ``trackio`` or one of its runs, which take the same as Weights & Biases."""


class MlflowSink(Sink):
    """For the module ``mlflow``, or an ``MlflowClient`` with the id of a run.

    MLflow takes letters, digits and ``_-. /`` in names; anything else becomes ``_``. Names that become equal by
    that are numbered.
    """

    def __init__(
        self,
        mlflow: Any,  # noqa: ANN401
        profiler: Metrics | None = None,
        *,
        run_id: str | None = None,
        prefix: str = "marey/",
    ) -> None:
        """Make a sink for the module or a client."""
        super().__init__(profiler, prefix=prefix)
        self._mlflow = mlflow
        self._run_id = run_id

    def send(self, values: dict[str, float], step: int) -> None:
        """All figures at once; a client takes them one by one."""
        values = _named_apart(values)
        if self._run_id is None:
            self._mlflow.log_metrics(values, step=step)
            return
        for name, value in values.items():
            self._mlflow.log_metric(self._run_id, name, value, step=step)


def _flat(name: str, value: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Numbers by their path. Texts, lists, the time of day and what is not finite are left out."""
    found: list[tuple[str, float]] = []
    for key, inner in value.items():
        if isinstance(inner, dict):
            found += _flat(f"{name}{key}/", inner)  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(inner, (int, float)) and key != "timestamp" and _is_finite(inner):
            found.append((f"{name}{key}", inner))
    return found


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def _named_apart(values: dict[str, float]) -> dict[str, float]:
    """The same with names that MLflow takes: ``a:b`` beside ``a_b`` becomes ``a_b_2``."""
    named: dict[str, float] = {}
    # Names that stay as they are keep theirs.
    for name, value in sorted(values.items(), key=lambda item: (_mlflow_name(item[0]) != item[0], item[0])):
        wanted = taken = _mlflow_name(name)
        number = 2
        while taken in named:
            taken = f"{wanted}_{number}"
            number += 1
        named[taken] = value
    return named


def _mlflow_name(name: str) -> str:
    return re.sub(r"[^\w\-. /]", "_", name, flags=re.ASCII)
