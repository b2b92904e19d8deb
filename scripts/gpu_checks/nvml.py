"""Readings of the driver's library against nvidia-smi."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator

from gpu_checks.rows import NotAvailableError, Row, check, cycles_of_50_ms, marey_json, near, recorded, row


def nvidia_smi(field: str, uuid: str) -> float:
    """One figure of one GPU."""
    command = ["nvidia-smi", f"--id={uuid}", f"--query-gpu={field}", "--format=csv,noheader,nounits"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotAvailableError(f"nvidia-smi: {error}") from error
    try:
        return float(said)
    except ValueError:
        raise NotAvailableError(f"nvidia-smi says {said!r} of {field}") from None


# Of nvidia-smi; Marey's analysis and key; unit; by how much they may differ besides what each varied by meanwhile.
FIGURES = (
    ("utilization.gpu", "utilization_analysis", "{}_utilization", "%", 10.0),
    ("memory.used", "memory_analysis", "{}_usage_mb", "MiB", 64.0),
    ("power.draw", "power_analysis", "{}_power_watts", "W", 20.0),
    ("clocks.sm", "clock_sm_mhz", "{}", "MHz", 30.0),
)
# Of eight seconds, the start of the sampler included.
SAMPLER_PERCENT = 0.5


@check
def nvml() -> Iterator[Row]:
    """Means over some seconds of the same work, read by Marey and by nvidia-smi."""
    import torch

    uuid = f"GPU-{torch.cuda.get_device_properties(0).uuid}".replace("GPU-GPU-", "GPU-")
    cycles = cycles_of_50_ms()
    seen: dict[str, list[float]] = {field: [] for field, *_ in FIGURES}
    why_not: dict[str, str] = {}
    is_over = threading.Event()

    def keep_busy() -> None:
        while not is_over.is_set():
            torch.cuda._sleep(cycles)
            torch.cuda.synchronize()

    worker = threading.Thread(target=keep_busy, daemon=True)
    worker.start()
    time.sleep(2.0)  # until clocks and power are steady
    with recorded(MAREY_GPU_MONITOR_INTERVAL="0.1") as found:
        until = time.monotonic() + 6.0
        while time.monotonic() < until:
            for field in seen.keys() - why_not.keys():
                try:
                    seen[field].append(nvidia_smi(field, uuid))
                except NotAvailableError as error:
                    why_not[field] = str(error)
    is_over.set()
    worker.join()
    report = marey_json("report", found["capture"], "--format", "json")
    sampler = report["data_quality"]["samplers"]["gpu"]
    percent = sampler["cpu_percent_of_a_core"]
    verdict = "ok" if percent <= SAMPLER_PERCENT else "FAILED"
    yield Row("sampler at 10 Hz, of a core", f"≤ {SAMPLER_PERCENT:.1f} %", f"{percent:.2f} %", verdict)
    devices = (report["gpu_metrics"] or {"devices": {}})["devices"]
    if uuid not in devices:
        yield row("NVML", uuid, "no readings" if not devices else ", ".join(devices))
        return
    for field, analysis, key, unit, tolerance in FIGURES:
        figures = devices[uuid][analysis]
        if field in why_not or figures is None:
            yield Row(f"NVML, {field}", "-", why_not.get(field, "Marey has no reading"), "not available")
            continue
        theirs = seen[field]
        varied = max(theirs) - min(theirs)
        mean = sum(theirs) / len(theirs)
        yield near(f"NVML, {field}", unit, mean, figures[key.format("avg")], tolerance + varied)
