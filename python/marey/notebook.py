"""Notebooks: after ``%load_ext marey`` a cell that begins with ``%%marey`` is recorded, and its first screen shown."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from marey import _core, recording
from marey.pipelines.arming import arm


def load_ipython_extension(shell: Any) -> None:  # noqa: ANN401
    """What ``%load_ext marey`` calls. From here on models and pipelines are instrumented when they are made."""

    def marey(line: str, cell: str) -> None:
        """Record this cell: %%marey [FOLDER], default profiling_results."""
        _record(shell, line.strip() or None, cell)

    arm()
    shell.register_magic_function(marey, "cell")


def _record(shell: Any, folder: str | None, cell: str) -> None:  # noqa: ANN401
    if _core.capture_path() is not None:
        # Of somebody else, who wants all of it.
        with recording.session("cell"):
            shell.run_cell(cell)
        print("marey: the cell is a session of the recording that goes on")
        return
    recording.stop()  # What earlier cells recorded in memory is none of this one.
    job = recording.start(folder)
    try:
        shell.run_cell(cell)
    finally:
        recording.stop()
    if job is not None:
        shown = subprocess.run(
            [sys.executable, "-m", "marey", "report", str(job)], capture_output=True, text=True, check=False
        )
        print(shown.stdout + shown.stderr)
