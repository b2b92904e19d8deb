"""Loading of models and pipelines, each as a section.

``model_load`` is the outermost; what it loads one after the other is in it as ``load_<class>``. After it memory is read
as ``after_model_load``::

    model_load                    |------------------------------------|     WanPipeline.from_pretrained
      load_UMT5EncoderModel         |-----------------|
      load_WanTransformer3DModel                       |---------|
"""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any, cast

from marey import _core
from marey.memory import MemoryTracker
from marey.pipelines.patches import values_of
from marey.replacements import put

if TYPE_CHECKING:
    from collections.abc import Callable

_LOADERS = ("from_pretrained", "from_single_file")


class _Depth(threading.local):
    value = 0


_depth = _Depth()


def hook_loaders(kind: Any) -> list[Callable[[], bool]]:  # noqa: ANN401
    """Record every load by this class and those below it that have no loader of their own.

    Returns:
        What takes this back, as far as nobody has put something else in its place.
    """
    found = [(name, values_of(kind).get(name)) for name in _LOADERS]
    loaders = [(name, cast("Any", loader).__func__) for name, loader in found if isinstance(loader, classmethod)]
    return [put(kind, name, _recorded(load)) for name, load in loaders if not hasattr(load, "is_of_marey")]


def _recorded(function: Any) -> Any:  # noqa: ANN401
    @functools.wraps(function)
    def load(kind: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        name = str(getattr(kind, "__name__", "model"))
        section = "model_load" if _depth.value == 0 else f"load_{name}"
        _depth.value += 1
        try:
            with _core.profile_section(section, model=name):
                result = function(kind, *args, **kwargs)
        finally:
            _depth.value -= 1
        if _depth.value == 0:
            MemoryTracker().snapshot("after_model_load")
        return result

    recorded: Any = load
    recorded.is_of_marey = True
    return classmethod(recorded)
