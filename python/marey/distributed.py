"""Ranks: which one this process is, and what ``torch.distributed`` does between them, as sections.

```text
                 all_reduce(t)                    work = all_reduce(t, async_op=True)     work.wait()
Python           |--- all_reduce ---|             |all_reduce|   other work               |- wait -|
                 group, group_size, bytes         is_async       of the program           collective="all_reduce"
```

Only the outermost call is a section: ``all_gather_object`` calls ``all_gather``, whose time would be counted twice.
What is called below Python (by DDP's reducer, by functional collectives in compiled code) is not seen here; traces of
torch.profiler have it. ``isend`` and ``irecv`` stay as they are, because torch compares them by identity
(``P2POp(dist.isend, …)``); the waiting for them is seen. Nothing is sent to other ranks, and nothing waits for them.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any, cast

from marey import _core
from marey.replacements import put

if TYPE_CHECKING:
    from collections.abc import Callable

    Call = Callable[..., Any]

__all__ = ["Instrumented", "instrument", "learn_rank", "set_rank", "start_mark"]

# Functions of torch.distributed, and the sections that their calls are.
_COLLECTIVES = {
    "all_reduce": "all_reduce",
    "all_reduce_coalesced": "all_reduce",
    "all_gather": "all_gather",
    "all_gather_coalesced": "all_gather",
    "all_gather_into_tensor": "all_gather_into_tensor",
    "_all_gather_base": "all_gather_into_tensor",
    "all_gather_object": "all_gather_object",
    "reduce_scatter": "reduce_scatter",
    "reduce_scatter_tensor": "reduce_scatter_tensor",
    "_reduce_scatter_base": "reduce_scatter_tensor",
    "reduce": "reduce",
    "broadcast": "broadcast",
    "broadcast_object_list": "broadcast_object_list",
    "scatter": "scatter",
    "scatter_object_list": "scatter",
    "gather": "gather",
    "gather_object": "gather",
    "all_to_all": "all_to_all",
    "all_to_all_single": "all_to_all_single",
    "barrier": "barrier",
    "monitored_barrier": "monitored_barrier",
    "send": "send",
    "send_object_list": "send",
    "recv": "recv",
    "recv_object_list": "recv",
    "batch_isend_irecv": "batch_isend_irecv",
    "init_process_group": "init_process_group",
}
_C10D = "torch.distributed.distributed_c10d"


def set_rank(rank: int, world_size: int, local_rank: int | None = None) -> bool:
    """Say which rank this process is, where its launcher does not: of Ray actors, or of ``mp.spawn``.

    It counts for the capture that is being written and for later ones, over what the environment says. After
    ``torch.distributed.init_process_group`` Marey learns it by itself where the environment says nothing.

    Args:
        rank: Place in the job, from 0.
        world_size: Number of ranks.
        local_rank: Place among the ranks of this host.

    Returns:
        False when these numbers cannot be; nothing changes then.
    """
    global _said_in
    try:
        is_kept = _core.set_rank(rank, world_size, local_rank)
    except (TypeError, OverflowError):  # not whole numbers, or below zero
        return False
    if is_kept:
        _said_in = os.getpid()
    return is_kept


def start_mark() -> None:
    """Mark a moment that all ranks pass at about the same time, to align their clocks where there are no collectives.

    Call it right after whatever brings them together. It waits for nobody: how far apart ranks set a mark is not known,
    so that clocks are aligned by marks without a bound on the error. Of several marks the median counts.
    """
    _core.event("start_mark")


class Instrumented:
    """What ``instrument`` has put into torch, until ``undo()``."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.is_active = True
        self._put: list[Callable[[], object]] = []

    def put(self, owner: Any, name: str, value: Any) -> None:  # noqa: ANN401
        """Put a value into a module or class, to be taken back."""
        self._put.append(put(owner, name, value))

    def undo(self) -> None:
        """Put everything back that nobody has replaced since. Doing it again changes nothing."""
        global _installed
        with _lock:
            # Whoever has imported a function by name keeps it, and it does nothing more.
            self.is_active = False
            while self._put:
                self._put.pop()()
            if _installed is self:
                _installed = None


def instrument() -> Instrumented | None:
    """Make the collectives of ``torch.distributed`` sections from now on, and ``wait`` of what they return.

    ``marey run`` and ``MAREY_ENABLED=1`` do this by themselves. Arguments, results, exceptions and signatures stay as
    they are, and compiled code calls torch alone. Code that has imported a function by its name before keeps the bare
    one. Doing it again changes nothing.

    Returns:
        What takes it back by ``undo()``; None where ``torch.distributed`` is not imported or not part of torch.
    """
    global _installed
    c10d: Any = sys.modules.get(_C10D)
    if c10d is None:
        return None
    with _lock:
        if _installed is None:
            _installed = Instrumented()
            try:
                _install(c10d, _installed)
            except Exception as error:  # a torch whose functions are others: what is in place stays
                _not_instrumented("torch.distributed", error)
        installed = _installed
    learn_rank()
    return installed


def _install(c10d: Any, installed: Instrumented) -> None:  # noqa: ANN401
    # While torch is being imported, the package has no functions yet, and takes these when it does.
    package: Any = sys.modules.get("torch.distributed")
    for name, section in _COLLECTIVES.items():
        function = getattr(c10d, name, None)
        if not inspect.isfunction(function):
            continue
        recorded = _recorded(c10d, function, section, installed)
        installed.put(c10d, name, recorded)
        if getattr(package, name, None) is function:
            installed.put(package, name, recorded)
    work: Any = getattr(c10d, "Work", None)
    if work is not None:
        installed.put(work, "wait", _recorded_wait(work.wait, installed))


def _recorded(c10d: Any, function: Any, section: str, installed: Instrumented) -> Any:  # noqa: ANN401
    """A function with a section around its outermost call."""
    arguments = _Arguments(function)
    is_start = section == "init_process_group"

    @functools.wraps(function)
    def collective(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        # A compiler that traces this sees the function only.
        if _is_compiling() or not installed.is_active or _inside.is_collective:
            return function(*args, **kwargs)
        said = {} if is_start else arguments.said(c10d, args, kwargs)
        try:
            _inside.is_collective = True
            with _core.profile_section(section, **said):
                result = function(*args, **kwargs)
        finally:
            _inside.is_collective = False
        if is_start:
            learn_rank()
        elif result is not None:
            _remember(result, section, said)
        return result

    return collective


def _recorded_wait(wait: Any, installed: Instrumented) -> Any:  # noqa: ANN401
    @functools.wraps(wait)
    def recorded_wait(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        if _is_compiling() or not installed.is_active or _inside.is_collective:
            return wait(self, *args, **kwargs)
        with _core.profile_section("wait", **_handles.get(id(self), _NOTHING)):
            return wait(self, *args, **kwargs)

    return recorded_wait


class _Inside(threading.local):
    is_collective = False


class _Arguments:
    """Where a function's group is among its arguments, and what is said of a call."""

    def __init__(self, function: Any) -> None:  # noqa: ANN401
        names = list(inspect.signature(function).parameters)
        self._group = names.index("group") if "group" in names else None
        self._is_async = names.index("async_op") if "async_op" in names else None
        # Objects of the program can be of any size, and looking through them takes its time.
        self._has_tensors = "_object" not in str(function.__name__)

    def said(self, c10d: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401
        """Attributes of the section; those that cannot be found are left out."""
        said: dict[str, Any] = {}
        try:
            group = _argument("group", self._group, args, kwargs)
            if group is None and args and isinstance(args[0], list):
                # A list of operations between two ranks knows it.
                group = next((getattr(one, "group", None) for one in cast("list[Any]", args[0])), None)
            said["group"], said["group_size"] = _group(c10d, group)
            tensors = (*args, *kwargs.values()) if self._has_tensors else ()
            n_bytes = max(map(_bytes, tensors), default=0)
            if n_bytes:
                said["bytes"] = n_bytes
            if _argument("async_op", self._is_async, args, kwargs):
                said["is_async"] = True
        except Exception:  # whatever a wrong call brings: torch says what is wrong with it
            return said
        return said


def _argument(name: str, at: int | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
    if name in kwargs:
        return kwargs[name]
    return args[at] if at is not None and at < len(args) else None


def _group(c10d: Any, group: Any) -> tuple[str, int]:  # noqa: ANN401
    """A name that is the same on all ranks of the group and no other group's, and how many they are."""
    default = c10d._get_default_group()
    if group is None or group is default:
        return "default_pg", int(default.size())
    name, kind = str(group.group_name), str(getattr(group, "group_desc", "") or "")
    return f"{kind}:{name}" if kind not in ("", "undefined", name) else name, int(group.size())


def _bytes(value: Any) -> int:  # noqa: ANN401
    """Bytes of a tensor, or of all in a list; 0 for anything else."""
    if isinstance(value, (list, tuple)):
        return sum(map(_bytes, cast("list[Any]", value)))
    if hasattr(value, "element_size"):
        return int(value.numel() * value.element_size())
    tensor = getattr(value, "tensor", None)  # of an operation between two ranks
    return 0 if tensor is None else int(tensor.numel() * tensor.element_size())


def _remember(result: Any, section: str, said: dict[str, Any]) -> None:  # noqa: ANN401
    """Keep what the handles are of, while they live, for the section of their ``wait``."""
    attributes = {"collective": section, **{key: said[key] for key in ("group", "group_size") if key in said}}
    for handle in cast("list[Any]", result) if isinstance(result, list) else [result]:
        try:
            number = id(handle)
            weakref.finalize(handle, _handles.pop, number, None).atexit = False
            _handles[number] = attributes
        except TypeError:  # no handle, or without room for a weak reference
            continue


def learn_rank() -> None:
    """Take the rank of the process group, unless the launcher named one of several or the program said it itself."""
    c10d: Any = sys.modules.get(_C10D)
    if c10d is None:
        return
    try:
        _, world_size, _ = _core.place()
        if not c10d.is_initialized() or _said_in == os.getpid() or (world_size or 0) > 1:
            return
        local = os.environ.get("LOCAL_RANK", "")
        rank, size = c10d.get_rank(), c10d.get_world_size()
        local_rank = int(local) if local.isdecimal() and int(local) < size else None
        _core.set_rank(rank, size, local_rank)
    except Exception as error:
        _not_instrumented("rank", error)


def _not_instrumented(what: str, error: Exception) -> None:
    from marey.pipelines.patches import pass_over

    pass_over(what, error)


def _is_compiling() -> bool:
    compiler: Any = getattr(sys.modules["torch"], "compiler", None)
    return compiler is not None and bool(compiler.is_compiling())


_NOTHING: dict[str, Any] = {}
_inside = _Inside()
_handles: dict[int, dict[str, Any]] = {}
_lock = threading.Lock()
_installed: Instrumented | None = None
# The process in which the program itself said its rank; a forked child may be another one.
_said_in: int | None = None
