"""Memory readings under the user's labels."""

from __future__ import annotations

import os
import sys

from marey import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class MemoryTracker:
    """Reads memory at points that the user names, or around a ``with`` block.

    With torch imported and CUDA in use it reads torch's allocator (allocated, reserved, highest allocated since the
    process started or somebody reset it); otherwise the resident memory of the process, which has nothing reserved,
    and says so. It never resets torch's peak, because others rely on it. The highest resident memory is that since the
    tracker's first reading: for it the kernel counts anew from there on, so that `ru_maxrss` is of the time since then.
    Where that is not allowed it is the highest reading, and `report()` says so. A reading costs some 30 us.

    Args:
        enabled: False reads nothing.
        device: What torch calls the device; default the one on which the pipeline works that is running, else the
            current CUDA device, else, where that is not in use, the only one that is.
    """

    def __init__(self, enabled: bool = True, device: Any = None) -> None:  # noqa: ANN401
        """Make a tracker."""
        self.enabled = enabled
        self.device = device
        self.log = _core.MemoryLog()

    def snapshot(self, label: str) -> None:
        """Read memory now, under a label."""
        if self.enabled and not self._read_torch(label):
            self.log.read_process(label)

    def clear(self) -> None:
        """Forget the readings. The capture keeps them."""
        self.log.clear()

    def print_summary(self) -> None:
        """Print the readings as a table, in MiB."""
        print(self.log.summary())

    def export_json(self, path: str | os.PathLike[str]) -> None:
        """Write the readings as a JSON list: label, timestamp, allocated_mb, reserved_mb, max_allocated_mb, source.

        Raises:
            Error: The file cannot be written.
        """
        self.log.export(os.fspath(path))

    def __enter__(self) -> MemoryTracker:
        """Read memory at the beginning of the block."""
        self.snapshot("start")
        return self

    def __exit__(self, *exception: object) -> None:
        """Read memory at the end of the block."""
        self.snapshot("end")

    def get_peak_memory_gb(self) -> float | None:
        """Highest memory in use that the readings know of, in GiB; None before the first."""
        return self.log.peak_gib

    def report(self) -> None:
        """Print the peak, and of what it is."""
        print(self.log.peak_line())

    def _read_torch(self, label: str) -> bool:
        torch: Any = sys.modules.get("torch")
        try:
            if torch is None or not torch.cuda.is_initialized():
                return False
            if self.device in (None, "cuda"):
                from marey.work_device import number

                index = device = number(torch)
            else:
                device = self.device
                index = torch.device(device).index or 0
            if index is None:
                return False
            self.log.take_torch_cuda(
                label,
                index,
                torch.cuda.memory_allocated(device),
                torch.cuda.memory_reserved(device),
                torch.cuda.max_memory_allocated(device),
            )
        except Exception:
            # Another kind of device, or a torch that is half imported: the process's memory is still true.
            return False
        return True
