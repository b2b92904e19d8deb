"""How a command ended, of any kind: in `run.json`, in the reports, and for `marey compare`."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from interpreter import Finished, Interpreter, read_capture

MAREY = (sys.executable, "-m", "marey")
BEFORE = (*MAREY, "run", "--output", "out", "--job-id", "job", "--")
SECTION = "import sys, os, marey\nwith marey.profile_section('work'):\n    pass\n"


def run(interpreter: Interpreter, ending: str) -> Finished:
    return interpreter.run(SECTION + ending, before=BEFORE)


def job(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "out/job/run.json").read_text())


NO_MEMORY = "class OutOfMemoryError(RuntimeError):\n    __module__ = 'torch'\nraise OutOfMemoryError('2 GiB')"


NO_HOST_MEMORY = """
raise RuntimeError("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried
 to allocate 8000000000000 bytes. Error code 12 (Cannot allocate memory)")
""".replace("\n ", " ")


@pytest.mark.parametrize(
    ("ending", "code", "kind", "reason"),
    [
        ("", 0, "finished", None),
        ("sys.exit(3)", 3, "failed", "exit code 3"),
        ("os._exit(4)", 4, "failed", "exit code 4"),
        ("raise ValueError('a prompt')", 1, "failed", "ValueError"),
        ("raise MemoryError", 1, "out_of_memory", "MemoryError"),
        (NO_MEMORY, 1, "out_of_memory", "torch.OutOfMemoryError"),
        (NO_HOST_MEMORY, 1, "out_of_memory", "RuntimeError of DefaultCPUAllocator"),
    ],
)
def test_a_python_program_says_how_it_ended(
    interpreter: Interpreter, ending: str, code: int, kind: str, reason: str | None
) -> None:
    finished = run(interpreter, ending)
    assert finished.returncode == code
    ended = job(finished.folder)
    assert (ended["status"]["kind"], ended["status"]["reason"]) == (kind, reason)
    assert ended["processes"][0]["status"] == ended["status"]
    assert ended["launch"]["exit_code"] == code
    report = read_capture(finished.folder / "out")
    assert report["status"] == ended["status"]
    assert report["launch"] == {key: ended["launch"][key] for key in report["launch"]}
    summary = (finished.folder / "out/timing_summary.txt").read_text()
    assert re.search(rf"^Status +{re.escape(ended['status']['text'])}$", summary, re.MULTILINE)


@pytest.mark.parametrize(
    ("script", "code", "text"),
    [("python a.py || true; python b.py", 0, "finished"), ("python a.py; exit 1", 1, "failed: ValueError")],
)
def test_the_list_and_the_report_of_a_job_agree_on_a_failure_of_one_of_its_programs(
    interpreter: Interpreter, script: str, code: int, text: str
) -> None:
    (interpreter.folder / "a.py").write_text(SECTION + "raise ValueError('a prompt')")
    (interpreter.folder / "b.py").write_text(SECTION)
    finished = interpreter.run("", before=(*BEFORE, "sh", "-c", script.replace("python", shlex.quote(sys.executable))))
    assert finished.returncode == code
    report = json.loads((finished.folder / "out/job/profiling_report.json").read_text())
    assert report["status"]["text"] == job(finished.folder)["status"]["text"] == text


def test_processor_time_and_memory_are_those_of_the_whole_tree(tmp_path: Path) -> None:
    work = (
        "import resource, sys; held = bytearray(64 << 20); sum(range(3_000_000));"
        "used = resource.getrusage(resource.RUSAGE_SELF); print(used.ru_utime + used.ru_stime)"
    )
    python = f"{shlex.quote(sys.executable)} -S -c '{work}'"
    finished = subprocess.run(
        [*BEFORE, "bash", "-c", f"{python}; {python}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    said = sum(float(line) for line in finished.stdout.split())
    launch = job(tmp_path)["launch"]
    assert launch["cpu_s"] >= said
    assert launch["peak_memory_bytes"] > 64 << 20
    assert not launch["is_peak_at_most"]


def test_the_largest_process_is_no_smaller_than_its_own_peak_that_a_tracker_made_the_kernel_forget(
    interpreter: Interpreter,
) -> None:
    work = """
        import marey, resource

        held = bytearray(300 << 20)
        before_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        del held
        with marey.MemoryTracker():
            pass
        print(before_bytes)
    """
    (interpreter.folder / "work.py").write_text(textwrap.dedent(work))
    finished = subprocess.run(
        [*BEFORE, sys.executable, "work.py"], cwd=interpreter.folder, capture_output=True, text=True, check=True
    )
    held_bytes = int(finished.stdout.split()[0])
    assert held_bytes > 300 << 20
    launches = [
        job(interpreter.folder)["launch"],
        read_capture(interpreter.folder / "out")["launch"],
        read_capture(interpreter.folder / "out/job")["launch"],
    ]
    for launch in launches:
        assert held_bytes <= launch["peak_memory_bytes"] < held_bytes + (100 << 20)
        assert not launch["is_peak_at_most"]


def test_no_processor_time_was_used_before_the_command_began(tmp_path: Path) -> None:
    for n in range(20):
        subprocess.run([*MAREY, "run", "--output", "out", "--job-id", str(n), "--", "true"], cwd=tmp_path, check=True)
        launch = json.loads((tmp_path / f"out/{n}/run.json").read_text())["launch"]
        assert launch["cpu_s"] <= launch["wall_s"], launch
