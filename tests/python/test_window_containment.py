"""Whatever fails inside torch's profiler is in the report, and the program does not notice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from interpreter import Interpreter, read_capture
from marey.windows import export
from marey.windows.files import ClaimedFile
from stand_in_profiler import SOURCE

PROGRAM = (
    SOURCE
    + """
import marey, marey.torch
marey.start(output_dir="out")
done = 0
with marey.torch.ProfilerContext(output_dir="traces", profile_name="w") as w:
    for _ in range(6):
        done += 1
        w.step()
assert w.wait() == w.trace_path.exists() and done == 6
assert not any(p.is_running for p in profile.made)
assert "_prepare_trace" in vars(autograd_profile) and autograd_profile._prepare_trace.__name__ == "_prepare_trace"
print(w.trace_path)
"""
)


def recorded(interpreter: Interpreter, **env: str) -> tuple[dict[str, object], list[str], list[str]]:
    """The window as the report has it, the issues that rules found, and the files that were written."""
    finished = interpreter.run(PROGRAM, env=env)
    assert (finished.returncode, finished.stderr) == (0, "")
    report = read_capture(finished.captures[0])
    (window,) = report["profiler_windows"]
    issues = [row["issue"] for row in report["recommendations"] if row["rule"] == "failed-window"]
    return window, issues, sorted(path.name for path in (interpreter.folder / "traces").iterdir())


def test_without_a_failure_the_trace_has_the_active_steps(interpreter: Interpreter) -> None:
    window, issues, files = recorded(interpreter)
    assert (window["failures"], window["stop_reason"], issues, files) == (
        [],
        "steps",
        [],
        ["w.pt.trace.json.gz", "w.trace.json.gz"],
    )
    folder = interpreter.folder / "traces"
    modes = {oct(path.stat().st_mode & 0o777) for path in (folder, *folder.iterdir())}
    assert modes == {"0o700", "0o600"}, "nobody else reads what is written"


def test_a_start_after_the_steps_to_wait_for_is_a_section_too(interpreter: Interpreter) -> None:
    """Of one step to wait for, none for warm-up and two to record, torch's profiler is started once."""
    waiting = PROGRAM.replace('profile_name="w"', 'profile_name="w", wait=1, warmup=0, active=2')
    finished = interpreter.run(waiting)
    assert (finished.returncode, finished.stderr) == (0, "")
    sections = {row["name"]: row["count"] for row in read_capture(finished.captures[0])["sections"]}
    assert sections == {"marey window start": 1, "marey window stop": 1}


@pytest.mark.parametrize(
    ("fails", "during"),
    [
        ("enabled", "open"),
        ("activities", "start"),
        ("make", "start"),
        ("start", "start"),
        ("step", "step"),
        ("stop", "stop"),
        ("export", "export"),
    ],
)
def test_a_failure_is_a_finding_and_leaves_no_file(interpreter: Interpreter, fails: str, during: str) -> None:
    window, issues, files = recorded(interpreter, STAND_IN_FAILS=fails)
    assert window["failures"][0]["during"] == during
    assert f"stand-in fails at {fails}" in window["failures"][0]["error"]
    assert window["stopped"] is not None
    assert f"failed during {during}" in issues[0]
    assert files == []


@pytest.mark.parametrize(
    ("gpu", "remark"),
    [
        ("cuda", None),
        ("xpu", None),
        ("npu", None),
        ("mps", "GPU is not recorded: torch's profiler does not see MPS; torch.mps.profiler does"),
        ("", "GPU is not recorded: torch finds none that its profiler supports"),
    ],
)
def test_each_kind_of_gpu_is_recorded_or_said(interpreter: Interpreter, gpu: str, remark: str | None) -> None:
    window, _, files = recorded(interpreter, STAND_IN_GPU=gpu)
    counted = "4 steps counted: 0 to wait, 1 for warm-up, 3 recorded"
    assert window["remarks"] == ([counted] if remark is None else [remark, counted])
    assert files == ["w.pt.trace.json.gz", "w.trace.json.gz"]


def test_a_folder_that_cannot_be_written_is_a_finding(interpreter: Interpreter) -> None:
    (interpreter.folder / "traces").write_text("a file")
    finished = interpreter.run(PROGRAM)
    assert (finished.returncode, finished.stderr) == (0, "")
    (window,) = read_capture(finished.captures[0])["profiler_windows"]
    assert window["failures"][0]["during"] == "open"


def test_without_a_recording_what_went_wrong_is_in_the_log_once(interpreter: Interpreter) -> None:
    (interpreter.folder / "traces").write_text("a file")
    program = PROGRAM.replace('marey.start(output_dir="out")\n', "")
    again = program + program[program.index("done = 0") :]
    finished = interpreter.run(again, env={"STAND_IN_GPU": "cuda"})
    assert finished.returncode == 0, finished.stderr
    lines = finished.stderr.splitlines()
    assert lines, "nothing was said"
    assert len(lines) == len(set(lines))
    assert lines[0].startswith("the window 'w': failed during open: ")
    assert finished.captures == []


@pytest.mark.parametrize(
    ("schedule", "n_steps", "expected"),
    [
        # (wait, warm-up, active)        w wait, u warm-up, # recorded
        ((0, 1, 3), 2, "2 steps counted: 0 to wait, 1 for warm-up, 1 recorded"),  # u #
        ((2, 1, 1), 2, "2 steps counted: 2 to wait, 0 for warm-up, 0 recorded"),  # w w
        ((1, 1, 1), 5, "5 steps counted: 2 to wait, 2 for warm-up, 1 recorded"),  # w u # w u
    ],
)
def test_steps_are_told_as_the_schedule_took_them(schedule: tuple[int, int, int], n_steps: int, expected: str) -> None:
    from marey.windows.options import WindowOptions

    wait, warmup, active = schedule
    assert WindowOptions(["CPU"], wait=wait, warmup=warmup, active=active, repeat=2).in_words(n_steps) == expected


FORKS_WITH_AN_OPEN_WINDOW = (
    SOURCE
    + """
import threading, warnings
import marey, marey.torch
from marey.windows import export

warnings.simplefilter("ignore")  # of forks in programs with threads

def in_other_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

def fork():
    child = os.fork()
    if child == 0:
        with open(f"child-{os.getpid()}", "w"):
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0

HOW = os.environ["HOW"]
export._FORK_SECONDS_PER_BYTE = -1.0 if HOW == "the window's own export" else 1.0
marey.start(output_dir="out")
with marey.torch.ProfilerContext(output_dir="traces", profile_name="w", repeat=2) as w:
    for step in range(10):
        w.step()
        if step == 6 and HOW == "a thread of the program":
            in_other_thread(fork)
        if step == 6 and HOW == "the window's thread":
            fork()
assert w.wait()
"""
)


@pytest.mark.parametrize("how", ["a thread of the program", "the window's thread", "the window's own export"])
def test_a_child_forked_while_a_window_is_open_notes_nothing_of_it(interpreter: Interpreter, how: str) -> None:
    finished = interpreter.run(FORKS_WITH_AN_OPEN_WINDOW, env={"HOW": how})
    assert (finished.returncode, finished.stderr) == (0, "")
    (capture,) = {path.resolve() for path in finished.captures}
    (window,) = read_capture(capture)["profiler_windows"]
    assert (window["failures"], window["stop_reason"]) == ([], "steps")
    assert window["remarks"][-1] == "8 steps counted: 0 to wait, 2 for warm-up, 6 recorded"
    names = sorted(path.name for path in (interpreter.folder / "traces").iterdir())
    assert names == ["w-2.pt.trace.json.gz", "w-2.trace.json.gz", "w.pt.trace.json.gz", "w.trace.json.gz"]


def test_files_that_a_child_renames_meanwhile_are_measured(tmp_path: Path) -> None:
    """A look at what the child had written fell between a file's being there and its size, and ended the export."""
    file = ClaimedFile.claim(tmp_path, "w", ".trace.json.gz")
    child = "import os, sys\nfor _ in range(30_000):\n    open(sys.argv[1], 'w').close()\n    os.unlink(sys.argv[1])\n"
    with subprocess.Popen([sys.executable, "-c", child, str(file.raw)]) as writer:
        sizes = set()
        while writer.poll() is None:
            sizes.add(export._written_bytes(file))
    assert sizes == {0}


def test_a_folder_that_cannot_be_made_is_said_and_nothing_else(interpreter: Interpreter) -> None:
    (interpreter.folder / "traces").write_text("a file")
    finished = interpreter.run(PROGRAM.replace("w.step()", "pass"), env={"STAND_IN_GPU": "cuda"})
    assert (finished.returncode, finished.stderr) == (0, "")
    (window,) = read_capture(finished.captures[0])["profiler_windows"]
    assert {failure["during"] for failure in window["failures"]} == {"open", "export"}
    assert not [remark for remark in window["remarks"] if "nothing was kept" in remark]


def test_a_name_that_is_no_text_is_a_name_and_waiting_tells_what_was_written(interpreter: Interpreter) -> None:
    program = PROGRAM.replace('profile_name="w"', "profile_name=7").replace("w.wait() ==", "w.wait() is True is")
    finished = interpreter.run(
        program
        + """
class Unnamed:
    def __str__(self):
        raise ValueError("no name")

with marey.torch.ProfilerContext(output_dir="traces", profile_name=Unnamed()) as w:
    w.step()
assert (w.trace_path, w.wait()) == (None, False)
never_opened = marey.torch.ProfilerContext(output_dir="traces")
assert not never_opened.wait() and not marey.torch.PyTorchProfiler(output_dir="traces").wait()
"""
    )
    assert (finished.returncode, finished.stderr) == (0, "")
    assert [path.name for path in (interpreter.folder / "traces").iterdir() if ".pt." not in path.name] == [
        "7.trace.json.gz"
    ]


def test_the_decorator_of_windows_works_without_parentheses(interpreter: Interpreter) -> None:
    program = f"""
{SOURCE}
import marey, marey.torch
marey.start(output_dir="out")
marey.torch.set_profiler_output_dir("traces")

@marey.torch.profile_function
def generate(steps):
    '''Documented.'''
    return steps * 2

assert (generate(3), generate.__name__, generate.__doc__) == (6, "generate", "Documented.")
"""
    finished = interpreter.run(program, env={"STAND_IN_GPU": "cuda"})
    assert (finished.returncode, finished.stderr) == (0, "")
    assert "generate.trace.json.gz" in [path.name for path in (interpreter.folder / "traces").iterdir()]
