"""Peak memory of torch's allocator during sections, which leaves the peaks that others see as they are.

torch counts one set of peaks a device, and a reset is for everybody. While sections are watched, torch's functions
that read and reset them are Marey's: readers see the peaks as they would be without Marey, and a program's own reset is
one for the program only. ``MAREY_SECTION_MEMORY=0`` keeps it off. At the end of the recording torch gets its functions
back; where its own peaks would then be too low, with the program's next reset.
"""

from __future__ import annotations

from marey import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def begin(torch: Any) -> None:  # noqa: ANN401
    """Watch sections from now on. CUDA is initialised, or just being so."""
    c = torch._C
    originals = {name: getattr(c, name) for name in _NAMES if hasattr(c, name)}
    view = getattr(originals.get("_cuda_memoryStats"), "__self__", None)
    if isinstance(view, _core.PeakView):
        # Of an earlier recording, because the program's peaks need it.
        _core.start_section_memory(view)
        return

    def undo() -> None:
        for name, original in originals.items():
            if isinstance(getattr(getattr(c, name), "__self__", None), _core.PeakView):
                setattr(c, name, original)

    view = _core.PeakView(
        read=originals["_cuda_memoryStats"],
        reset=originals["_cuda_resetPeakMemoryStats"],
        read_accelerator=originals.get("_accelerator_getDeviceStats"),
        reset_accelerator=originals.get("_accelerator_resetPeakStats"),
        undo=undo,
    )
    if _core.start_section_memory(view):
        for name in originals:
            setattr(c, name, getattr(view, _NAMES[name]))


_NAMES = {
    "_cuda_memoryStats": "stats",
    "_cuda_resetPeakMemoryStats": "reset",
    "_accelerator_getDeviceStats": "accelerator_stats",
    "_accelerator_resetPeakStats": "accelerator_reset",
}
