"""Lines of the table, checks by their names, and recordings for them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

MIB = 1 << 20


class Row(NamedTuple):
    """One line of the table."""

    check: str
    expected: str
    found: str
    verdict: str


class NotAvailableError(Exception):
    """This machine lacks what a check needs."""


CHECKS: dict[str, Callable[[], Iterator[Row]]] = {}


def check(function: Callable[[], Iterator[Row]]) -> Callable[[], Iterator[Row]]:
    """Put a function into the table of checks, under its name."""
    CHECKS[function.__name__.replace("_", "-")] = function
    return function


def row(name: str, expected: object, found: object) -> Row:
    """A line: what was found has to be what was expected."""
    return Row(name, str(expected), str(found), "ok" if expected == found else "FAILED")


def near(name: str, unit: str, expected: float, found: float | None, tolerance: float) -> Row:
    """A line for a measured figure."""
    said = "not known" if found is None else f"{found:.3f} {unit}"
    is_ok = found is not None and abs(found - expected) <= tolerance
    return Row(name, f"{expected:.3f} ± {tolerance:.3f} {unit}", said, "ok" if is_ok else "FAILED")


@contextmanager
def recorded(**variables: str) -> Iterator[dict[str, Any]]:
    """A recording around a block; afterwards what it left, as tests read it, and the path of the capture."""
    import marey

    os.environ.update(variables)
    found: dict[str, Any] = {}
    marey.start(tempfile.mkdtemp(prefix="gpu-check-"))
    try:
        yield found
    finally:
        capture = marey.stop()
        found.update(json.loads(marey._core.records(str(capture))), capture=str(capture))


def spans(found: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """GPU times of the sections of a name."""
    return [span for span in found["gpu_spans"] if span["name"] == name]


def ms(span: dict[str, Any]) -> float:
    """Milliseconds of a span."""
    return span["gpu_ns"] / 1e6


def cycles_of_50_ms() -> int:
    """Cycles for which the sleep kernel takes some 50 ms here, by torch's own events."""
    import torch

    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(1_000_000)  # loads the kernel
    torch.cuda.synchronize()
    begin.record()
    torch.cuda._sleep(10_000_000)
    end.record()
    torch.cuda.synchronize()
    return int(10_000_000 * 50 / begin.elapsed_time(end))


def marey_json(*arguments: str) -> Any:  # noqa: ANN401
    """What a command of marey prints as JSON."""
    done = subprocess.run([sys.executable, "-m", "marey", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout)
