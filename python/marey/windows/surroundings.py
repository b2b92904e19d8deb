"""What is around a window of torch's profiler: activities that there are, other profilers, models that are moved."""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any


def available_activities(torch: Any, wanted: Iterable[str]) -> tuple[list[Any], list[str]]:  # noqa: ANN401
    """What torch's profiler can record of ``wanted`` here, and why not the rest."""
    kinds = torch.profiler.ProfilerActivity
    supported = torch.profiler.supported_activities()
    found: list[Any] = []
    remarks: list[str] = []
    if "CPU" in wanted:
        found.append(kinds.CPU)
    if "GPU" in wanted:
        gpu = [kind for kind in _gpu_kinds(torch, kinds) if kind in supported]
        found += gpu[:1]
        if not gpu:
            remarks.append(f"GPU is not recorded: {_why_no_gpu(torch)}")
    return found, remarks


def _gpu_kinds(torch: Any, kinds: Any) -> Iterator[Any]:  # noqa: ANN401
    if torch.cuda.is_available():  # ROCm, too
        yield kinds.CUDA
    if _is_available(torch, "xpu"):
        yield kinds.XPU
    if _is_available(torch, "npu"):
        yield kinds.PrivateUse1


def _is_available(torch: Any, name: str) -> bool:  # noqa: ANN401
    module = getattr(torch, name, None)
    return module is not None and bool(module.is_available())


def _why_no_gpu(torch: Any) -> str:  # noqa: ANN401
    mps = getattr(torch.backends, "mps", None)
    if mps is not None and mps.is_available():
        return "torch's profiler does not see MPS; torch.mps.profiler does"
    return "torch finds none that its profiler supports"


def other_profiler(torch: Any) -> str | None:  # noqa: ANN401
    """Who records already, in words; None when nobody does."""
    if os.environ.get("NSYS_PROFILING_SESSION_ID"):
        return "this process runs under nsys"
    if torch.autograd.profiler._is_profiler_enabled or torch.autograd._profiler_enabled():
        return "another torch profiler is recording"
    return None


def moving_hook() -> str | None:
    """The kind of a hook that moves models between devices while they run; None when no such hook is alive.

    Whose it is does not matter: a look at all objects that Python keeps, some 60 ms in a process with a few hundred
    thousand, and none at all where the libraries of such hooks are not imported.
    """
    kinds = tuple(_kinds_of_hooks())
    if not kinds:
        return None
    # Instances refer to their class, so nothing is asked of objects that may answer with a side effect.
    found: list[object] = gc.get_referrers(*kinds)
    for hook in found:
        kind = type(hook)
        if kind in kinds and (kind.__name__ != "AlignDevicesHook" or getattr(hook, "offload", False)):
            return f"{kind.__module__.partition('.')[0]}'s {kind.__name__}"
    return None


def _kinds_of_hooks() -> Iterator[type]:
    for module, names in (
        ("accelerate.hooks", ("CpuOffload", "AlignDevicesHook")),
        ("diffusers.hooks.group_offloading", ("GroupOffloadingHook", "LazyPrefetchGroupOffloadingHook")),
    ):
        for name in names:
            kind: object = getattr(sys.modules.get(module), name, None)
            if isinstance(kind, type):
                yield kind
