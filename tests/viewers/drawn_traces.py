"""What writes a drawn run as a trace."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

Drawn = Callable[[str, str, str], Path]
"""The file of a drawn run: `drawn(format, run, name of the file)`, each in a folder of its own."""


@cache
def program() -> str:
    """The example `traces` of marey-report, as cargo builds it."""
    command = ["cargo", "build", "--locked", "-p", "marey-report", "--example", "traces", "--message-format", "json"]
    said = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    built = [json.loads(line) for line in said.splitlines()]
    return next(one["executable"] for one in built if one.get("executable"))


def write(trace_format: str, run: str, path: Path) -> Path:
    """Writes a run as the example draws it."""
    subprocess.run([program(), trace_format, run, str(path)], check=True, stdout=subprocess.DEVNULL)
    return path
