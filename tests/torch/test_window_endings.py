"""How a process ends around a window, and what its report says afterwards."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from traces import marks_of, names_in, operations_of

from interpreter import environment

PRELUDE = """
import os, signal, sys, threading
import torch, marey, marey.torch
marey.start(output_dir="out")
def window(**more):
    return marey.torch.ProfilerContext(output_dir="traces", profile_name="w", activities=["CPU"], **more)
"""


def run(program: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Runs a program in a folder of its own."""
    variables = environment()
    return subprocess.run(
        [sys.executable, "-c", PRELUDE + program],
        cwd=folder,
        env=variables | more,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def report(folder: Path, how: str = "json") -> str:
    """What ``marey report`` says of it."""
    command = [sys.executable, "-m", "marey", "report", "--full", str(folder / "out" / "latest"), "--format", how]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    return shown.stdout


def windows(folder: Path) -> list[dict[str, Any]]:
    """``profiler_windows`` of the report."""
    return json.loads(report(folder))["profiler_windows"]


def failed(folder: Path) -> list[str]:
    """What the rule about windows found."""
    found = json.loads(report(folder))["recommendations"]
    return [row["issue"] for row in found if row["rule"] == "failed-window"]


def test_report_tells_what_a_window_recorded(tmp_path: Path) -> None:
    program = """
steps = marey.IterationProfiler("denoising_step")
with window() as w:
    for _ in range(6):
        with steps.iteration():
            torch.ones(2)
"""
    done = run(program, tmp_path)
    assert done.returncode == 0, done.stderr
    (window,) = windows(tmp_path)
    assert (window["name"], window["instrument"], window["stop_reason"]) == ("w", "torch.profiler", "steps")
    assert (window["warm_up_steps"], window["recorded_steps"]) == (1, 3)
    assert window["opened"] < window["recording"] < window["stopped"]
    assert window["remarks"] == [], "the report knows these steps"
    assert window["recorded_step_mean"] > 0 < window["outside_step_mean"]
    (file,) = window["files"]
    assert Path(file["path"]).name == "w.trace.json.gz"
    assert file["bytes"] == (tmp_path / "traces" / "w.trace.json.gz").stat().st_size
    assert (window["failures"], window["is_cut_off"], failed(tmp_path)) == ([], False, [])
    stats = json.loads(report(tmp_path))["timing_stats"]
    assert stats["marey window stop"]["count"] == 2  # the warm-up's and the window's
    text = report(tmp_path, "text")
    assert "PROFILER WINDOWS" in text
    assert "w.trace.json.gz" in text


def test_a_kill_in_a_window_leaves_the_capture_whole_and_is_named(tmp_path: Path) -> None:
    program = """
with marey.profile_section("before"):
    pass
with window():
    torch.ones(2)
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert run(program, tmp_path).returncode == -signal.SIGKILL
    (window,) = windows(tmp_path)
    assert window["is_cut_off"]
    assert window["stopped"] is None
    assert json.loads(report(tmp_path))["timing_stats"]["before"]["count"] == 1
    assert failed(tmp_path) == ['The process ended in the window "w" of torch.profiler']
    # What was begun never gets the name of a trace.
    assert list((tmp_path / "traces").glob("*.gz")) == []


def test_an_interpreter_that_ends_in_a_window_completes_the_trace(tmp_path: Path) -> None:
    assert run("w = window().__enter__(); torch.ones(2)", tmp_path).returncode == 0
    assert marks_of(tmp_path / "traces" / "w.trace.json.gz") == [0]
    (window,) = windows(tmp_path)
    assert window["stop_reason"] == "exit"


def test_an_exit_waits_for_the_file(tmp_path: Path) -> None:
    program = """
with window(max_seconds=300):
    for _ in range(20_000):
        torch.ones(2)
sys.exit(3)
"""
    assert run(program, tmp_path).returncode == 3
    assert marks_of(tmp_path / "traces" / "w.trace.json.gz") == [0]
    assert names_in(tmp_path / "traces") == ["w.trace.json.gz"]


def test_a_thread_that_ends_in_its_window_stops_it(tmp_path: Path) -> None:
    """Otherwise torch brings the process down at its end."""
    program = """
def job():
    window().__enter__()
    torch.ones(2).cos()
thread = threading.Thread(target=job); thread.start(); thread.join()
with window() as w:
    torch.ones(2).sin()
"""
    done = run(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert [window["stop_reason"] for window in windows(tmp_path)] == ["thread ended", "end"]
    assert "aten::cos" in operations_of(tmp_path / "traces" / "w.trace.json.gz")
    assert "aten::sin" in operations_of(tmp_path / "traces" / "w-2.trace.json.gz")


def test_a_forked_child_has_no_window(tmp_path: Path) -> None:
    program = """
import warnings
warnings.simplefilter("ignore")
with window() as w:
    torch.ones(2)
    child = os.fork()
    if child == 0:
        torch.ones(2)
        w.step()
        w.__exit__()
        os._exit(0 if w.wait() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert torch.autograd._profiler_enabled()
"""
    done = run(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert marks_of(tmp_path / "traces" / "w.trace.json.gz") == [0]
    assert names_in(tmp_path / "traces") == ["w.trace.json.gz"]


def test_under_nsys_the_window_stays_closed_and_says_so(tmp_path: Path) -> None:
    program = "with window():\n    torch.ones(2)\n"
    assert run(program, tmp_path, NSYS_PROFILING_SESSION_ID="1").returncode == 0
    (window,) = windows(tmp_path)
    assert window["stop_reason"] == "not opened"
    assert window["remarks"] == ["not opened: this process runs under nsys"]
    assert names_in(tmp_path / "traces") == []


def test_a_users_profiler_in_another_thread_is_not_harmed(tmp_path: Path) -> None:
    """It takes the recording away, which is said; the program does not crash."""
    program = """
from torch.profiler import profile, ProfilerActivity
def other():
    with profile(activities=[ProfilerActivity.CPU]) as theirs:
        torch.ones(2).sin()
    assert "aten::sin" in {row.key for row in theirs.key_averages()}
    print("theirs is whole")
with window() as w:
    torch.ones(2)
    thread = threading.Thread(target=other); thread.start(); thread.join()
    for _ in range(100):
        torch.ones(2)
with window() as w:
    torch.ones(2)
"""
    done = run(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "theirs is whole" in done.stdout
    first, second = windows(tmp_path)
    assert first["stop_reason"] == "another profiler"
    assert [failure["during"] for failure in first["failures"]] == ["recording"]
    assert second["failures"] == []
    assert marks_of(tmp_path / "traces" / "w.trace.json.gz") == [0]


def test_a_trace_is_written_by_a_child_where_that_is_cheaper(tmp_path: Path) -> None:
    """The file is the same; nothing of the child is left."""
    program = """
from marey.windows import export
export.TraceExport._is_fork_cheaper = lambda self: True
first, w = window(), window()
with first:
    torch.ones(2)
with w:
    torch.ones(2).cos()
assert first.wait() and w.wait()
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no child is left")
"""
    done = run(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "no child is left" in done.stdout
    assert names_in(tmp_path / "traces") == ["w-2.trace.json.gz", "w.trace.json.gz"]
    assert marks_of(tmp_path / "traces" / "w-2.trace.json.gz") == [0]
    assert [len(window["files"]) for window in windows(tmp_path)] == [1, 1]


def test_a_window_that_is_off_imports_nothing_and_writes_nothing(tmp_path: Path) -> None:
    program = """
import sys
import marey.torch
with marey.torch.ProfilerContext(enabled=False, activities=["nonsense"]) as w:
    w.step()
with marey.torch.PyTorchProfiler(enabled=False).profile("x"):
    pass
@marey.torch.profile_function(enabled=False)
def f(): pass
f()
names = [name for name in sys.modules if name.split(".")[0] in ("torch", "diffusers") or name == "marey.windows.window"]
assert names == [], names
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert names_in(tmp_path) == []


def test_a_window_within_another_names_it(tmp_path: Path) -> None:
    program = """
with window():
    with marey.torch.ProfilerContext(output_dir="traces", profile_name="inner", activities=["CPU"]):
        torch.ones(2)
"""
    assert run(program, tmp_path).returncode == 0
    _, inner = windows(tmp_path)
    assert inner["remarks"] == ["not opened: the window 'w' is open"]


INTERRUPTED = """
from torch.profiler import profile
came = []
def handler(number, frame):
    came.append(number)
    raise KeyboardInterrupt
number = signal.SIGINT if sys.argv[1:] != ["term"] else signal.SIGTERM
signal.signal(number, handler)
inner = {name: getattr(profile, name) for name in ("start", "step", "stop")}
def interrupted(name):
    def call(self):
        signal.raise_signal(number)   # within torch, before it has done its part
        result = inner[name](self)
        signal.raise_signal(number)
        return result
    return call
def run(name):
    setattr(profile, name, interrupted(name))
    w = window(warmup=0, active=2)
    try:
        with w:
            torch.ones(2).cos()
            w.step()
            torch.ones(2).sin()
        print("not raised")
    except KeyboardInterrupt:
        print("raised", len(came))
    setattr(profile, name, inner[name])
    assert signal.getsignal(number) is handler
    assert not torch.autograd._profiler_enabled() and not torch.autograd.profiler._is_profiler_enabled
    assert not marey.denoising_steps._listeners
    w.wait()
import marey.denoising_steps
"""


@pytest.mark.parametrize("which", ["int", "term"])
@pytest.mark.parametrize(
    ("during", "reason", "operation"),
    [
        ("start", "interrupted", None),
        ("step", "abort", "aten::cos"),
        ("stop", "end", "aten::sin"),
    ],
)
def test_a_signal_within_torch_comes_when_the_window_is_in_order(
    tmp_path: Path, which: str, during: str, reason: str, operation: str | None
) -> None:
    program = f"sys.argv[1:] = [{which!r}]\n{INTERRUPTED}\nrun({during!r})\n"
    program += "with window() as after:\n    torch.ones(2).tan()\n"
    done = run(program, tmp_path)
    assert (done.returncode, done.stdout) == (0, "raised 1\n"), done.stderr
    first, after = windows(tmp_path)
    assert (first["stop_reason"], first["failures"], first["is_cut_off"]) == (reason, [], False)
    assert after["stop_reason"] == "end"
    traces = tmp_path / "traces"
    if operation is not None:
        assert operation in operations_of(traces / "w.trace.json.gz")
    assert "aten::tan" in operations_of(traces / "w-2.trace.json.gz")


@pytest.mark.parametrize("during", ["start", "step", "stop"])
def test_what_any_other_handler_raises_within_torch_reaches_the_program(tmp_path: Path, during: str) -> None:
    program = f"""
from torch.profiler import profile
def handler(number, frame):
    raise TimeoutError("of the program")
signal.signal(signal.SIGALRM, handler)
inner = profile.{during}
def interrupted(self):
    inner(self)
    signal.raise_signal(signal.SIGALRM)
profile.{during} = interrupted
try:
    with window(warmup=0, active=2) as w:
        torch.ones(2).cos()
        w.step()
    print("not raised")
except TimeoutError as error:
    print("raised", error)
profile.{during} = inner
assert not torch.autograd._profiler_enabled()
with window() as after:
    torch.ones(2).tan()
print(after.trace_path)
"""
    done = run(program, tmp_path)
    assert done.returncode == 0, done.stderr
    said, trace = done.stdout.splitlines()
    assert said == "raised of the program"
    assert "no step was seen" not in done.stderr
    assert "aten::tan" in operations_of(tmp_path / trace)


def test_an_interruption_that_torch_raises_itself_leaves_the_window_in_order(tmp_path: Path) -> None:
    """No handler is involved, as with an exception that another thread sets."""
    program = """
from torch.profiler import profile
import marey.denoising_steps
stop = profile.stop
def interrupted(self):
    stop(self)
    raise KeyboardInterrupt
profile.stop = interrupted
try:
    with window():
        torch.ones(2)
except KeyboardInterrupt:
    print("raised")
profile.stop = stop
assert not marey.denoising_steps._listeners
with window():
    torch.ones(2).tan()
"""
    done = run(program, tmp_path)
    assert (done.returncode, done.stdout) == (0, "raised\n"), done.stderr
    first, after = windows(tmp_path)
    assert first["stop_reason"] == "interrupted"
    assert [failure["during"] for failure in first["failures"]] == ["stop"]
    assert (after["stop_reason"], len(after["files"])) == ("end", 1)


def test_steps_of_a_scheduler_that_nobody_instruments_are_counted_in_a_remark(tmp_path: Path) -> None:
    program = """
import types
class SchedulerMixin: pass
class Scheduler(SchedulerMixin):
    def step(self): torch.ones(2)
sys.modules["diffusers.schedulers.scheduling_utils"] = types.SimpleNamespace(SchedulerMixin=SchedulerMixin)
with window():
    for _ in range(3):
        Scheduler().step()
"""
    assert run(program, tmp_path).returncode == 0
    (window,) = windows(tmp_path)
    assert window["remarks"] == ["3 steps counted: 0 to wait, 1 for warm-up, 2 recorded"]
