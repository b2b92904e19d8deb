"""What an import costs: CPU time of a whole fresh interpreter, start and end included."""

from __future__ import annotations

import os
import statistics
import sys


def process_cpu_ms(code: str) -> float:
    """User and system time, in ms, of a Python process that runs this code."""
    child = os.posix_spawn(sys.executable, [sys.executable, "-c", code], os.environ)
    _, status, usage = os.wait4(child, 0)
    if status:
        message = f"{code!r} failed with status {status}"
        raise RuntimeError(message)
    return 1000 * (usage.ru_utime + usage.ru_stime)


def more_than(module: str, other: str, repeats: int) -> tuple[float, float]:
    """Median CPU time, in ms, of a process that imports each of the two, taken in turns."""
    for name in (module, other):
        process_cpu_ms(f"import {name}")  # byte code and files are in the caches now
    pairs = [(process_cpu_ms(f"import {module}"), process_cpu_ms(f"import {other}")) for _ in range(repeats)]
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)
