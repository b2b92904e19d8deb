"""Sections around the calls of a torch module.

A call of a module first looks for ``_compiled_call_impl`` in it, which is where ``module.compile()`` puts what it made.
A function there sees every call, with keywords, results and exceptions, and costs a third of a pair of torch's own
hooks. It is not copied and not pickled with the module, leaves ``forward`` and the hooks to others (accelerate,
diffusers), and a compiler that traces through the module goes past it: the graph is the same with and without.

```text
module(x) ─► _wrapped_call_impl ─► _compiled_call_impl, if there ─► _call_impl ─► hooks, forward
                                     |--- section ------------------------------------------|
```
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from marey import _core, work_device
from marey.pipelines.patches import is_compiling, kind_of, pass_over, values_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from marey.pipelines.patches import Around, Patches

KEY = "_compiled_call_impl"


def is_hooked(module: Any) -> bool:  # noqa: ANN401
    """Whether calls of this module are recorded already, by whomever."""
    return hasattr(values_of(module).get(KEY), "holds_compiled")


def is_compiled(module: Any) -> bool:  # noqa: ANN401
    """Whether a compiler made this module's calls, so that what is inside is not called one by one."""
    call = values_of(module).get(KEY)
    return unwrapped(module) is not module or (call is not None and getattr(call, "holds_compiled", True))


def is_replicated(module: Any) -> bool:  # noqa: ANN401
    """Whether each call runs on copies of the module, one a device."""
    return kind_of(module).__name__ == "DataParallel"


def unwrapped(module: Any) -> Any:  # noqa: ANN401
    """The user's module in one that ``torch.compile`` made; else the module itself."""
    return values_of(module).get("_modules", {}).get("_orig_mod", module)


def unhook(module: Any) -> None:  # noqa: ANN401
    """Take out what records the calls of a module that is now inside another one."""
    values = values_of(module)
    if getattr(values.get(KEY), "holds_compiled", True) is False:
        del values[KEY]


def hook(patches: Patches, module: Any, name: str, around: Around | None = None) -> None:  # noqa: ANN401
    """Record each call of a module as a section; nothing where that is done already.

    Args:
        patches: Where this is kept, to be taken back.
        module: Any ``torch.nn.Module``, also a compiled one.
        name: Of the section.
        around: Runs a call, instead of a section of that name.
    """
    if is_hooked(module):
        return
    if not hasattr(kind_of(module), KEY):
        pass_over("calls of modules", AttributeError(f"this torch has no {KEY}"))
        return
    call = values_of(module).get(KEY)
    holds_compiled = call is not None
    if call is None:
        call = _uncompiled(module)
    module_of = weakref.ref(module)
    hooked: Any = _in_section(call, module_of, name) if around is None else _around(call, module_of, around)
    hooked.holds_compiled = holds_compiled
    patches.put(module, KEY, hooked)


def _uncompiled(module: Any) -> Callable[..., Any]:  # noqa: ANN401
    # Without a reference to the module: it would never be freed without the garbage collector.
    reference = weakref.ref(module)
    function = kind_of(module)._call_impl

    def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        return function(reference(), *args, **kwargs)

    return call


def _in_section(call: Callable[..., Any], module: Callable[[], Any], name: str) -> Callable[..., Any]:
    compiling, section = is_compiling(), _core.profile_section

    def hooked(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        if compiling():
            return call(*args, **kwargs)
        if work_device.are_several:
            with work_device.of(module()), section(name):
                return call(*args, **kwargs)
        with section(name):
            return call(*args, **kwargs)

    return hooked


def _around(call: Callable[..., Any], module: Callable[[], Any], around: Around) -> Callable[..., Any]:
    compiling = is_compiling()

    def hooked(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        if compiling():
            return call(*args, **kwargs)
        with work_device.of(module()):
            return around(call, args, kwargs)

    return hooked
