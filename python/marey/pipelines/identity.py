"""Which pipeline, and which of its models: names that tell them apart in one recording.

| what | its name |
|---|---|
| the first pipeline of a class that is called | ``FluxPipeline`` |
| the next one of that class | ``FluxPipeline #2`` |
| a model | its part's: ``transformer`` |
| one whose part's name another pipeline's model has | ``WanPipeline / transformer`` |

A pipeline has its number from its first call, so that one that is made and never called takes none. A model keeps its
name in whatever pipeline it is used, so that one that two of them share is one model; what comes into its place in the
same pipeline takes its name over.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from marey.pipelines.modules import unwrapped
from marey.pipelines.patches import kind_of, reference_to

if TYPE_CHECKING:
    from collections.abc import Callable

    from marey.pipelines.parts import Part

_MOST = 100
"""A program that makes a pipeline for each request has no more names than this of a class."""


class _Known:
    """Objects that have names, by their ``id``; they are kept alive by nobody here."""

    def __init__(self) -> None:
        self._each: dict[int, tuple[Callable[[], Any], str]] = {}

    def name_of(self, owner: object, make: Callable[[], str]) -> str:
        reference, name = self._each.get(id(owner), (lambda: None, ""))
        if reference() is not owner:
            name = make()
            self._each[id(owner)] = reference_to(owner), name
        return name


class _Names:
    def __init__(self) -> None:
        self.pipelines = _Known()
        self.models = _Known()
        self.counts: dict[str, int] = {}
        self.owners: dict[str, str] = {}


_names = _Names()
_change = threading.Lock()


def forget() -> None:
    """Begin anew: a recording has ended."""
    global _names
    _names = _Names()


def pipeline_name(pipeline: object) -> str:
    """The name of a pipeline that is called."""
    kind, names = str(kind_of(pipeline).__name__), _names

    def make() -> str:
        number = names.counts[kind] = min(names.counts.get(kind, 0) + 1, _MOST)
        more = " and later" if number == _MOST else ""
        return kind if number == 1 else f"{kind} #{number}{more}"

    with _change:
        return names.pipelines.name_of(pipeline, make)


def model_name(pipeline: str, part: Part) -> str:
    """The name of a model of the pipeline of this name."""
    names = _names

    def make() -> str:
        is_free = names.owners.setdefault(part.name, pipeline) == pipeline
        return part.name if is_free else f"{pipeline} / {part.name}"

    with _change:
        return names.models.name_of(unwrapped(part.object), make)
