#!/usr/bin/env python3
"""What a section costs whose GPU time is measured, without what torch takes for it.

    python benches/python/gpu_times.py [--json out.json]

Torch's functions are builtins that do nothing, so what is left is Marey's: choosing the device and the stream, keeping
events and reading them. CPU time of the thread without the loop, the best of several rounds, each row in a process of
its own.
"""

from __future__ import annotations

import argparse
import json
import operator
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import NamedTuple

SECTIONS, ROUNDS = 5_000, 15


class Program(NamedTuple):
    """A program that sees devices."""

    what: str
    devices: int
    used: tuple[int, ...]
    rank: str = ""


PROGRAMS = {
    "none": Program("no torch: GPU time is not measured", 0, ()),
    "one": Program("one device", 1, (0,)),
    "rank": Program("a rank of a launcher that sees eight devices", 8, (0,), rank="0"),
    "only": Program("eight devices, one in use, none chosen", 8, (0,)),
    "several": Program("eight devices, two in use, none chosen: not measured, counted", 8, (0, 1)),
}


class Event(dict):
    """``torch._C._CudaEventBase``: is always done, and took no time."""

    record, query, elapsed_time = operator.is_, operator.truth, operator.is_


class Graph:
    """``torch.cuda.CUDAGraph``."""

    def capture_begin(self) -> None:
        """Nothing."""

    def capture_end(self) -> None:
        """Nothing."""


def install(devices: int, used: tuple[int, ...]) -> None:
    """Put a torch of builtins in the place of torch."""
    stream = partial(operator.methodcaller, "stream")
    stream.is_capturing = operator.not_  # type: ignore[attr-defined]
    torch = ModuleType("torch")
    torch.__spec__ = SimpleNamespace(_initializing=False)  # type: ignore[assignment]
    torch.version = SimpleNamespace(hip=None)  # type: ignore[attr-defined]
    torch.cuda = SimpleNamespace(CUDAGraph=Graph, is_initialized=lambda: True)  # type: ignore[attr-defined]
    torch._C = SimpleNamespace(  # type: ignore[attr-defined]
        _CudaEventBase=Event,
        _CudaStreamBase=stream,
        _cuda_getDevice=partial(int, 0),
        _cuda_getDeviceCount=partial(int, devices),
        _cuda_getCurrentStream=[(0, device, 1) for device in range(devices)].__getitem__,
        _cuda_hasPrimaryContext=[device in used for device in range(devices)].__getitem__,
        _cuda_isCurrentStreamCapturing=bool,
    )
    sys.modules["torch"] = torch


def measured(name: str) -> float:
    """Nanoseconds of a section in a program."""
    program = PROGRAMS[name]
    if program.devices:
        install(program.devices, program.used)
    import marey

    section = marey.profile_section
    with tempfile.TemporaryDirectory() as folder:
        marey.start(folder)
        rounds = []
        for _ in range(ROUNDS):
            begin = time.thread_time_ns()
            for _ in range(SECTIONS):
                pass
            between = time.thread_time_ns()
            for _ in range(SECTIONS):
                with section("section"):
                    pass
            rounds.append((time.thread_time_ns() - between) - (between - begin))
        marey.stop()
    return min(rounds) / SECTIONS


def beside(name: str) -> float:
    """The same, in a process of its own."""
    environment = {key: value for key, value in os.environ.items() if key != "LOCAL_RANK"}
    environment["MAREY_SECTION_MEMORY"] = "0"
    if PROGRAMS[name].rank:
        environment["LOCAL_RANK"] = PROGRAMS[name].rank
    command = [sys.executable, __file__, "--program", name]
    return float(subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=True).stdout)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    parser.add_argument("--program", choices=PROGRAMS, help="of this one only, as a number of nanoseconds")
    asked = parser.parse_args()
    if asked.program:
        print(measured(asked.program))
        return
    found = {name: round(beside(name)) for name in PROGRAMS}
    for name, ns in found.items():
        print(f"{PROGRAMS[name].what:62} {ns:>6} ns")
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
