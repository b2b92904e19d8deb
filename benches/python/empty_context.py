"""Compiles the empty C context manager (c_empty_context.c) for the running Python."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path


def compile_into(folder: Path) -> str | None:
    """Build the extension module `c_empty_context` there; None when done, otherwise why it could not be built."""
    headers = Path(sysconfig.get_path("include"))
    if not shutil.which("gcc"):
        return "gcc is missing"
    if not (headers / "Python.h").exists():
        return f"{headers}/Python.h is missing"
    target = folder / f"c_empty_context{sysconfig.get_config_var('EXT_SUFFIX')}"
    source = Path(__file__).with_name("c_empty_context.c")
    command = ["gcc", "-O2", "-shared", "-fPIC", f"-I{headers}", "-o", str(target), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return f"gcc failed: {done.stderr.strip()}" if done.returncode else None
