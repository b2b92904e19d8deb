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

if TYPE_CHECKING:
    from collections.abc import Callable

_LOADERS = ("from_pretrained", "from_single_file")


class _Depth(threading.local):
    value = 0


_depth = _Depth()


def hook_loaders(kind: Any) -> Callable[[], None]:  # noqa: ANN401
    """Record every load by this class and those below it that have no loader of their own.

    Returns:
        A function that takes this back, as far as nobody has put something else in its place.
    """
    made: dict[str, tuple[Any, Any]] = {}
    for name in _LOADERS:
        loader = values_of(kind).get(name)
        if isinstance(loader, classmethod) and not hasattr(cast("Any", loader).__func__, "is_of_marey"):
            made[name] = _recorded(cast("Any", loader).__func__), loader
            setattr(kind, name, made[name][0])

    def take_back() -> None:
        for name, (recorded, loader) in made.items():
            if values_of(kind).get(name) is recorded:
                setattr(kind, name, loader)

    return take_back


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
