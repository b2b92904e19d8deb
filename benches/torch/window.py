#!/usr/bin/env python3
"""What a window of torch's profiler costs the program: its export, operations within it, operations after it.

    python benches/torch/window.py [--repeats 5] [--json out.json] [--strict]

Row D2: for how long the thread that opened the window is held up by the export, against torch's own of the same
kind of file, which is one call. Marey's export runs beside the program; the program's thread counts meanwhile, and is
held up when it neither runs nor waits for a processor. Waiting for a processor is left out on both sides.

torch has to be installed; nothing is installed here. Each figure comes from a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

TARGET = 1 / 20
SIZES = (2_000, 20_000, 60_000)

PRELUDE = """
import gc, json, sys, time, threading
import torch, marey, marey.torch
torch.set_num_threads(1)
x = torch.ones(8)
def operations(n):
    for _ in range(n):
        x + 1
def queued():
    # Seconds for which this thread was ready to run and had no processor: other programs' doing.
    with open("/proc/thread-self/schedstat") as file:
        return int(file.read().split()[1]) / 1e9
class Timed:
    # Wall time without the time in the queue for a processor.
    def __enter__(self):
        self.queued, self.began = queued(), time.perf_counter()
        return self
    def __exit__(self, *_):
        self.seconds = max(0.0, time.perf_counter() - self.began - (queued() - self.queued))
def held(until):
    # For how long a thread that only counts is held up: neither running nor in the queue for a processor.
    processor = time.thread_time()
    with Timed() as loop:
        while not until():
            for _ in range(100):
                pass
    return max(0.0, loop.seconds - (time.thread_time() - processor))
def window(**more):
    return marey.torch.ProfilerContext(output_dir=sys.argv[2], activities=["CPU"], max_seconds=3600, **more)
n = int(sys.argv[1])
operations(1000)
"""

EXPORT = (
    PRELUDE
    + """
from torch.profiler import profile, ProfilerActivity
with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as theirs:
    operations(n)
with Timed() as torchs:
    theirs.export_chrome_trace(sys.argv[2] + "/torch.json.gz")
del theirs
gc.collect()
from marey.windows import export
calls, forks = [], []
original = export.TraceExport.__init__
def timed(self, *args):
    with Timed() as call:
        original(self, *args)
    calls.append(call.seconds)
export.TraceExport.__init__ = timed
cheaper = export.TraceExport._is_fork_cheaper
export.TraceExport._is_fork_cheaper = lambda self: forks.append(cheaper(self)) or forks[-1]
w = window()
with w:
    operations(n)
marey_s = calls[0] + held(lambda: w.wait(0))
print(json.dumps({"torch_s": torchs.seconds, "marey_s": marey_s, "forked": forks[0]}))
"""
)

COST = (
    PRELUDE
    + """
def of(n):
    began = time.perf_counter()
    operations(n)
    return (time.perf_counter() - began) / n * 1e6
from torch.profiler import profile, ProfilerActivity
found = {"before": [], "inside": [], "theirs": [], "after": []}
for _ in range(5):
    found["before"].append(of(n))
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True):
        found["theirs"].append(of(n))
    w = window()
    with w:
        found["inside"].append(of(n))
    w.wait()
    found["after"].append(of(n))
print(json.dumps(found))
"""
)


def run(program: str, n: int) -> dict[str, object]:
    """What a program prints, in a process and a folder of its own."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", program, str(n), folder]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def export_rows(repeats: int) -> list[dict[str, object]]:
    """Row D2 for each size of trace: medians of repeats that take turns."""
    rows = []
    for n in SIZES:
        each = [run(EXPORT, n) for _ in range(repeats)]
        ratios = sorted(one["marey_s"] / one["torch_s"] for one in each)
        rows.append(
            {
                "operations": n,
                "torch_ms": statistics.median(one["torch_s"] for one in each) * 1e3,
                "marey_ms": statistics.median(one["marey_s"] for one in each) * 1e3,
                "ratio": statistics.median(ratios),
                "range": [ratios[0], ratios[-1]],
                "forked": sum(one["forked"] for one in each),
                "holds": statistics.median(ratios) <= TARGET,
            }
        )
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--strict", action="store_true", help="fail when a target is missed")
    options = parser.parse_args()
    rows = export_rows(options.repeats)
    print(f"D2 export on the caller's thread, target {TARGET:.3f}")
    for row in rows:
        print(
            f"  {row['operations']:>6} operations: {row['marey_ms']:8.1f} ms of torch's {row['torch_ms']:8.1f} ms, "
            f"ratio {row['ratio']:.3f} ({row['range'][0]:.3f} - {row['range'][1]:.3f}), "
            f"{row['forked']} of {options.repeats} in a child: {'holds' if row['holds'] else 'missed'}"
        )
    cost = run(COST, 5_000)
    medians = {name: statistics.median(values) for name, values in cost.items()}
    print("An operation, us: " + ", ".join(f"{name} {value:.2f}" for name, value in medians.items()))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"D2": rows, "operation_us": medians}, file, indent=2)
    if options.strict and not all(row["holds"] for row in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
