"""GPU time and memory of sections with torch on the CPU: nothing is measured, nothing is changed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import marey
from marey import _core, gpu_times

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
import stand_in_cuda


def records() -> dict[str, list[dict[str, object]]]:
    """What the recording that ends here left."""
    capture = marey.stop()
    assert capture is not None
    return json.loads(_core.records(str(capture)))


def test_without_a_gpu_nothing_is_measured_and_torch_stays_as_it_is(recording: None) -> None:
    before = dict(vars(torch._C))
    graph = torch.cuda.CUDAGraph.capture_begin
    with marey.profile_section("denoise"):
        torch.ones(8, 8) @ torch.ones(8, 8)
    assert not torch.cuda.is_initialized()
    found = records()
    assert (found["gpu_spans"], found["section_memory"]) == ([], [])
    assert {name: value for name, value in vars(torch._C).items() if before.get(name) is not value} == {}
    assert torch.cuda.CUDAGraph.capture_begin is graph


def test_torch_without_cuda_is_asked_for_it_once(recording: None, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[bool] = []
    watch = gpu_times.watch
    monkeypatch.setattr(gpu_times, "watch", lambda: looks.append(watch()) or looks[-1])
    for name in ("first", "second", "third"):
        with marey.profile_section(name):
            pass
    assert looks == [True]


@pytest.fixture
def allocator(monkeypatch: pytest.MonkeyPatch) -> Iterator[stand_in_cuda.Gpu]:
    """A stand-in below torch's own Python: its figures by ``torch.cuda.memory``, with CUDA initialised."""
    for name, function in stand_in_cuda.FUNCTIONS.items():
        monkeypatch.setattr(torch._C, name, function, raising=False)
    monkeypatch.setattr(torch._C, "_accelerator_isAllocatorInitialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda.memory, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda.memory, "_get_device_index", lambda device, optional=False: device or 0)
    monkeypatch.setattr(torch.accelerator.memory, "_get_device_index", lambda device, optional=False: device or 0)
    monkeypatch.setenv("MAREY_GPU_TIMES", "0")
    gpu = stand_in_cuda.gpu
    gpu.held, gpu.peaks, gpu.contexts, gpu.violations = {}, {}, {0}, []
    yield gpu
    assert gpu.violations == []


def test_torchs_own_peak_statistics_stay_the_programs(
    allocator: stand_in_cuda.Gpu, recording: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # held        7 1      5 2     4  1   3
    # torch's     7 7      7 7  2  4  4   4
    # outer          |---------------------|     4 at least
    # inner                             |--|     3 at least
    # reset                  ^
    allocator.hold(7)
    allocator.hold(1)
    with marey.profile_section("outer"):
        assert torch.cuda.max_memory_allocated() == 7
        assert torch.accelerator.max_memory_reserved() == 7
        allocator.hold(5)
        allocator.hold(2)
        torch.cuda.reset_peak_memory_stats()
        assert torch.cuda.max_memory_allocated() == 2
        allocator.hold(4)
        allocator.hold(1)
        with marey.profile_section("inner"):
            assert torch.cuda.max_memory_allocated() == 4
            assert torch.accelerator.max_memory_allocated() == 4
            assert torch.cuda.memory_stats()["active_bytes.small_pool.peak"] == 4
            allocator.hold(3)
            assert torch._C._cuda_memoryStats is stand_in_cuda.memory_stats
    found = {row["name"]: (row["allocated"], row["allocated_peak_error"]) for row in records()["section_memory"]}
    assert found == {"inner": ([1, 3, 3], 1), "outer": ([1, 4, 3], 2**64 - 1)}
    torch.accelerator.reset_peak_memory_stats()
    assert torch.cuda.max_memory_allocated() == 3
