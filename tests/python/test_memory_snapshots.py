"""A memory snapshot is a pickle, and what a pickle asks to be run is not run."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any


def test_a_pickle_that_would_run_code_runs_none(tmp_path: Path) -> None:
    witness = tmp_path / "witness"

    class Opens:
        def __reduce__(self) -> tuple[Any, ...]:
            return (open, (str(witness), "w"))

    path = tmp_path / "hostile.pickle"
    path.write_bytes(pickle.dumps({"segments": [], "device_traces": [], "extra": Opens()}, protocol=4))
    command = [sys.executable, "-m", "marey", "analyze", str(path)]
    said = subprocess.run(command, check=False, capture_output=True, text=True)
    assert said.returncode == 2
    assert "STACK_GLOBAL" in said.stderr
    assert not witness.exists()
