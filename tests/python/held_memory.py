"""What a program holds of its allocator: a number that depends on what it kept, and not on when it was scheduled."""

from __future__ import annotations

import ctypes

ENVIRONMENT = {"PYTHONMALLOC": "malloc"}
"""With this Python's objects are of the same allocator as Marey's."""


class _Info(ctypes.Structure):
    """``struct mallinfo``."""

    _fields_ = [(name, ctypes.c_int) for name in "arena ordblks smblks hblks mapped u f held free keep".split()]


def held_bytes() -> int:
    """Bytes of all allocations that were not given back."""
    mallinfo = ctypes.CDLL(None).mallinfo
    mallinfo.restype = _Info
    info = mallinfo()
    return info.held + info.mapped
