"""What writes a drawn run as a trace."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]

Drawn = Callable[[str, str, str], Path]
"""The file of a drawn run: `drawn(format, run, name of the file)`, each in a folder of its own."""


def write(trace_format: str, run: str, path: Path) -> Path:
    """Writes a run as the example `traces` of marey-report draws it."""
    command = ["cargo", "run", "--quiet", "--locked", "-p", "marey-report", "--example", "traces", "--"]
    subprocess.run([*command, trace_format, run, str(path)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return path
