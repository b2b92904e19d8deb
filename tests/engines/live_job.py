"""A program under `marey run` that ends when it is told to.

Needs a `marey` with the feature `otlp`: the extension, or the binary that ``MAREY_BINARY`` names
(``cargo build -p marey-cli --features otlp``).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import pytest

PROGRAM = """
import sys, marey
from marey import IterationProfiler, Profiler

profiler = Profiler()
loop = IterationProfiler("denoise")
with marey.session("clip"):
    with marey.profile_section("generate"):
        for block in range(2):
            for step in range(3):
                with loop.iteration():
                    profiler.record_diffusion_step(step=step)
            profiler.record_block_computation(block_index=block, block_size=3)
with marey.profile_section("de\\"c\\\\o\\nde {a='b'} \\u00e9"):
    pass
print("ready", flush=True)
sys.stdin.readline()
sys.exit(7)
"""
ODD = "de\"c\\o\\x0ade {a='b'} é"


def has_otlp() -> bool:
    """Whether this marey can send at all."""
    asked = subprocess.run(
        [*marey(), "--otlp=http://127.0.0.1:1", "--", "/nowhere/nothing"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"MAREY_OUTPUT_DIR": os.devnull + "/x"},
    )
    return "built without OpenTelemetry" not in asked.stderr


def marey() -> list[str]:
    """`marey run`, as it is to be tested."""
    binary = os.environ.get("MAREY_BINARY")
    return [*([binary] if binary else [sys.executable, "-m", "marey"]), "run"]


class Running:
    """A program under `marey run`."""

    def __init__(
        self, folder: Path, *options: str, program: str = PROGRAM, environment: dict[str, str] | None = None
    ) -> None:
        (folder / "program.py").write_text(program, encoding="utf-8")
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("MAREY_", "OTEL_"))}
        self.process = subprocess.Popen(
            [*marey(), "--output", "out", "--job-id", "job", "--quiet", *options, "--", sys.executable, "program.py"],
            cwd=folder,
            env=clean | (environment or {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_for(self, line: str) -> None:
        """Until the program has said it."""
        assert self.stream(self.process.stdout).readline() == line + "\n"

    def end(self) -> tuple[int, str]:
        """Lets the program end: its exit code, and what marey said."""
        _, said = self.process.communicate()
        return self.process.returncode, said

    @staticmethod
    def stream(stream: IO[str] | None) -> IO[str]:
        """One that was asked for."""
        assert stream is not None
        return stream


@contextmanager
def running(folder: Path, *options: str, environment: dict[str, str] | None = None) -> Iterator[Running]:
    """Runs the program until the block ends."""
    run = Running(folder, *options, environment=environment)
    try:
        yield run
    finally:
        with suppress(BrokenPipeError, ValueError):
            run.process.communicate()


# A program that records nothing itself is not sampled from outside either, however long it takes.
UNSAMPLED = {
    f"MAREY_MONITOR_{what}": "0"
    for what in ("CPU_USAGE", "SYSTEM_MEMORY", "GPU_MEMORY", "GPU_UTILIZATION", "GPU_TEMPERATURE", "GPU_POWER")
}


def run_briefly(folder: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A short job with variables of OpenTelemetry in its environment."""
    return subprocess.run(
        [*marey(), "--output", "out", "--quiet", *options, "--", "true"],
        cwd=folder,
        env={key: value for key, value in os.environ.items() if not key.startswith("OTEL_")} | UNSAMPLED | variables,
        capture_output=True,
        text=True,
        check=False,
    )


needs_otlp = pytest.mark.skipif(not has_otlp(), reason="this marey was built without the feature otlp")
