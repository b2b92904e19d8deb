"""Stand-ins for the CUDA libraries that a torch wheel is linked against.

The Linux wheel of torch on PyPI cannot be imported without some 2.5 GB of NVIDIA wheels beside it, although on a
machine without a GPU none of their functions is ever called with success. This module reads the wheel's own libraries,
finds out which shared libraries and which symbols they ask for, and builds small libraries of the same names in which
every function answers "no device" (CUDA error 100). It derives everything from the wheel, so it adapts to other
versions of torch. Needs `readelf` (binutils) and `gcc`.

What such a torch can do: everything on the CPU, torch.profiler and gloo included. `torch.cuda.is_available()` is False,
also on a machine with a GPU: where there is one, install the NVIDIA wheels.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

NOTE = "STAND-INS.txt"
"""Name of the file that marks a folder as written by this module, and lists what is in it."""

OPENED_ONLY_WITH_A_GPU = ("libcaffe2_nvrtc.so", "libtorch_cuda_linalg.so")
"""Libraries that torch opens by name when it needs them, which is never on a CPU."""

MADE_BY_NVIDIA = ("libcu", "libnv", "libnccl")
"""How the names of the libraries begin that may be stood in for; anything else that is missing stays an error."""

PREFIX_OF = {
    "libnccl": "nccl",
    "libcusparseLt": "cusparseLt",
    "libcufile": "cuFile",
    "libnvshmem_host": "nvshmem",
    "libcuda": "cu",
}
"""Symbols without a version belong to the library whose prefix they carry."""

NO_DEVICE = 100
"""cudaErrorNoDevice, which is also CUDA_ERROR_NO_DEVICE."""

BODIES = {
    r"cudaGetDeviceCount": f"int F(int *n) {{ *n = 0; return {NO_DEVICE}; }}",
    r"cudaDriverGetVersion": "int F(int *version) { *version = 0; return 0; }",
    r"(cudaRuntimeGet|ncclGet|cuptiGet)Version": "int F(int *version) { *version = 0; return 0; }",
    r"nvrtcVersion": "int F(int *major, int *minor) { *major = *minor = 0; return 0; }",
    r"(cudnn|cublasLt)Get\w*Version": "unsigned long F(void) { return 0; }",
    r"cudaGetLastError|cudaPeekAtLastError|__cuda\w+": "long F(void) { return 0; }",
    r"cuGetErrorString": 'int F(int e, const char **s) { *s = "no GPU: CUDA stand-in"; return 0; }',
    r"\w*(Get\w*ErrorString|GetErrorName|GetResultString|ncclGetLastError)": (
        'const char *F(void) { return "no GPU: CUDA stand-in"; }'
    ),
    r"\w+": f"long F(void) {{ return {NO_DEVICE}; }}",
}
"""The first pattern that matches a function's whole name gives its body."""


@dataclass
class StandIn:
    """One library to build: its file name, and its symbols by version node ("" = without a version)."""

    name: str
    functions: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    objects: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def c_source(self) -> str:
        """The C file: one definition for each symbol."""
        lines = [f"char {name}[4096];" for name in sorted(set().union(*self.objects.values()))]
        for name in sorted(set().union(*self.functions.values())):
            body = next(body for pattern, body in BODIES.items() if re.fullmatch(pattern, name))
            lines.append(re.sub(r"\bF\(", f"{name}(", body))
        return "\n".join(lines) + "\n"

    def version_script(self) -> str:
        """The linker script that gives the symbols their version nodes."""
        nodes = []
        for version in sorted({*self.functions, *self.objects} - {""}):
            names = sorted(self.functions.get(version, set()) | self.objects.get(version, set()))
            nodes.append(f"{version} {{ global: {' '.join(f'{name};' for name in names)} }};")
        return "\n".join(nodes) + "\n"


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, errors="replace").stdout


def _needed(library: Path) -> list[str]:
    return re.findall(r"\(NEEDED\).*\[(.+)\]", _output("readelf", "-d", "-W", str(library)))


def _run_path(library: Path) -> list[str]:
    paths = re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.+)\]", _output("readelf", "-d", "-W", str(library)))
    return paths[0].split(":") if paths else []


def _versions(library: Path) -> dict[str, str]:
    """Version node → the library that has to define it."""
    owner, found = "", {}
    for line in _output("readelf", "-V", "-W", str(library)).splitlines():
        if match := re.search(r"Version: \d+\s+File: (\S+)", line):
            owner = match[1]
        elif owner and (match := re.search(r"Name: (\S+)\s+Flags:", line)):
            found[match[1]] = owner
    return found


def _symbols(library: Path) -> tuple[set[str], dict[str, tuple[str, str]]]:
    """Names that the library defines; names that it wants → (version node or "", type)."""
    defined, wanted = set(), {}
    for line in _output("readelf", "--dyn-syms", "-W", str(library)).splitlines():
        columns = line.split()
        if len(columns) < 8 or not columns[0].endswith(":"):
            continue
        kind, binding, section = columns[3], columns[4], columns[6]
        name, _, version = columns[7].partition("@")
        if section != "UND":
            defined.add(name)
        elif binding != "WEAK" or version:
            wanted[name] = (version.lstrip("@"), kind)
    return defined, wanted


def _known_to_the_system() -> set[str]:
    listing = _output("/sbin/ldconfig", "-p") if Path("/sbin/ldconfig").exists() else ""
    return {line.split()[0] for line in listing.splitlines() if "=>" in line}


def stand_ins_for(torch_lib: Path) -> list[StandIn]:
    """The libraries that torch's libraries need and that neither torch nor the system has, with their symbols.

    Empty for a wheel that is built for the CPU alone.
    """
    libraries = [path for path in sorted(torch_lib.glob("*.so*")) if path.name not in OPENED_ONLY_WITH_A_GPU]
    shipped, system = {path.name for path in libraries}, _known_to_the_system()
    missing: dict[str, StandIn] = {}
    for library in libraries:
        for name in _needed(library):
            if name.startswith(MADE_BY_NVIDIA) and name not in shipped | system:
                missing.setdefault(name, StandIn(name))

    own: set[str] = set()
    wanted: list[tuple[str, str, str, str]] = []
    for library in libraries:
        defined, wants = _symbols(library)
        own |= defined
        owners = _versions(library)
        wanted += [(name, version, kind, owners.get(version, "")) for name, (version, kind) in wants.items()]
    for name, version, kind, owner in wanted:
        stand_in = missing.get(owner) if version else _by_prefix(name, missing) if name not in own else None
        if stand_in:
            (stand_in.objects if kind == "OBJECT" else stand_in.functions)[version].add(name)
    return list(missing.values())


def _by_prefix(name: str, missing: dict[str, StandIn]) -> StandIn | None:
    for stem, prefix in PREFIX_OF.items():
        if name.startswith(prefix):
            return next((found for file, found in missing.items() if file.split(".so")[0] == stem), None)
    return None


def folder_for(torch_lib: Path) -> Path:
    """The folder of NVIDIA's wheels in which torch's libraries look for the ones that they need."""
    for entry in _run_path(torch_lib / "libtorch_cpu.so")[::-1]:
        if entry.startswith("$ORIGIN/") and "/nvidia/" in entry:
            return Path(entry.replace("$ORIGIN", str(torch_lib))).resolve()
    message = f"{torch_lib}/libtorch_cpu.so has no NVIDIA folder on its run path: a kind of wheel not known here"
    raise RuntimeError(message)


def build(stand_ins: list[StandIn], folder: Path) -> int:
    """Compile the stand-ins into `folder`; returns their size in bytes. Existing files of these names are replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    size_bytes = 0
    with tempfile.TemporaryDirectory() as scratch:
        source, script = Path(scratch, "stand_in.c"), Path(scratch, "versions.map")
        for stand_in in stand_ins:
            source.write_text(stand_in.c_source())
            script.write_text(stand_in.version_script())
            target = folder / stand_in.name
            command = ["gcc", "-shared", "-fPIC", "-O1", "-w", "-fno-builtin", f"-Wl,-soname,{stand_in.name}"]
            if stand_in.version_script().strip():
                command.append(f"-Wl,--version-script={script}")
            subprocess.run([*command, "-o", str(target), str(source)], check=True)
            size_bytes += target.stat().st_size
    names = "\n".join(sorted(stand_in.name for stand_in in stand_ins))
    Path(folder, NOTE).write_text(f"Stand-ins written by make_torch_env.py: every call answers 'no device'.\n{names}\n")
    return size_bytes
