"""GPUs that are not there: this repository's stand-in for NVIDIA's library, which answers as a script says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

# What one GPU answers when it is asked for the first time, and ever after.
READINGS = {
    "nvmlDeviceGetName": "NVIDIA H200",
    "nvmlDeviceGetPciInfo_v3": "0/1/0",
    "nvmlDeviceGetCudaComputeCapability": "9/0",
    "nvmlDeviceGetMemoryInfo_v2": f"{24564 << 20}/{8420 << 20}/{16144 << 20}",
    "nvmlDeviceGetComputeRunningProcesses_v3": "-",
    "nvmlDeviceGetGraphicsRunningProcesses_v3": "-",
    "nvmlDeviceGetUtilizationRates": "85/20",
    "nvmlDeviceGetTemperature": "72",
    "nvmlDeviceGetPowerUsage": "300000",
    "nvmlDeviceGetEnforcedPowerLimit": "700000",
    "nvmlDeviceGetTotalEnergyConsumption": "5000",
}


@dataclass
class StandInNvml:
    """The library in a folder of the test's own, with the answers of its GPUs."""

    library: Path
    folder: Path

    def environment(self, **gpus: dict[str, str]) -> dict[str, str]:
        """Variables for a program that finds these GPUs, each with what it answers besides ``READINGS``.

        ``!3`` is the answer NotSupported; of several answers each is given once, and the last one for ever.
        ``lost_when`` names a file: once it is there the GPU is lost.
        """
        self.folder.mkdir(exist_ok=True)
        library = self.folder / "libnvidia-ml.so.1"
        shutil.copyfile(self.library, library)
        lines = []
        for uuid, answers in gpus.items():
            lines.append(f"gpu {uuid}")
            lines += [f"{name} {answer}" for name, answer in (READINGS | answers).items()]
        library.with_name(library.name + ".script").write_text("\n".join(lines) + "\n")
        return {"MAREY_NVML_LIBRARY": str(library)}


def build() -> Path:
    """Where the stand-in is: among the examples that BUILT_EXAMPLES names as built, or where cargo builds it now."""
    if examples := os.environ.get("BUILT_EXAMPLES"):
        return Path(examples) / "libmock_nvml.so"
    command = "cargo build --locked --quiet --package marey-gpu --example mock_nvml --message-format json"
    built = subprocess.run(command.split(), cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    made = [m for m in messages if m["reason"] == "compiler-artifact" and m["target"]["name"] == "mock_nvml"]
    return next(Path(file) for file in made[-1]["filenames"] if file.endswith(".so"))
