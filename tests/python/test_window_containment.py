"""Whatever fails inside torch's profiler is in the report, and the program does not notice."""

from __future__ import annotations

import pytest

from interpreter import Interpreter, read_capture
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
assert w.wait() and done == 6
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
    assert (window["failures"], window["stop_reason"], issues, files) == ([], "steps", [], ["w.trace.json.gz"])


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
    assert window["remarks"] == ([] if remark is None else [remark])
    assert files == ["w.trace.json.gz"]


def test_a_folder_that_cannot_be_written_is_a_finding(interpreter: Interpreter) -> None:
    (interpreter.folder / "traces").write_text("a file")
    finished = interpreter.run(PROGRAM)
    assert (finished.returncode, finished.stderr) == (0, "")
    (window,) = read_capture(finished.captures[0])["profiler_windows"]
    assert window["failures"][0]["during"] == "open"
