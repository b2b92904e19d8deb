"""`scripts/gpu-check` on a machine without a GPU, and its table and exit codes with checks of the test's own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "gpu-check"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script as a module, on a machine that seems to have a GPU, without any check."""
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    loader = SourceFileLoader("gpu_check", str(SCRIPT))
    spec = spec_from_loader("gpu_check", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    monkeypatch.setattr(module, "why_no_gpu", lambda: None)
    monkeypatch.setattr(module, "CHECKS", {})
    return module


def test_without_a_gpu_it_says_so_in_a_line_and_ends_with_2() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout.startswith("nothing was checked: ")
    assert done.stdout.count("\n") == 1


def test_every_check_has_a_name_to_run_it_alone() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), "what"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        "no such check: what; there are event-pairs, streams, contexts, two-devices, captures, pending-error, "
        "allocator-peaks, history-before-cuda, memory-snapshot, nvml\n"
    )


def test_the_table_says_what_was_expected_and_found(
    script: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from gpu_checks.rows import NotAvailableError, Row, near, row

    def pairs() -> Iterator[Row]:
        yield near("pair", "ms", 50.0, 50.9, 1.1)
        yield near("longer", "ms", 50.0, 51.2, 1.1)
        yield near("none", "ms", 50.0, None, 1.1)
        yield row("device", 1, 1)

    def lacks() -> Iterator[Row]:
        raise NotAvailableError("one device")
        yield

    def breaks() -> Iterator[Row]:
        raise ValueError("no\nmore")
        yield

    monkeypatch.setattr(script, "CHECKS", {"pairs": pairs, "lacks": lacks, "breaks": breaks})
    monkeypatch.setattr(script, "run_beside", lambda name, _seconds: script.run_one(name))
    assert script.main([]) == 1
    assert capsys.readouterr().out == (
        "check   expected           found           verdict\n"
        "pair    50.000 ± 1.100 ms  50.900 ms       ok\n"
        "longer  50.000 ± 1.100 ms  51.200 ms       FAILED\n"
        "none    50.000 ± 1.100 ms  not known       FAILED\n"
        "device  1                  1               ok\n"
        "lacks   -                  one device      not available\n"
        "breaks  no error           ValueError: no  FAILED\n"
    )
    assert script.main(["lacks"]) == 0


def test_a_check_whose_process_dies_or_takes_too_long_has_failed_and_one_without_time_was_not_made(script: Any) -> None:
    def rows(name: str, seconds: float) -> list[tuple[str, str]]:
        return [(row.found, row.verdict) for row in script.run_beside(name, seconds)]

    # The process beside knows no such check.
    ((found, verdict),) = rows("dies", 60)
    assert found.startswith("exit code 1: no such check: dies;")
    assert verdict == "FAILED"
    assert rows("streams", 0.001) == [("none", "FAILED")]
    assert rows("streams", 0) == [("480 s are over", "not available")]
