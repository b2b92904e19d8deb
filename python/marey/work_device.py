"""On which device and stream the work of a section runs, as far as modules, pipelines and hooks say so.

``of`` and ``on`` are for ``with`` blocks. What is true where nobody says is decided where events are recorded
(``crates/marey-python/src/devices.rs`` has the rules).
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from itertools import chain
from typing import TYPE_CHECKING, Any

from marey import _core

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

are_several = False
"""Work can be elsewhere than on the current device; else ``of`` need not be asked."""
_NOWHERE_ELSE = nullcontext()


def watch(c: Any) -> None:  # noqa: ANN401
    """From now on sections have a place, by functions of ``torch._C``."""
    global are_several
    are_several = _core.watch_devices(
        number=c._cuda_getDeviceCount(),
        is_chosen="LOCAL_RANK" in os.environ or c._cuda_getDevice() != 0,
        current=c._cuda_getDevice,
        has_context=getattr(c, "_cuda_hasPrimaryContext", None),
        current_stream=c._cuda_getCurrentStream,
        is_current_capturing=c._cuda_isCurrentStreamCapturing,
        new_stream=c._CudaStreamBase,
    )


def of(thing: Any) -> AbstractContextManager[None]:  # noqa: ANN401
    """For a ``with`` block in which a module, a pipeline or a method works, or a device. Not asked of one device."""
    if not are_several:
        return _NOWHERE_ELSE
    try:
        return _place_of(thing) or _NOWHERE_ELSE
    except Exception:
        # A kind of thing that is not known: what is around it says where.
        return _NOWHERE_ELSE


def on(stream: Any) -> AbstractContextManager[None]:  # noqa: ANN401
    """For a ``with`` block whose work runs on a stream; None is the current one."""
    try:
        return (stream is not None and _core.WorkPlace.on(stream)) or _NOWHERE_ELSE
    except Exception:
        # A stream of another kind of device.
        return _NOWHERE_ELSE


def number(torch: Any) -> int | None:  # noqa: ANN401
    """The device on which work runs now: as somebody says, else the current one, else the only one that is in use."""
    place = _core.WorkPlace.here()
    if place is not None:
        return place.device
    current = torch.cuda.current_device()
    c = getattr(torch, "_C", None)
    has_context = getattr(c, "_cuda_hasPrimaryContext", None)
    if c is None or has_context is None or has_context(current):
        return current
    used = [device for device in range(c._cuda_getDeviceCount()) if has_context(device)]
    return used[0] if len(used) == 1 else None


def _place_of(thing: Any) -> _core.WorkPlace | None:  # noqa: ANN401
    """None where it is on another kind of device, or not known."""
    found = _execution_device(thing)
    if found is None and hasattr(thing, "parameters"):
        weights: Iterator[Any] = chain(thing.parameters(), thing.buffers())
        found = getattr(next(weights, None), "device", None)
    if found is None:
        found = thing
    if isinstance(found, str):
        kind, _, number = found.partition(":")
        index = int(number) if number else None
    else:
        kind, index = ("cuda", found) if isinstance(found, int) else (found.type, found.index)
    return _core.WorkPlace.at(index) if kind == "cuda" else None


def _execution_device(thing: Any) -> Any:  # noqa: ANN401
    """Where hooks of accelerate or diffusers bring the weights of a module, or a pipeline's own word; None without."""
    hook = getattr(thing, "_hf_hook", thing)
    for each in (hook, *getattr(hook, "hooks", ())):
        found = getattr(each, "execution_device", None)
        if found is not None:
            return found
    registry = getattr(thing, "_diffusers_hook", None)
    group = getattr(getattr(registry, "hooks", {}).get("group_offloading"), "group", None)
    return getattr(group, "onload_device", None) or getattr(thing, "_execution_device", None)
