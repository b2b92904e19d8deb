"""Every name of torch that Marey uses exists in the torch that is installed, or is used only where it is there.

Names are collected from the sources: what is written as ``torch.…``, and strings that name a function of ``torch._C``.
What is reached in another way stands in a table, as does what may be missing, with who sees to that.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import marey
from marey.distributed import _COLLECTIVES

SOURCES = sorted(Path(marey.__file__).parent.rglob("*.py"))
# What sources call torch._C.
C = "c"

# Reached by an object or a local name: in which file.
ELSEWHERE = {
    "torch._C._CudaEventBase.cuda_event": "gpu_times.py",
    "torch._C._CudaEventBase.elapsed_time": "gpu_times.py",
    "torch._C._CudaEventBase.query": "gpu_times.py",
    "torch._C._CudaEventBase.record": "gpu_times.py",
    "torch._C._CudaStreamBase.cuda_stream": "graph_captures.py",
    "torch._C._CudaStreamBase.device_index": "work_place.rs",
    "torch._C._CudaStreamBase.device_type": "work_place.rs",
    "torch._C._CudaStreamBase.is_capturing": "devices.rs",
    "torch._C._CudaStreamBase.stream_id": "work_place.rs",
    "torch._dynamo.callback.callback_handler.register_end_callback": "pipelines/compilations.py",
    "torch._dynamo.callback.callback_handler.register_start_callback": "pipelines/compilations.py",
    "torch.compiler.is_compiling": "pipelines/patches.py",
    "torch.autograd.profiler.profile._prepare_trace": "windows/surroundings.py",
    "torch.cuda.CUDAGraph.capture_begin": "graph_captures.py",
    "torch.cuda.CUDAGraph.capture_end": "graph_captures.py",
    "torch.cuda.synchronize": "sections with sync=True",
    "torch.distributed.distributed_c10d.Work.wait": "distributed.py",
    "torch.nn.Module._call_impl": "pipelines/modules.py",
    "torch.nn.Module._compiled_call_impl": "pipelines/modules.py",
    "torch.nn.ModuleList": "pipelines/parts.py",
    "torch.profiler.profile.export_chrome_trace": "windows/export.py",
    "torch.profiler.profile.start": "windows/window.py",
    "torch.profiler.profile.step": "windows/window.py",
    "torch.profiler.profile.stop": "windows/window.py",
}
# Missing in some torch, which is seen to: how.
MAY_BE_MISSING = {
    "torch._C._CudaStreamBase.is_capturing": "graph_captures asks the driver, devices.rs the current stream",
    "torch._C._cuda_hasPrimaryContext": "devices.rs takes every device for used",
    "torch._C._cuda_isHistoryEnabled": "memory_history asks with a default",
}


def written() -> Iterator[str]:
    """Names of torch in the sources."""
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text())):
            name = _dotted(node) if isinstance(node, ast.Attribute) else None
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value:
                is_of_c = node.value.startswith(("_cuda_", "_accelerator_", "_Cuda"))
                name = f"torch._C.{node.value}" if is_of_c else None
            if name is not None and name.startswith("torch."):
                yield name


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value)
        return None if owner is None else f"{owner}.{node.attr}"
    if isinstance(node, ast.Name):
        return "torch._C" if node.id == C else node.id
    return None


def exists(name: str) -> bool:
    """Whether the installed torch has it, in a module or in something that is in one."""
    found: Any = torch
    path = "torch"
    for part in name.split(".")[1:]:
        path = f"{path}.{part}"
        if not hasattr(found, part):
            try:
                found = importlib.import_module(path)
            except ImportError:
                return False
        else:
            found = getattr(found, part)
    return True


NOT_TORCHS = {"torch._C.isprintable"}  # of a character that is called c
NAMES = sorted({*written(), *ELSEWHERE} - NOT_TORCHS)


def test_the_names_are_found_in_the_sources() -> None:
    assert {"torch._C._cuda_getCurrentStream", "torch._C._cuda_memoryStats", "torch.profiler.profile"} <= set(NAMES)
    assert set(MAY_BE_MISSING) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_exists(name: str) -> None:
    if name.startswith(("torch._C._cuda_", "torch._C._Cuda")) and not hasattr(torch._C, "_cuda_getDeviceCount"):
        return  # A torch without CUDA: `gpu_times.watch` does nothing with it.
    assert exists(name) or name in MAY_BE_MISSING


def test_collectives_are_known_by_their_names() -> None:
    c10d = importlib.import_module("torch.distributed.distributed_c10d")
    # Old names go, and a name that is not there is passed over; most have to be there, or all have new names.
    missing = {name for name in _COLLECTIVES if not hasattr(c10d, name)}
    assert missing <= {"_all_gather_base", "_reduce_scatter_base", "all_gather_coalesced", "all_reduce_coalesced"}
