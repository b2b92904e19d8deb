"""Stands for packages and modules that are imported and, on a CPU, not used: kernels, servers, other frameworks.

Whatever is taken from one is a class that can be made, called, entered, subclassed and put around a function.
"""

from __future__ import annotations

import abc
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import sys
import types
from collections.abc import Iterator
from typing import Any, ClassVar


class _Kind(abc.ABCMeta):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        made = _anything(name)
        setattr(cls, name, made)
        return made

    def __getitem__(cls, _key: Any) -> Any:
        return cls

    def __or__(cls, _other: Any) -> Any:
        return cls

    __ror__ = __or__

    def __iter__(cls) -> Iterator[Any]:
        return iter(())

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return args[0] if _is_decorated(args, kwargs) else super().__call__(*args, **kwargs)


def _is_decorated(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return len(args) == 1 and not kwargs and (inspect.isfunction(args[0]) or inspect.isclass(args[0]))


def _anything(name: str) -> Any:
    def attribute(_self: Any, key: str) -> Any:
        if key.startswith("_"):
            raise AttributeError(key)
        return _anything(key)

    return _Kind(
        name,
        (),
        {
            "__init__": lambda *_, **__: None,
            "__init_subclass__": classmethod(lambda *_, **__: None),
            "__getattr__": attribute,
            "__call__": lambda self, *args, **kwargs: args[0] if _is_decorated(args, kwargs) else self,
            "__enter__": lambda self: self,
            "__exit__": lambda *_: None,
        },
    )


class _Absent(types.ModuleType):
    __path__: ClassVar[list[str]] = []
    __version__ = "9.9.9"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = _anything(name)
        setattr(self, name, made)
        return made


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, names: list[str]) -> None:
        self._names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        is_absent = any(name == absent or name.startswith(f"{absent}.") for absent in self._names)
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if is_absent else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Absent(spec.name)

    def exec_module(self, module: types.ModuleType) -> None: ...


def stand_in(names: str) -> None:
    """Make these modules, and those below them, importable."""
    sys.meta_path.insert(0, _Finder(names.split()))


def without_init(package: str) -> None:
    """Make the modules of a package importable without what its ``__init__`` does to others."""
    (folder,) = importlib.util.find_spec(package).submodule_search_locations
    bare = types.ModuleType(package)
    bare.__path__, bare.__file__ = [folder], f"{folder}/__init__.py"
    sys.modules[package] = bare
