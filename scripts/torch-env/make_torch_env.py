#!/usr/bin/env python3
"""Makes a virtual environment with torch, diffusers and pytest, for a Linux machine without a GPU.

    python scripts/torch-env/make_torch_env.py [FOLDER] [--requirements FILE] [--python PYTHON]
                                               [--torch stand-ins|full|existing]

The torch of PyPI wants some 2.5 GB of NVIDIA wheels, without which it cannot be imported. For tests on a CPU they do
nothing, so this script installs torch alone, builds small stand-in libraries for them (see cuda_stand_ins.py) and takes
them out of torch's list of requirements. The versions stand in requirements.txt beside this file.

It can be run again at any time: what is there and right is left as it is. Only the standard library is used.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import cuda_stand_ins

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
CONSTRAINTS = Path(__file__).parents[1] / "constraints" / "torch.txt"
"""Every package that these bring, as it was last tested."""
ROOM_BYTES = {"stand-ins": 3e9, "full": 9e9, "existing": 1e9}
"""Free disk space to start with, downloads and unpacked wheels together."""

CHECK = "import torch; assert (torch.ones(2) + 1).tolist() == [2.0, 2.0]; print(torch.__version__)"
VERSIONS = "import diffusers, transformers, accelerate, numpy; print(diffusers.__version__, transformers.__version__)"
NVIDIA_REQUIREMENT = re.compile(r"Requires-Dist: (cuda-|nvidia-|triton)")


class SetupError(Exception):
    """Something that the user has to put right; the message says what."""


def say(text: str) -> None:
    """One line about what happens, with the script's name in front."""
    print(f"torch-env: {text}", flush=True)


def usable_torch(python: Path | str) -> str | None:
    """The version of the torch that this interpreter can import and add with, None without one."""
    found = subprocess.run([str(python), "-c", CHECK], capture_output=True, text=True, check=False)
    return found.stdout.strip() if found.returncode == 0 else None


def is_virtual(python: str) -> bool:
    """Whether this interpreter belongs to a virtual environment, whose packages another one cannot build on."""
    code = "import sys; sys.exit(sys.prefix == sys.base_prefix)"
    return subprocess.run([python, "-c", code], check=False).returncode == 0


def pip(python: Path, *arguments: str) -> None:
    """Run `pip install` in the environment; its own messages are shown only when it fails."""
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
    if subprocess.run(command, check=False).returncode != 0:
        message = f"pip could not install {' '.join(arguments)}; its reason stands above"
        raise SetupError(message)


def site_packages(python: Path) -> Path:
    """The folder into which the environment's pip installs."""
    code = "import sysconfig; print(sysconfig.get_path('platlib'))"
    return Path(subprocess.run([str(python), "-c", code], check=True, capture_output=True, text=True).stdout.strip())


def wanted_torch(requirements: Path) -> str:
    """The requirement of torch, as `torch==2.15.0`."""
    return next(line for line in requirements.read_text().splitlines() if line.startswith("torch=="))


def make_environment(folder: Path, base: str, *, with_existing: bool) -> Path:
    """Create the virtual environment unless it is there; returns its interpreter."""
    python = folder / "bin" / "python"
    if python.exists():
        say(f"{folder} is there already")
        return python
    if folder.exists() and any(folder.iterdir()):
        message = f"{folder} is not empty and not a virtual environment; name another folder"
        raise SetupError(message)
    options = ["--system-site-packages"] if with_existing else []
    if subprocess.run([base, "-m", "venv", *options, str(folder)], check=False).returncode != 0:
        message = f"{base} could not create a virtual environment (Debian: apt install python3-venv)"
        raise SetupError(message)
    say(f"created {folder} with {base}")
    return python


def install_torch_with_stand_ins(python: Path, wanted: str) -> None:
    """Install torch without the NVIDIA wheels: the wheel, its requirements without NVIDIA's, its libraries' stand-ins.

    In this order, because a torch that can be imported counts as complete when the script is run again.
    """
    for tool, package in (("gcc", "gcc"), ("readelf", "binutils")):
        if not shutil.which(tool):
            message = f"{tool} is needed to build the stand-in libraries (Debian: apt install {package})"
            raise SetupError(message)
    say(f"installing {wanted} without its requirements (a download of some 0.5 GB)")
    pip(python, "--no-deps", wanted)
    for metadata in site_packages(python).glob("torch-*.dist-info/METADATA"):
        lines = metadata.read_text().splitlines(keepends=True)
        kept = [line for line in lines if not NVIDIA_REQUIREMENT.match(line)]
        if kept != lines:
            metadata.write_text("".join(kept))
            say(f"took {len(lines) - len(kept)} requirements on NVIDIA's wheels out of torch's metadata")
    torch_lib = site_packages(python) / "torch" / "lib"
    stand_ins = cuda_stand_ins.stand_ins_for(torch_lib)
    if stand_ins:
        folder = cuda_stand_ins.folder_for(torch_lib)
        size_bytes = cuda_stand_ins.build(stand_ins, folder)
        say(f"built {len(stand_ins)} stand-in libraries ({size_bytes // 1024} KiB) in {folder}")
    else:
        say("this torch needs no library of NVIDIA's")


def install(python: Path, torch: str, requirements: Path) -> None:
    """Install torch in the way asked for, then everything else at its version."""
    version = usable_torch(python)
    stood_in = list(site_packages(python).glob(f"nvidia/*/lib/{cuda_stand_ins.NOTE}"))
    if torch == "full" and stood_in:
        message = f"this environment has stand-ins ({stood_in[0]}); name another folder for the full torch"
        raise SetupError(message)
    if torch == "existing":
        if version is None:
            message = (
                "the interpreter that this environment is based on has no usable torch; leave out --torch existing"
            )
            raise SetupError(message)
        say(f"building on torch {version}")
        pip(python, *(line for line in requirements.read_text().splitlines() if not line.startswith(("#", "torch=="))))
        return
    wanted = wanted_torch(requirements)
    if version and version.split("+")[0] == wanted.partition("==")[2]:
        say(f"torch {version} is usable already")
    elif torch == "stand-ins" and sys.platform == "linux":
        install_torch_with_stand_ins(python, wanted)
    say("installing what is missing of " + requirements.name)
    constraints = ["-c", str(CONSTRAINTS)] if requirements == REQUIREMENTS else []
    pip(python, "-r", str(requirements), *constraints)


def verify(python: Path, requirements: Path) -> None:
    """Import torch and diffusers and add two numbers; SetupError with torch's own words when that fails."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    codes = (CHECK, VERSIONS) if "\ndiffusers==" in requirements.read_text() else (CHECK,)
    for code in codes:
        done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, env=environment, check=False)
        if done.returncode != 0:
            message = f"the environment is there but does not work:\n{done.stderr.strip()}"
            raise SetupError(message)
    what = "torch" if code is CHECK else "diffusers and transformers"
    say(f"torch.ones(2) + 1 is right; {what}: {done.stdout.strip()}")


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path(".venv-torch"), help="default: %(default)s")
    parser.add_argument(
        "--requirements", type=Path, default=REQUIREMENTS, help="what is installed, default: %(default)s"
    )
    parser.add_argument("--python", default="python3", help="interpreter to base it on, default: %(default)s")
    parser.add_argument(
        "--torch",
        choices=("stand-ins", "full", "existing"),
        default="stand-ins",
        help="stand-ins: torch without the NVIDIA wheels (CPU only). full: as pip installs it, 5 GB, for a GPU. "
        "existing: the one that PYTHON has. Default: %(default)s",
    )
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Make the environment; exit code 0 when it works, 1 with one line of reason otherwise."""
    asked = parse(arguments)
    started = time.monotonic()
    try:
        if not shutil.which(asked.python):
            message = f"there is no {asked.python}"
            raise SetupError(message)
        if sys.platform != "linux":
            say(f"{platform.system()}: its torch needs no stand-ins, pip installs it as it is")
        if asked.torch != "existing" and not is_virtual(asked.python) and (version := usable_torch(asked.python)):
            say(f"note: {asked.python} has a usable torch {version} of its own; --torch existing builds on that one")
        free_bytes = shutil.disk_usage(asked.folder.resolve().parent).free
        if not asked.folder.exists() and free_bytes < ROOM_BYTES[asked.torch]:
            message = f"{free_bytes / 1e9:.1f} GB are free, {ROOM_BYTES[asked.torch] / 1e9:.0f} GB are needed"
            raise SetupError(message)
        python = make_environment(asked.folder, asked.python, with_existing=asked.torch == "existing")
        install(python, asked.torch, asked.requirements)
        verify(python, asked.requirements)
    except SetupError as error:
        say(f"error: {error}")
        return 1
    say(f"ready after {time.monotonic() - started:.0f} s: {asked.folder}/bin/python")
    return 0


if __name__ == "__main__":
    sys.exit(main())
