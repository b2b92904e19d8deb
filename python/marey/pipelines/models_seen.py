"""Which torch models a program made, for the summary of one of which nothing was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from marey import _core
from marey.pipelines.patches import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST = 3
"""Models that are named."""
_KEPT = 10_000
"""Modules that are looked at."""
_sizes: dict[int, tuple[type[Any], int]] = {}
"""By the ``id`` of a module that is in no other one: its class, and how many modules it has."""
_gone: dict[type[Any], int] = {}
"""By class, of modules whose ``id`` another one has got since."""


def watch(module: Any) -> Callable[[], object]:  # noqa: ANN401
    """Look at modules that are put into others; ``module`` is torch's. Returns what ends it."""
    return module.register_module_module_registration_hook(_put_in).remove


def tell() -> None:
    """Note the event ``models_seen`` with the largest ones, unless more was recorded than imports and loading."""
    names = _core.TimingStats.of_process().get_all_stats()
    seen = sorted([*_sizes.values(), *_gone.items()], key=lambda one: one[1], reverse=True)
    models = dict.fromkeys(kind.__name__ for kind, _ in seen if not kind.__module__.startswith("torch."))
    if models and all(name.startswith(("import", "model_load", "load_")) for name in names):
        _core.event("models_seen", models=", ".join([*models][:_MOST]))


def _put_in(parent: Any, _name: str, child: Any) -> None:  # noqa: ANN401
    size = _taken_out(parent) + _taken_out(child)
    if len(_sizes) < _KEPT:
        _sizes[id(parent)] = kind_of(parent), size


def _taken_out(module: Any) -> int:  # noqa: ANN401
    kind, size = _sizes.pop(id(module), (None, 1))
    if kind is None or isinstance(module, kind):
        return size
    _gone[kind] = max(_gone.get(kind, 0), size)
    return 1
