"""Memory history with real torch; on a machine without CUDA nothing is recorded and nothing raises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from marey.memory_history import MemoryHistory, dump_now

if TYPE_CHECKING:
    from pathlib import Path

if torch.cuda.is_available():

    def test_an_allocation_is_in_the_file(tmp_path: Path) -> None:
        history = MemoryHistory()
        assert history.start()
        kept = torch.empty(1 << 20, device="cuda")
        path = history.dump(tmp_path / "cuda.pickle")
        history.stop()
        assert path is not None
        assert kept.numel() == 1 << 20
        assert not torch._C._cuda_isHistoryEnabled()

else:

    def test_without_cuda_there_is_no_history_and_it_says_why() -> None:
        history = MemoryHistory()
        assert not history.start()
        assert history.why_not == "torch sees no CUDA device"
        history.stop()

    def test_a_snapshot_of_no_device_is_written_whole(tmp_path: Path) -> None:
        path = dump_now(tmp_path / "empty.pickle")
        assert path == tmp_path / "empty.pickle"
        assert [file.name for file in tmp_path.iterdir()] == ["empty.pickle"]
