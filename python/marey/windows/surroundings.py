"""What is around a window of torch's profiler: activities that there are, other profilers, models that are moved."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

# Callers whose variables are looked at for pipelines.
_MOST_FRAMES = 20


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


def moving_hook(roots: Iterable[object]) -> str | None:
    """The kind of the first hook found that moves models between devices while they run; None when there is none.

    Args:
        roots: Pipelines, modules, or anything else; what is neither is passed over.
    """
    for root in roots:
        for module in _modules_of(root):
            hook = getattr(module, "_hf_hook", None)
            if hook is not None and _moves(hook):
                return f"accelerate's {type(hook).__name__} on {type(module).__name__}"
            registry = getattr(module, "_diffusers_hook", None)
            hooks: dict[str, object] = getattr(registry, "hooks", None) or {}
            if any("group_offloading" in name for name in hooks):
                return f"diffusers' group offloading on {type(module).__name__}"
    return None


def _moves(hook: Any) -> bool:  # noqa: ANN401
    hooks = getattr(hook, "hooks", None) or (hook,)
    return any(
        getattr(one, "offload", False) or type(one).__name__ in ("CpuOffload", "UserCpuOffloadHook") for one in hooks
    )


def _modules_of(root: Any) -> Iterator[Any]:  # noqa: ANN401
    components: Any = getattr(root, "components", None)
    for part in [root] if not hasattr(components, "values") else components.values():
        modules: Any = getattr(part, "modules", None)
        if callable(modules) and hasattr(part, "_modules"):
            found: Any = modules()
            yield from found


def pipelines_of_callers(depth: int) -> list[object]:
    """Pipelines and modules that callers hold in variables: a look at names, so what lies deeper is not found.

    Args:
        depth: Frames to pass over, this function's caller being 1.
    """
    kinds = tuple(_kinds())
    found: list[object] = []
    if not kinds:
        return found
    frame: Any = sys._getframe(depth)  # pyright: ignore[reportPrivateUsage]
    seen: set[int] = set()
    for _ in range(_MOST_FRAMES):
        for variables in (frame.f_globals, frame.f_locals):
            if id(variables) not in seen:
                seen.add(id(variables))
                found += [value for value in list(variables.values()) if isinstance(value, kinds)]
        if frame.f_back is None:
            break
        frame = frame.f_back
    return found


def _kinds() -> Iterator[type]:
    for module, name in (("torch.nn", "Module"), ("diffusers.pipelines.pipeline_utils", "DiffusionPipeline")):
        kind: object = getattr(sys.modules.get(module), name, None)
        if isinstance(kind, type):
            yield kind
