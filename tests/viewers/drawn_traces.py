"""What writes a drawn run as a trace."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

Drawn = Callable[[str, str, str], Path]
"""The file of a drawn run: `drawn(format, run, name of the file)`, each in a folder of its own."""


def write(trace_format: str, run: str, path: Path) -> Path:
    """Writes a run as the example `traces` of marey-report draws it."""
    program = [Path(__file__).with_name("built"), "traces"]
    subprocess.run([*program, trace_format, run, path], check=True, stdout=subprocess.DEVNULL)
    return path
