#!/usr/bin/env python3
"""What reading a memory snapshot of 48 MB costs, against PyTorch's own scripts in Python.

    python benches/python/snapshot.py FIXTURE.pickle [--viz .../torch/cuda/_memory_viz.py] [--repeats 5] [--strict]

Row D3. The file is made of a real one, FIXTURE, by repeating its events until it has 48 MB, with frames and stacks of
its kind. Marey's side is the whole command `marey analyze --format json`, its start included. The other side is one
Python process that loads the pickle and asks PyTorch's `_memory_viz` for `trace`, `segsum` and `memory`: events by
name, segments with their free pieces, and what is there by stack. Its start and imports are not counted. It answers
less: no peak, no curve, nothing over time. CPU time, user and system; medians of repeats in turns.
"""

from __future__ import annotations

import argparse
import importlib.util
import pickle
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TARGET = 1 / 20
BYTES = 48_000_000

PEER = """
import importlib.util, pickle, resource, sys
spec = importlib.util.spec_from_file_location("viz", sys.argv[2])
viz = importlib.util.module_from_spec(spec)
spec.loader.exec_module(viz)

def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime

before = cpu()
with open(sys.argv[1], "rb") as file:
    snapshot = pickle.load(file)
loaded = cpu()
viz.trace(snapshot)
viz.segsum(snapshot)
viz.memory(snapshot, format_flamegraph=lambda lines: lines)
print(cpu() - before, loaded - before)
"""


def longer(fixture: Path, folder: Path) -> Path:
    """The fixture with its events repeated; what is left at the end of a round is freed before the next."""
    with fixture.open("rb") as file:
        snapshot = pickle.load(file)
    events = snapshot["device_traces"][0]
    rounds = max(1, round(BYTES / fixture.stat().st_size))
    length_us = events[-1]["time_us"] - events[0]["time_us"] + 1
    all_events: list[dict[str, Any]] = []
    for number in range(rounds):
        stacks: dict[int, list[Any]] = {}
        left: dict[int, dict[str, Any]] = {}
        for event in events:
            if number and event["action"].startswith("segment"):
                continue
            copy = dict(event)
            copy["time_us"] += number * length_us
            copy["frames"] = stacks.setdefault(id(event["frames"]), list(event["frames"]))
            all_events.append(copy)
            if copy["action"] == "alloc":
                left[copy["addr"]] = copy
            elif copy["action"] == "free_completed":
                left.pop(copy["addr"], None)
        if number + 1 < rounds:
            for event in left.values():
                all_events += [dict(event, action=action) for action in ("free_requested", "free_completed")]
    snapshot["device_traces"][0] = all_events
    path = folder / "long.pickle"
    path.write_bytes(pickle.dumps(snapshot, protocol=4))
    return path


def cpu_of(command: list[str]) -> tuple[float, str]:
    """CPU seconds of a child, and what it said."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, said


def viz_of_torch() -> Path:
    """Where torch's own viewer scripts are, without importing torch."""
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        sys.exit("torch is not installed here; name its _memory_viz.py with --viz")
    return Path(found.origin).parent / "cuda" / "_memory_viz.py"


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fixture", type=Path)
    parser.add_argument("--viz", type=Path)
    parser.add_argument("--marey", type=Path, default=ROOT / "target" / "release" / "marey")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--strict", action="store_true")
    arguments = parser.parse_args()
    viz = arguments.viz or viz_of_torch()
    ours: list[float] = []
    theirs: list[float] = []
    loads: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        path = longer(arguments.fixture, Path(folder))
        for _ in range(arguments.repeats):
            ours.append(cpu_of([str(arguments.marey), "analyze", "--format", "json", str(path)])[0])
            total, load = cpu_of([sys.executable, "-c", PEER, str(path), str(viz)])[1].split()
            theirs.append(float(total))
            loads.append(float(load))
        size = path.stat().st_size
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(f"file                      {size / 1e6:.1f} MB")
    print(f"marey analyze             {spread(ours)}")
    print(f"pickle.load               {spread(loads)}")
    print(f"with trace, segsum, memory {spread(theirs)}")
    print(f"D3 ratio 1/{1 / ratio:.1f}, target 1/{1 / TARGET:.0f}: {'holds' if ratio <= TARGET else 'MISSED'}")
    return int(arguments.strict and ratio > TARGET)


def spread(seconds: list[float]) -> str:
    """Median, lowest and highest."""
    return f"{statistics.median(seconds):.3f} s ({min(seconds):.3f}-{max(seconds):.3f})"


if __name__ == "__main__":
    sys.exit(main())
