"""Runs a page of the documentation, programs and commands from top to bottom, in a folder where all is that it names.

A block in Python is run as a program. One whose first line is a comment with a file's name is that file. Of a block
`console` the lines after `$ ` are run, a block `bash` as a whole. Rust is run by cargo, see `crates/marey-testing`.

What is shown below a command, or in a block `text` behind one, was printed by it: each line, whatever its figures are.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from interpreter import TESTS, environment

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]
# Those whose programs need torch and diffusers: tests/torch has them.
OF_TORCH = {
    "docs/tutorials/first-trace.md",
    "docs/how-to/diffusers.md",
    "docs/how-to/slow-pipeline.md",
    "docs/how-to/trace-windows.md",
}

# What begins so is not run here, and why.
NOT_RUN = {
    "pip ": "installs; scripts/release tries a wheel, the group `pythons` the sources",
    "marey run -- target/release": "no program of ours; doc tests are the examples",
    "cargo ": "builds for minutes; `make lint` and `make bench` do so",
    "make ": "CI does",
    "python benches/": "`make bench` does",
    "docker ": "there is none",
    "cp -r examples/comfyui": "test_comfyui.py has the package",
    "marey run -- python ComfyUI": "likewise",
    "marey run -- torchrun --nproc-per-node 2 flux_example.py": "wants GPUs; tests/torch has the engines' classes",
    "marey run -- sglang": "likewise",
    "marey run -- vllm": "likewise",
    "marey view": "waits for a browser; crates/marey-cli/tests/cli has it",
    "marey top\n": "wants a terminal; test_marey_top.py has it",
    "marey top 4242\n": "likewise",
    "marey top profiling_results\n": "likewise",
}
# Programs with these are in tests/engines.
OF_ENGINES = re.compile(r"import (?:duckdb|polars|datafusion)|[Ss]park")
# Of these also 1 is an answer: something is worse, something is missing, nobody makes steps.
MAY_END_WITH_1 = ("marey compare", "marey aggregate", "marey window", "marey doctor", "marey top")
INSTEAD = {"--prometheus 9400": "--prometheus 0", "0.0.0.0:9400": "127.0.0.1:0", "/shared/runs": "shared"}

BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# ([\w./]+\.\w+)\n")
COMMAND = re.compile(r"^\$ ((?:[^\n]*\\\n)*[^\n]*)\n((?:(?!\$ )[^\n]*\n)*)", re.MULTILINE)

# What prints a block that begins so, where that is not the command above it.
COMPARISON = (
    "crates/marey-report/tests/it/snapshots/it__comparison_screen__the_only_section_that_is_slower_is_named*.snap"
)
WRONG = r"profiling:\n  enabled: true\n  gpu_monitor_intervall: 1\n"
PRINTED_BY = {
    "marey: scripted demo": "marey demo",
    "marey: slower by": f"cat {shlex.quote(str(ROOT))}/{COMPARISON}",
    "Status killed by": "marey run --quiet --output killed -- python killed.py || marey report killed --full",
    "Status ended without": "MAREY_ENABLED=1 MAREY_OUTPUT_DIR=crashed python killed.py || marey report crashed --full",
    "profiling.yaml, line": f"printf '{WRONG}' > profiling.yaml; python -c 'import marey;"
    ' marey.ProfilingConfig.from_yaml("profiling.yaml")\' 2>&1 | sed "s/.*ConfigError: //"',
}
# What is shown and not compared, and why.
NOT_COMPARED = {
    "marey: latent-video": "takes candle and minutes to build",
    "marey: flux1_split_iter0": "of a trace that is too large for the repository; tests/goldens have its figures",
    "job clip": "of a program in the midst of its work; commands/top/snapshots has the screen",
    "job flux-42": "likewise",
    "=== Profiling Metrics": "printed every few seconds; test_display.py has the lines",
    "95%|": "likewise",
    "2026-11-20": "likewise",
}
FIGURE = re.compile(r"[-+−]?\d[\d.,:]*(?: (?:[nµm]?s|[KMGT]i?B)\b)?")
# As long as figures are large, and columns wide.
BARS_AND_RULERS = re.compile(r"[▏▎▍▌▋▊▉█]+|[-=]{3,}")
# Where memory was highest depends on when it was read.
VARIES = "Memory peak"
# So often is a command tried that says more or less on a busy machine.
TRIES = 20

KILLED = """
import os, signal, time
import marey

with marey.profile_section("denoise"):
    time.sleep(0.1)
    with marey.profile_section("vae_decode"):
        time.sleep(0.03)
        os.kill(os.getpid(), signal.SIGKILL)
"""
# On a GPU that does as it is told.
PROGRAM = f"""
import sys, time
sys.path.append({str(TESTS)!r})
import marey
import stand_in_cuda

gpu = stand_in_cuda.install()
gpu.hold(64 << 20)
with marey.session("clip-0", seed=7):
    steps = marey.IterationProfiler("denoising_step")
    for _ in range(4):
        with steps.iteration():
            time.sleep(0.002)
    with marey.profile_section("vae_decode", frames=16):
        gpu.hold(96 << 20)
        time.sleep(0.002)
"""
# Until its input ends.
PROCESS = """
import sys, threading, time
import marey

is_over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), is_over.set())).start()
print("ready", flush=True)
steps = marey.IterationProfiler("denoising_step")
while not is_over.is_set():
    with steps.iteration():
        time.sleep(0.01)
"""
# Launchers of two ranks.
LAUNCHER = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; [ "${1#[0-9]}" = "$1" ] || shift; done
[ "$1" = python ] && shift
export WORLD_SIZE=2 MAREY_JOB_ID=${MAREY_JOB_ID:-two}
for rank in 0 1; do RANK=$rank LOCAL_RANK=$rank python "$@" || exit 1; done
"""


@dataclass
class Reader:
    """Somebody who does what a page says, in a folder of their own."""

    folder: Path
    prelude: str = ""
    variables: dict[str, str] = field(default_factory=dict)
    printed: str = ""

    def __post_init__(self) -> None:
        tools = self.folder / "bin"
        tools.mkdir(parents=True)
        for name in ("torchrun", "srun"):
            (tools / name).write_text(LAUNCHER)
            (tools / name).chmod(0o755)
        path = os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]])
        self.variables = environment() | {"PATH": path, "HOME": str(self.folder), "BROWSER": "true"} | self.variables
        for name in ("pipeline.py", "generate.py", "server.py", "clip.py"):
            (self.folder / name).write_text(PROGRAM)
        (self.folder / "killed.py").write_text(KILLED)

    def prepare(self) -> None:
        """What pages take as given: recordings, traces, snapshots."""
        data = ROOT / "crates/marey-analysis/tests/data"
        self.shell("marey run --quiet -- python pipeline.py")
        shutil.copytree(self.folder / "profiling_results/latest", self.folder / "profiling_output/job")
        for side in ("before", "after", "archive", "recordings", "reports"):
            shutil.copytree(self.folder / "profiling_results", self.folder / side, symlinks=True)
        self.shell("marey run --quiet --output archive -- python pipeline.py")
        for rank, folder in enumerate(("node0/runs", "node1/runs")):
            of_rank = f"RANK={rank} WORLD_SIZE=2 MAREY_JOB_ID=flux-42"
            self.shell(f"{of_rank} MAREY_ENABLED=1 MAREY_OUTPUT_DIR={folder} python generate.py")
        for name in ("trace", "flux.trace", "traces/one", "profiling_output/job/window.trace"):
            self.copy(data / "traces/flux_tiny_cpu.trace.json.gz", f"{name}.json.gz")
        for rank in (0, 1):
            source = next((data / "traces").glob(f"rank{rank}.step_12*"))
            for name in (f"rank{rank}", ("replay", "capture")[rank]):
                self.copy(source, f"{name}.json.gz")
        for name in ("film-memory-end.pickle", "flux-rank0-memory-1700000000.pickle"):
            self.copy(data / "flux_tiny_resident.pickle", name)

        for rank in range(4):
            (self.folder / "dumps").mkdir(exist_ok=True)
            (self.folder / f"dumps/nccl_trace_rank_{rank}").write_text(json.dumps(dump(3 if rank == 2 else 4)))

    def copy(self, source: Path, name: str) -> None:
        """A file of the tests' data, under the name that a page has for one like it."""
        (self.folder / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(source, self.folder / name)

    def follow(self, page: str) -> None:
        """Run all blocks of a page."""
        text = (ROOT / page).read_text(encoding="utf-8")
        process = self.process() if "4242" in text else None
        try:
            for number, (language, block) in enumerate(BLOCK.findall(text)):
                self.block(language, block, f"block_{number}.py", process.pid if process else 0)
        finally:
            if process:
                process.communicate()

    def block(self, language: str, block: str, name: str, pid: int) -> None:
        """What a block says, as a program, a configuration or commands."""
        if language == "text":
            self.compare(block)
        self.printed = ""
        if language == "python":
            self.python(block, name)
        elif language == "yaml" and block.startswith("profiling:"):
            (self.folder / "profiling.yaml").write_text(block)
            self.python("import marey\nmarey.ProfilingConfig.from_yaml('profiling.yaml')", "read.py")
        commands = COMMAND.findall(block) if language == "console" else [(block, "")] if language == "bash" else []
        for command, shown in commands:
            self.printed = ""
            self.command(command, pid)
            self.compare(shown)

    def compare(self, shown: str) -> None:
        """Each line that is shown was printed before, or is by what ``PRINTED_BY`` names; no figure is compared."""
        lines = [line for line in without_figures(shown) if line not in ("", "…") and not line.startswith(VARIES)]
        first = " ".join(shown.replace("…", "").split())
        if not lines or any(first.startswith(begin) for begin in NOT_COMPARED):
            return
        command = next((command for begin, command in PRINTED_BY.items() if first.startswith(begin)), None)
        missing = set(lines) - set(without_figures(self.printed))
        for _ in range(TRIES if command else 0):
            missing -= set(without_figures(self.shell(command or "")))
            if not missing:
                return
        # A drawing follows no command.
        assert not missing or not (command or self.printed), f"is shown and not printed:\n{missing}\n{self.printed}"

    def python(self, block: str, name: str) -> None:
        """A program, or the file that its first line names."""
        named = FILE.match(block)
        if OF_ENGINES.search(block):
            return
        if named:
            (self.folder / named[1]).write_text(block)
        elif "%load_ext" in block or "%%marey" in block:
            (self.folder / name).write_text(CELLS.format(setup=self.prelude, cell=block))
            self.shell(f"IPYTHONDIR=. python {name}")
        else:
            (self.folder / name).write_text(f"{BEFORE}{self.prelude}\n{block}")
            self.shell(f"python {name}")

    def command(self, command: str, pid: int) -> None:
        """One command, where it can be run here."""
        bare = re.sub(r"\s+#.*", "", command) + "\n"
        if any(bare.startswith(begin) for begin in NOT_RUN):
            return
        for written, meant in [*INSTEAD.items(), ("4242", str(pid))]:
            command = command.replace(written, meant)
        self.printed = self.shell(command, (0, 1) if re.search(rf"(?m)^({'|'.join(MAY_END_WITH_1)})", bare) else (0,))

    def shell(self, command: str, expected: tuple[int, ...] = (0,)) -> str:
        """What bash does with it has to end well. Returns what it printed."""
        done = subprocess.run(
            ["bash", "-e", "-c", command],
            cwd=self.folder,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        said = f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
        assert done.returncode in expected, f"{command}\nends with {done.returncode}\n{said}"
        assert "Traceback" not in done.stderr, f"{command}\n{said}"
        return done.stdout + done.stderr

    def process(self) -> subprocess.Popen[str]:
        """A program that records, and stands for the one with the number 4242."""
        variables = self.variables | {"MAREY_ENABLED": "1", "MAREY_OUTPUT_DIR": "running"}
        process = subprocess.Popen(
            [sys.executable, "-c", PROCESS],
            cwd=self.folder,
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process


def without_figures(text: str) -> list[str]:
    """The lines, with the same in place of each figure and without bars."""
    return [" ".join(FIGURE.sub("0", BARS_AND_RULERS.sub("", line)).split()) for line in text.splitlines()]


def dump(n_calls: int) -> dict[str, object]:
    """What NCCL's flight recorder leaves of a rank whose last call is open, if it is the fourth."""
    entries = [
        {
            "frames": [{"name": "load_lora", "filename": "/app/run.py", "line": 40 + number}],
            "record_id": number - 1,
            "pg_id": 0,
            "process_group": ["0", "default_pg"],
            "collective_seq_id": number,
            "op_id": number,
            "profiling_name": "nccl:all_reduce",
            "time_created_ns": 1_769_000_000_000_000_000 + number * 1_000_000_000,
            "input_sizes": [[1024]],
            "input_dtypes": ["BFloat16"],
            "output_sizes": [[1024]],
            "output_dtypes": ["BFloat16"],
            "state": "completed" if number < 4 else "started",
            "is_p2p": False,
        }
        for number in range(1, n_calls + 1)
    ]
    group = {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"}
    return {"version": "2.10", "pg_config": {"0": group}, "entries": entries}


BEFORE = "from __future__ import annotations\nimport re\nimport marey\n"
CELLS = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "marey")
shell.run_cell('''import marey
{setup}''').raise_error()
shell.run_cell('''{cell}''').raise_error()
"""
