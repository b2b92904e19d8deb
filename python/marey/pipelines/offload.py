"""Moves of weights between host and device, as sections with ``bytes`` and ``direction``.

| who moves | seen at |
|---|---|
| ``pipe.to``, ``model.to``, ``cuda``, ``cpu``, ``enable_model_cpu_offload`` | ``_apply`` of the model |
| ``enable_sequential_cpu_offload`` and other hooks of accelerate | the hook of each module |
| group offloading of diffusers | each group |

A section is named ``onload_<part>`` to the device, ``offload_<part>`` to the host, ``<part>_to_device`` between two
devices. Bytes are those of the parameters and buffers that lie elsewhere afterwards; nothing is recorded when none do.
Times are the host's: a copy on a stream goes on after its section. GPU time is that of the stream which copies: a
group's own, where it has one, else the current one of the device that is not the host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from marey import _core, work_device
from marey.pipelines.parts import bytes_of, weights
from marey.pipelines.patches import owner_of

if TYPE_CHECKING:
    from marey.pipelines.patches import Around, Call, Patches

# Functions by which torch moves tensors. They can be asked where an empty tensor would go.
_MOVERS = ("Module.to.<locals>.", "Module.cuda.<locals>.", "Module.cpu.<locals>.", "Module.xpu.<locals>.")


def fingerprint(module: Any) -> tuple[object, ...]:  # noqa: ANN401
    """Changes when accelerate, diffusers or cache-dit has put hooks into a model or taken them out."""
    registry = getattr(module, "_diffusers_hook", None)
    names = tuple(getattr(registry, "hooks", ()))
    others = ("_hf_hook", "_cache_config", "_context_manager")
    return id(module), names, *(id(getattr(module, other, None)) for other in others)


def hook_moves(patches: Patches, part: str, module: Any) -> None:  # noqa: ANN401
    """Record moves of a whole model."""

    def around(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        move = _Move.by(args[0], owner_of(call)) if args else None
        return call(*args, **kwargs) if move is None else move.run(part, call, args, kwargs)

    patches.wrap(module, "_apply", around)


def hook_hooks(patches: Patches, part: str, model: Any) -> None:  # noqa: ANN401
    """Record moves that hooks in a model make, and groups of modules."""
    for module in model.modules():
        for hook in _hooks_of_accelerate(getattr(module, "_hf_hook", None)):
            if getattr(hook, "offload", False):
                patches.wrap(hook, "pre_forward", _onload(part))
        registry = getattr(module, "_diffusers_hook", None)
        for hook in list(getattr(registry, "hooks", {}).values()):
            group = getattr(hook, "group", None)
            if hasattr(group, "onload_") and hasattr(group, "offload_"):
                patches.wrap(group, "onload_", _group_move(part, "onload_device"))
                patches.wrap(group, "offload_", _group_move(part, "offload_device"))


class _Move:
    """One move of tensors to a device."""

    def __init__(self, tensors: list[Any], device: Any) -> None:  # noqa: ANN401
        self.tensors = [tensor for tensor in tensors if is_move(tensor.device, device)]
        self.device = device

    @classmethod
    def by(cls, function: Any, module: Any) -> _Move | None:  # noqa: ANN401
        """What a function that torch applies to all tensors of a module moves; None for one that moves nothing."""
        try:
            if module is None or not getattr(function, "__qualname__", "").startswith(_MOVERS):
                return None
            tensors = weights(module)
            move = cls(tensors, function(tensors[0].detach()[..., :0].new_empty(0)).device) if tensors else None
        except Exception:
            # The move itself will say what is wrong with it.
            return None
        return move if move is not None and move.tensors else None

    def run(self, part: str, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any], stream: Any = None) -> Any:  # noqa: ANN401
        source = self.tensors[0].device
        name, direction = _direction(part, source, self.device)
        device = source if direction == "d2h" else self.device
        with (
            work_device.of(device),
            work_device.on(stream),
            _core.profile_section(name, bytes=bytes_of(self.tensors), direction=direction),
        ):
            self.tensors = []
            return call(*args, **kwargs)


def is_move(source: Any, target: Any) -> bool:  # noqa: ANN401
    """Whether data goes from one device to another; tensors without data (``meta``) go nowhere."""
    if "meta" in (source.type, target.type):
        return False
    same_index = source.index == target.index or None in (source.index, target.index)
    return source.type != target.type or not same_index


def _direction(part: str, source: Any, target: Any) -> tuple[str, str]:  # noqa: ANN401
    if target.type == "cpu":
        return f"offload_{part}", "d2h"
    return (f"onload_{part}", "h2d") if source.type == "cpu" else (f"{part}_to_device", "d2d")


def _hooks_of_accelerate(hook: Any) -> list[Any]:  # noqa: ANN401
    inner = getattr(hook, "hooks", None)
    return [hook] if inner is None else [one for each in inner for one in _hooks_of_accelerate(each)]


def _onload(part: str) -> Around:
    """Weights come from the host, or from disk, to where the module runs; afterwards they are dropped, not moved."""

    def around(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        hook = owner_of(call)
        coming = _coming(hook, args[0] if args else None)
        if coming <= 0:
            return call(*args, **kwargs)
        with work_device.of(hook), _core.profile_section(f"onload_{part}", bytes=coming, direction="h2d"):
            return call(*args, **kwargs)

    return around


def _coming(hook: Any, module: Any) -> int:  # noqa: ANN401
    try:
        if str(hook.execution_device).split(":")[0] in ("cpu", "meta", "None"):
            return 0
        is_deep = bool(hook.place_submodules)
        tensors = [*module.parameters(recurse=is_deep)]
        tensors += module.buffers(recurse=is_deep) if hook.offload_buffers else ()
        return bytes_of([tensor for tensor in tensors if tensor.device.type == "meta"])
    except Exception:
        # A hook of another kind: what it moves is not known.
        return 0


def _group_move(part: str, target: str) -> Around:
    def around(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        moved = owner_of(call)
        move = _group(moved, target)
        if move is None:
            return call(*args, **kwargs)
        # To the host nothing is copied on it: a copy is kept there.
        stream = getattr(moved, "stream", None) if target == "onload_device" else None
        return move.run(part, call, args, kwargs, stream)

    return around


def _group(group: Any, target: str) -> _Move | None:  # noqa: ANN401
    try:
        tensors = [tensor for module in group.modules for tensor in weights(module)]
        tensors += [*group.parameters, *group.buffers]
        move = _Move(list({id(tensor): tensor for tensor in tensors}.values()), _device(getattr(group, target)))
    except Exception:
        # A group of another kind: what it moves is not known.
        return None
    return move if move.tensors else None


def _device(device: Any) -> Any:  # noqa: ANN401
    import sys

    return sys.modules["torch"].device(device)
