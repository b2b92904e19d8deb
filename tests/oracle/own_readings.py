"""What a process reads of itself from the kernel, without Marey."""

from __future__ import annotations

import mmap
import resource
from pathlib import Path

PAGE = mmap.PAGESIZE


def resident() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def highest_resident() -> int:
    """Most bytes of this process that ever were in memory."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def usage_now() -> dict[str, float]:
    """What the kernel counts of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    counted = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return {
        "user_s": used.ru_utime,
        "system_s": used.ru_stime,
        # Not ru_maxrss: a program begins with that of the one that started it.
        "peak_bytes": highest_resident(),
        "resident_bytes": resident(),
        "read_bytes": int(counted["rchar"]),
        "written_bytes": int(counted["wchar"]),
    }


def used_now() -> list[float]:
    """Processor time of the process and of the thread, bytes read from and written to storage, resident memory."""
    process, thread = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_THREAD)
    cpu = [used.ru_utime + used.ru_stime for used in (process, thread)]
    return [*cpu, process.ru_inblock * 512, process.ru_oublock * 512, resident()]
