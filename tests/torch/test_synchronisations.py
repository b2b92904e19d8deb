"""Calls that wait for a device, as people found them in diffusers by eye and mended them, each named with its place.

There is no device: a mode knows which tensors would be on one, marks where the host would wait, and the marks become
calls of the runtime in the trace that torch wrote of it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from diffusers import FlowMatchEulerDiscreteScheduler
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

WAIT = "cudaStreamSynchronize"


class Device(TorchDispatchMode):
    """What is computed of tensors that are on it is on it, too; to read one there, or to copy to it, waits."""

    def put(self, tensor: torch.Tensor) -> torch.Tensor:
        """The same tensor, from now on there."""
        tensor.is_there = True
        return tensor

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = [one for one in tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)]
        are_there = [hasattr(one, "is_there") for one in given]
        name = func.overloadpacket.__name__
        reads = any(are_there) and name in ("_local_scalar_dense", "nonzero")
        copies = name == "copy_" and are_there[0] != are_there[1] and not dict(kwargs or {}).get("non_blocking")
        result = func(*args, **(kwargs or {}))
        if reads or copies:
            with record_function(WAIT):
                torch.ones(10_000).sum()
        if any(are_there):
            for one in tree_leaves(result):
                if isinstance(one, torch.Tensor):
                    self.put(one)
        return result


def places(folder: Path, work: Callable[[Device], object]) -> set[tuple[str, str]]:
    """The operator and the function of each wait."""
    device = Device()
    with profile(activities=[ProfilerActivity.CPU], with_stack=True) as profiler, device:
        work(device)
    path = folder / "trace.json"
    profiler.export_chrome_trace(str(path))
    trace = json.loads(path.read_text())
    # The mode is no part of the program.
    of_mode = re.compile("__torch_dispatch__|PythonDispatchMode")
    events = [one for one in trace["traceEvents"] if not of_mode.search(str(one.get("name")))]
    for one in events:
        if one.get("name") == WAIT:
            one["cat"] = "cuda_runtime"
    first = min((one for one in events if one.get("cat") == "cpu_op"), key=lambda one: one["ts"])
    launch = {**first, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "dur": 0.1, "args": {"correlation": 1}}
    args = {"correlation": 1, "device": 0, "stream": 7}
    kernel = {**launch, "cat": "kernel", "name": "kernel", "pid": 0, "tid": 7, "args": args}
    trace["traceEvents"] = [*events, launch, kernel]
    path.write_text(json.dumps(trace))
    command = [sys.executable, "-m", "marey", "analyze", str(path), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout)["files"][0]["answers"]["synchronisation"]["places"]
    return {(row["operator"], row["function"].rpartition(": ")[2]) for row in rows}


def euler(scheduler: Any, device: Device, begins_at: int | None) -> None:
    scheduler.set_timesteps(3)
    device.put(scheduler.timesteps)
    device.put(scheduler.sigmas)
    if begins_at is not None:
        scheduler.set_begin_index(begins_at)
    latents = device.put(torch.ones(1, 4))
    for t in scheduler.timesteps:
        latents = scheduler.step(latents, t, latents).prev_sample


def test_a_scheduler_that_looks_its_first_time_step_up_waits_and_one_that_is_told_does_not(tmp_path: Path) -> None:
    """diffusers 9580, 11696, 13356: ``index_for_timestep`` has ``nonzero()``, and ``item()`` of what that gives."""
    found = places(tmp_path, lambda device: euler(FlowMatchEulerDiscreteScheduler(), device, None))
    assert {("aten::nonzero", "index_for_timestep"), ("aten::_local_scalar_dense", "index_for_timestep")} <= found
    told = places(tmp_path, lambda device: euler(FlowMatchEulerDiscreteScheduler(), device, 0))
    assert not any(function == "index_for_timestep" for _, function in told)


def ltx_before(device: Device, timestep: torch.Tensor) -> float:
    return timestep[0].item() / 1000


def ltx_after(device: Device, timestep: torch.Tensor) -> torch.Tensor:
    return timestep[0] / 1000


def rope_before(device: Device, ids: torch.Tensor) -> torch.Tensor:
    return torch.arange(int(torch.max(ids)) + 1)


def rope_after(device: Device, ids: torch.Tensor) -> torch.Tensor:
    return torch.arange(ids.shape[0])


def constant_before(device: Device, at: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(at).copy_(torch.from_numpy(np.arange(4.0)))


def constant_after(device: Device, at: torch.Tensor) -> torch.Tensor:
    return torch.arange(4.0, device=at.device)


@pytest.mark.parametrize(
    ("before", "after", "operator"),
    [
        (ltx_before, ltx_after, "aten::_local_scalar_dense"),
        (rope_before, rope_after, "aten::_local_scalar_dense"),
        (constant_before, constant_after, "aten::copy_"),
    ],
)
def test_a_value_a_size_and_a_constant_that_are_read_from_a_device_or_copied_to_it_are_named(
    tmp_path: Path, before: Any, after: Any, operator: str
) -> None:
    """diffusers 13461, 13564: ``timestep[0].item()``, ``torch.max(ids)`` as a size, ``from_numpy(…).to(device)``."""

    def work(function: Any) -> Callable[[Device], object]:
        return lambda device: function(device, device.put(torch.arange(4.0)))

    assert places(tmp_path, work(before)) == {(operator, before.__name__)}
    assert places(tmp_path, work(after)) == set()
