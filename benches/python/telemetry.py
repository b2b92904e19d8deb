#!/usr/bin/env python3
"""What sampling the machine costs, against psutil and pynvml doing the same reads at the same time.

    python benches/python/telemetry.py [--seconds 20] [--json out.json] [--strict]

Rows B1 to B3. NVIDIA's library is the stand-in of this repository (`cargo build --release -p marey-gpu --example
mock_nvml`), for both sides, so what is compared is the way to it and not the driver. Both sides read ten times a
second: CPU time is that of the sampler's threads, and of the thread that calls psutil, waking up included.
Marey reads what is slow or hardly changes less often than that; its rounds count as rounds all the same.

psutil and nvidia-ml-py must be installed for B1; nothing is installed here.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INTERVAL_S = 0.1
REPEATS = 5
PEER_TARGET, CORE_TARGET, STOP_TARGET_MS = 1 / 10, 0.003, 100.0

GPU = """gpu GPU-1
nvmlDeviceGetName NVIDIA H200
nvmlDeviceGetPciInfo_v3 0/1/0
nvmlDeviceGetCudaComputeCapability 9/0
nvmlDeviceGetMemoryInfo_v2 141000/1000/139000
nvmlDeviceGetComputeRunningProcesses_v3 -
nvmlDeviceGetGraphicsRunningProcesses_v3 -
nvmlDeviceGetUtilizationRates 50/20
nvmlDeviceGetTemperature 41
nvmlDeviceGetPowerUsage {power}
nvmlDeviceGetEnforcedPowerLimit 700000
nvmlDeviceGetTotalEnergyConsumption 5000
nvmlDeviceGetClockInfo.1 1980
nvmlDeviceGetClockInfo.2 3201
nvmlDeviceGetCurrentClocksThrottleReasons 4
nvmlDeviceGetPcieThroughput.0 12
nvmlDeviceGetPcieThroughput.1 34
nvmlDeviceGetTotalEccErrors.0 3
nvmlDeviceGetTotalEccErrors.1 0
"""

MAREY = """
import json, os, sys, time
import marey
marey.start(sys.argv[1])

def cpu_ns():
    # The first number of schedstat: nanoseconds on a processor.
    found = {}
    for task in os.listdir("/proc/self/task"):
        name = open(f"/proc/self/task/{task}/comm").read().strip()
        if name in ("marey-host", "marey-gpu"):
            found[name] = int(open(f"/proc/self/task/{task}/schedstat").read().split()[0])
    return found

time.sleep(1.5)
spent = []
before, start = cpu_ns(), time.monotonic()
for _ in range(int(sys.argv[3])):
    time.sleep(float(sys.argv[2]) / int(sys.argv[3]))
    now, at = cpu_ns(), time.monotonic()
    spent.append([(sum(now.values()) - sum(before.values())) / 1e9, at - start])
    before, start = now, at
print(json.dumps({"threads": sorted(before), "spent": spent}))
"""

PEER = """
import json, sys, time
import psutil, pynvml
pynvml.nvmlInit()
gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
process = psutil.Process()

def host(is_tenth_second):
    if is_tenth_second:
        process.memory_full_info()  # PSS walks the page tables; Marey, too, reads it every ten seconds at most
    psutil.cpu_times(percpu=True); psutil.cpu_times(); psutil.cpu_stats(); psutil.getloadavg()
    with process.oneshot():
        process.cpu_times(); process.memory_info(); process.num_threads(); process.num_ctx_switches()
        process.io_counters()
    for child in process.children(recursive=True):
        child.cpu_times(); child.memory_info()
    psutil.virtual_memory(); psutil.swap_memory()
    psutil.disk_io_counters(perdisk=True); psutil.net_io_counters(pernic=True)

def nvidia():
    pynvml.nvmlDeviceGetMemoryInfo(gpu, version=pynvml.nvmlMemory_v2)
    pynvml.nvmlDeviceGetComputeRunningProcesses_v3(gpu)
    pynvml.nvmlDeviceGetUtilizationRates(gpu)
    pynvml.nvmlDeviceGetTemperature(gpu, pynvml.NVML_TEMPERATURE_GPU)
    pynvml.nvmlDeviceGetPowerUsage(gpu); pynvml.nvmlDeviceGetEnforcedPowerLimit(gpu)
    pynvml.nvmlDeviceGetTotalEnergyConsumption(gpu)
    pynvml.nvmlDeviceGetClockInfo(gpu, 1); pynvml.nvmlDeviceGetClockInfo(gpu, 2)
    pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(gpu)
    pynvml.nvmlDeviceGetPcieThroughput(gpu, 0); pynvml.nvmlDeviceGetPcieThroughput(gpu, 1)
    pynvml.nvmlDeviceGetTotalEccErrors(gpu, 0, 0); pynvml.nvmlDeviceGetTotalEccErrors(gpu, 1, 0)

def rounds(seconds):
    end, before, began, n = time.monotonic() + seconds, time.thread_time_ns(), time.monotonic(), 0
    while time.monotonic() < end:
        time.sleep(0.1)
        host(n % 100 == 0); nvidia()
        n += 1
    return [(time.thread_time_ns() - before) / 1e9, time.monotonic() - began]

rounds(1.5)
print(json.dumps({"spent": [rounds(float(sys.argv[1]) / int(sys.argv[2])) for _ in range(int(sys.argv[2]))]}))
"""

HUNG = """
import os, sys, time
import marey
marey.start(sys.argv[1])
while not os.path.exists(sys.argv[2] + ".waiting"):
    time.sleep(0.01)
before = time.monotonic()
marey.stop()
print(1000 * (time.monotonic() - before))
"""


def library(folder: Path, script: str) -> Path:
    """A copy of the stand-in under the name that everybody looks for, with its script."""
    built = ROOT / "target" / "release" / "examples" / "libmock_nvml.so"
    if not built.exists():
        raise SystemExit("build the stand-in first: cargo build --release -p marey-gpu --example mock_nvml")
    copy = folder / "libnvidia-ml.so.1"
    copy.write_bytes(built.read_bytes())
    (folder / "libnvidia-ml.so.1.script").write_text(script)
    return copy


def child(code: str, folder: Path, *arguments: object) -> subprocess.Popen[str]:
    """A Python process that finds the stand-in in the folder and samples everything ten times a second."""
    environment = os.environ | {
        "LD_LIBRARY_PATH": str(folder),
        "MAREY_NVML_LIBRARY": str(folder / "libnvidia-ml.so.1"),
        "MAREY_GPU_MONITOR_INTERVAL": str(INTERVAL_S),
        "MAREY_CPU_MONITOR_INTERVAL": str(INTERVAL_S),
    }
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def answer(process: subprocess.Popen[str]) -> str:
    """What the process printed; it must end well."""
    printed, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"a measuring process failed with {process.returncode}")
    return printed


def shares(process: subprocess.Popen[str], threads: list[str] | None = None) -> list[float]:
    """CPU time over wall time, for each repeat."""
    found = json.loads(answer(process))
    if threads is not None and found["threads"] != threads:
        raise SystemExit(f"expected the threads {threads}, found {found['threads']}")
    return [cpu_s / wall_s for cpu_s, wall_s in found["spent"]]


def stop_ms(folder: Path) -> float:
    """How long a stop takes while the vendor's library does not answer."""
    folder.mkdir()
    go = folder / "go"
    library(folder, GPU.format(power=f"1000 @{go} 2000"))
    # The first answer is that of the probe; the second never comes.
    return float(answer(child(HUNG, folder, folder / "out", go)))


def main() -> None:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=20.0, metavar="S", help="default: %(default)s")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    parser.add_argument("--strict", action="store_true", help="exit code 1 when a target is missed")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library(folder, GPU.format(power=120500))
        ours = child(MAREY, folder, folder / "out", asked.seconds, REPEATS)
        peer = child(PEER, folder, asked.seconds, REPEATS)
        core = shares(ours, ["marey-gpu", "marey-host"])
        ratios = [mine / theirs for mine, theirs in zip(core, shares(peer), strict=True)]
        stops = [stop_ms(folder / f"hung-{n}") for n in range(REPEATS)]
    rows = [
        ("B1", "CPU of a round, against psutil and pynvml", ratios, PEER_TARGET),
        ("B2", "share of one core at 10 Hz", core, CORE_TARGET),
        ("B3", "stop with a hung vendor call, ms", stops, STOP_TARGET_MS),
    ]
    figures = []
    for row, what, values, target in rows:
        median = statistics.median(values)
        figures.append({"row": row, "median": median, "low": min(values), "high": max(values), "target": target})
        verdict = "holds" if median <= target else "MISSED"
        print(f"{row}  {what:44} {median:9.4f} ({min(values):.4f} to {max(values):.4f})  target {target:g}  {verdict}")
    if asked.json:
        asked.json.write_text(json.dumps({"unix_time": time.time(), "figures": figures}, indent=2))
    if asked.strict and any(figure["median"] > figure["target"] for figure in figures):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
