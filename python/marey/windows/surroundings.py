"""What is around a window: devices, other profilers, models that are moved, and schedulers whose steps it counts.

Kineto, which all of torch's profilers use, gives way to one that starts while another runs, and crashes when the first
one is stopped afterwards. So the window stops before the newcomer starts::

    window      |========|  stopped, exported
    newcomer             |======================|
"""

from __future__ import annotations

import functools
import gc
import os
import sys
import threading
from contextlib import suppress

from marey import denoising_steps
from marey.replacements import put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

# Modules of torch, ROCm's is the first one, too; and what their profiler's activity is called.
_GPUS = (("cuda", "CUDA"), ("xpu", "XPU"), ("npu", "PrivateUse1"))
_HOOKS = (
    ("accelerate.hooks", "CpuOffload"),
    ("accelerate.hooks", "AlignDevicesHook"),
    ("diffusers.hooks.group_offloading", "GroupOffloadingHook"),
    ("diffusers.hooks.group_offloading", "LazyPrefetchGroupOffloadingHook"),
)


def available_activities(torch: Any, wanted: Iterable[str]) -> tuple[list[Any], str | None]:  # noqa: ANN401
    """What torch's profiler can record of ``wanted`` here, and why not the rest."""
    kinds = torch.profiler.ProfilerActivity
    supported = torch.profiler.supported_activities()
    found: list[Any] = [kinds.CPU] if "CPU" in wanted else []
    if "GPU" not in wanted:
        return found, None
    gpus = [getattr(kinds, kind) for module, kind in _GPUS if _is_available(torch, module)]
    gpu = [kind for kind in gpus if kind in supported][:1]
    if not gpu and _is_available(torch.backends, "mps"):
        return found, "GPU is not recorded: torch's profiler does not see MPS; torch.mps.profiler does"
    return found + gpu, None if gpu else "GPU is not recorded: torch finds none that its profiler supports"


def _is_available(owner: Any, name: str) -> bool:  # noqa: ANN401
    module = getattr(owner, name, None)
    return module is not None and bool(module.is_available())


def every_thread(torch: Any) -> dict[str, Any]:  # noqa: ANN401
    """What has torch's profiler record the operations of all threads; nothing where it knows no such thing."""
    try:
        return {"experimental_config": torch._C._profiler._ExperimentalConfig(profile_all_threads=True)}
    except (AttributeError, TypeError):
        return {}


def other_profiler(torch: Any) -> str | None:  # noqa: ANN401
    """Who records already, in words; None when nobody does."""
    if os.environ.get("NSYS_PROFILING_SESSION_ID"):
        return "this process runs under nsys"
    if torch.autograd.profiler._is_profiler_enabled or torch.autograd._profiler_enabled():
        return "another torch profiler is recording"
    return None


def is_capturing() -> bool:
    """This thread captures a CUDA graph, which a profiler that starts or stops meanwhile would spoil."""
    torch: Any = sys.modules.get("torch")
    with suppress(Exception):
        return torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()
    return False


def watch_profilers(torch: Any, make_way: Callable[[], None]) -> Callable[[], object]:  # noqa: ANN401
    """Call ``make_way`` before any profiler starts, in its thread; what comes back ends this."""
    kind: Any = torch.autograd.profiler.profile
    name = "_prepare_trace" if "_prepare_trace" in kind.__dict__ else "__enter__"
    before = kind.__dict__[name]

    def begins(profiler: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        make_way()
        return before(profiler, *args, **kwargs)

    return put(kind, name, begins)


def moving_hook() -> str | None:
    """The kind of a hook that moves models between devices while they run; None when no such hook is alive.

    Whose it is does not matter: a look at all objects that Python keeps, some 60 ms in a process with a few hundred
    thousand, and none at all where the libraries of such hooks are not imported.
    """
    known: list[object] = [getattr(sys.modules.get(module), name, None) for module, name in _HOOKS]
    kinds = tuple(kind for kind in known if isinstance(kind, type))
    if not kinds:
        return None
    # Instances refer to their class, so nothing is asked of objects that may answer with a side effect.
    found: list[object] = gc.get_referrers(*kinds)
    for hook in found:
        kind = type(hook)
        if kind in kinds and (kind.__name__ != "AlignDevicesHook" or getattr(hook, "offload", False)):
            return f"{kind.__module__.partition('.')[0]}'s {kind.__name__}"
    return None


def listen_to_steps(listener: Callable[[bool], None]) -> Callable[[], None]:
    """Call ``listener`` at the end of each denoising step, in the thread that took it; what comes back ends this.

    It gets whether no section is recorded of that step: until the end ``step`` of diffusers' schedulers is wrapped
    for those that no instrumented pipeline has.
    """
    untold: set[int] = set()  # threads that are telling a step of such a scheduler

    def wrapped(step: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(step)
        def told(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            if args and _is_instrumented(args[0]):
                return step(*args, **kwargs)
            begun = denoising_steps.begin()
            result = step(*args, **kwargs)
            thread = threading.get_ident()
            untold.add(thread)
            try:
                denoising_steps.end(begun)
            finally:
                untold.discard(thread)
            return result

        return told

    undo: list[Callable[[], object]] = [denoising_steps.listen(lambda: listener(threading.get_ident() in untold))]
    module = sys.modules.get("diffusers.schedulers.scheduling_utils")
    base: type | None = getattr(module, "SchedulerMixin", None)
    kinds: set[type] = set() if base is None else set(_subclasses(base))
    for kind in kinds:
        step: Any = kind.__dict__.get("step")
        if callable(step):
            undo.append(put(kind, "step", wrapped(step)))

    def leave() -> None:
        while undo:
            undo.pop()()

    return leave


def _subclasses(kind: type) -> Iterator[type]:
    for child in kind.__subclasses__():
        yield child
        yield from _subclasses(child)


def _is_instrumented(scheduler: object) -> bool:
    """Its steps are reported by ``marey.diffusers``, when their sections are closed."""
    own = getattr(scheduler, "__dict__", {}).get("step")
    return type(own).__module__ == "marey.pipelines.patches"
