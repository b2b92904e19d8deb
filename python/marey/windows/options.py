"""What a window of torch's profiler is asked for, checked before the pipeline runs."""

from __future__ import annotations

import operator

from marey import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_ACTIVITIES = ("CPU", "GPU", "MEM")


def in_steps(count: int) -> str:
    """A number of steps: ``1 step``, ``2 steps``."""
    return "1 step" if count == 1 else f"{count} steps"


class WindowOptions:
    """Activities, schedule, what is recorded with each operation, and limits. Values that make no sense raise.

    Args:
        activities: Some of CPU, GPU and MEM, in any case; default CPU and GPU.
        wait: Denoising steps before anything is recorded.
        warmup: Steps after them whose events are thrown away.
        active: Steps after those whose events are kept; at least 1.
        repeat: How often that is done; each time has a file of its own.
        with_stack: Record where in the source an operation was called; the largest cost of all.
        record_shapes: Record the shapes of tensors; tensors live longer then.
        profile_memory: Record allocations with the operations.
        max_seconds: Longest recording of one window, from when torch has started to record.
        max_host_bytes: How much the process's memory may grow meanwhile; default 4 GiB, or half of what is free.
        max_file_bytes: Largest file, before it is compressed.
        all_threads: Record the operations of all threads, where torch can: by itself it records those of one.
        force: Record shapes, stacks and memory also where models are moved between devices by hooks.

    Attributes:
        n_steps: Denoising steps from the beginning of a repetition to its end.

    Raises:
        ConfigError: Names the nearest activity, or the argument that does not fit.
    """

    def __init__(
        self,
        activities: Iterable[str] | None = None,
        *,
        wait: int = 0,
        warmup: int = 1,
        active: int = 3,
        repeat: int = 1,
        with_stack: bool = False,
        record_shapes: bool = True,
        profile_memory: bool = False,
        max_seconds: float = 120.0,
        max_host_bytes: int | None = None,
        max_file_bytes: int = 2 << 30,
        all_threads: bool = False,
        force: bool = False,
    ) -> None:
        """Check and keep them."""
        self.activities = _activities(("CPU", "GPU") if activities is None else activities)
        self.wait = _whole("wait", wait, 0)
        self.warmup = _whole("warmup", warmup, 0)
        self.active = _whole("active", active, 1)
        self.repeat = _whole("repeat", repeat, 1)
        self.with_stack = bool(with_stack)
        self.record_shapes = bool(record_shapes)
        self.profile_memory = bool(profile_memory)
        self.max_seconds = _positive("max_seconds", max_seconds)
        self.max_host_bytes = None if max_host_bytes is None else _whole("max_host_bytes", max_host_bytes, 1)
        self.max_file_bytes = _whole("max_file_bytes", max_file_bytes, 1)
        self.all_threads = bool(all_threads)
        self.force = bool(force)
        self.n_steps = self.wait + self.warmup + self.active

    def in_words(self, n_steps: int) -> str:
        """What the schedule made of so many steps, for steps of which the report knows nothing else."""
        turns, rest = divmod(n_steps, self.n_steps)
        wait = turns * self.wait + min(rest, self.wait)
        warmup = turns * self.warmup + min(max(rest - self.wait, 0), self.warmup)
        recorded = n_steps - wait - warmup
        return f"{in_steps(n_steps)} counted: {wait} to wait, {warmup} for warm-up, {recorded} recorded"

    def as_dict(self) -> dict[str, Any]:
        """What the capture keeps of them."""
        given = {
            name: value
            for name, value in vars(self).items()
            if name not in ("max_host_bytes", "all_threads", "force", "n_steps")
        }
        return given | {"activities": " ".join(self.activities)}


def _activities(given: Iterable[str]) -> tuple[str, ...]:
    chosen = [_activity(name) for name in ([given] if isinstance(given, str) else given)]
    if not chosen:
        raise _core.ConfigError(f"activities are none of {', '.join(_ACTIVITIES)}")
    return tuple(name for name in _ACTIVITIES if name in chosen)


def _activity(name: object) -> str:
    import difflib

    text = str(name).upper()
    if text == "CUDA":
        return "GPU"
    if text not in _ACTIVITIES:
        near = difflib.get_close_matches(text, _ACTIVITIES, n=1, cutoff=0.3)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise _core.ConfigError(f"unknown activity {str(name)!r}: activities are {', '.join(_ACTIVITIES)}{hint}")
    return text


def number(value: Any, *, is_whole: bool) -> Any:  # noqa: ANN401
    """A value as an int, also one of another library, or as the float that it may be; None of anything else."""
    is_float = issubclass(type(value), float) and not is_whole
    try:
        return None if isinstance(value, bool) else value if is_float else operator.index(value)
    except TypeError:
        return None


def _whole(name: str, value: object, least: int) -> int:
    whole = number(value, is_whole=True)
    if whole is None or whole < least:
        raise _core.ConfigError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return whole


def _positive(name: str, value: object) -> float:
    given = number(value, is_whole=False)
    if given is None or not 0 < given < float("inf"):
        raise _core.ConfigError(f"{name} must be a number above 0, not {value!r}")
    return float(given)
