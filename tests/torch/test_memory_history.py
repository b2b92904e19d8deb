"""Memory history with real torch on a machine without CUDA: nothing is recorded, nothing raises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from marey.memory_history import MemoryHistory, dump_now

if TYPE_CHECKING:
    from pathlib import Path

without_cuda = pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
with_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no CUDA")


@without_cuda
def test_without_cuda_there_is_no_history_and_it_says_why() -> None:
    history = MemoryHistory()
    assert not history.start()
    assert history.why_not == "torch sees no CUDA device"
    history.stop()


@without_cuda
def test_a_snapshot_of_no_device_is_empty_and_can_be_read(tmp_path: Path) -> None:
    path = dump_now(tmp_path / "empty.pickle")
    assert path == tmp_path / "empty.pickle"
    assert [file.name for file in tmp_path.iterdir()] == ["empty.pickle"]


@with_cuda
def test_an_allocation_is_in_the_file(tmp_path: Path) -> None:
    history = MemoryHistory()
    assert history.start()
    kept = torch.empty(1 << 20, device="cuda")
    path = history.dump(tmp_path / "cuda.pickle")
    history.stop()
    assert path is not None
    assert kept.numel() == 1 << 20
    assert not torch._C._cuda_isHistoryEnabled()
