"""`marey run -- python …`: the program runs as without it, and its sections are in the folder."""

from __future__ import annotations

import sys

import pytest

from interpreter import Finished, Interpreter, paths_of, read_capture

PROGRAM = """
import sys, marey
with marey.profile_section("outer"):
    for _ in range(3):
        with marey.profile_section("inner"):
            pass
"""


def run(interpreter: Interpreter, program: str, **how: object) -> Finished:
    before = (sys.executable, "-m", "marey", "run", "--output", "out", "--")
    return interpreter.run(program, before=before, **how)  # type: ignore[arg-type]


def test_sections_are_recorded_without_a_start(interpreter: Interpreter) -> None:
    finished = run(interpreter, PROGRAM)
    assert finished.returncode == 0
    assert finished.stdout == ""
    report = read_capture(interpreter.folder / "out")
    assert paths_of(report) == {"outer": 1, "outer > inner": 3}
    assert report["run"]["facts"]["python_implementation"] == "cpython"


@pytest.mark.parametrize("code", [0, 1, 3, 255])
def test_exit_code_is_the_programs(interpreter: Interpreter, code: int) -> None:
    finished = run(interpreter, PROGRAM + f"sys.exit({code})")
    assert finished.returncode == code
    assert "outer" in finished.stderr


def test_standard_input_output_and_arguments_are_the_programs(interpreter: Interpreter) -> None:
    finished = run(
        interpreter,
        "import sys\nprint(sys.stdin.read().upper(), end='')\nprint(sys.argv[1:], file=sys.stderr)",
        stdin="grün\n",
    )
    assert finished.stdout == "GRÜN\n"
    assert finished.stderr.startswith("[]\n")


def test_users_sitecustomize_runs_first_and_sees_no_trace_of_ours(interpreter: Interpreter) -> None:
    folder = interpreter.folder / "users"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text("import sys\nVALUE = 'marey' in sys.modules\n")
    program = "import sitecustomize, sys\nprint(sitecustomize.VALUE, sys.path)\n"
    environment = {"PYTHONPATH": str(folder)}
    bare = interpreter.run(program, env=environment)
    finished = run(interpreter, program + PROGRAM, env=environment)
    assert bare.stdout.startswith("False ")
    assert finished.stdout == bare.stdout
    assert paths_of(read_capture(interpreter.folder / "out"))["outer"] == 1


@pytest.mark.parametrize("option", ["-I", "-S", "-E"])
def test_python_that_cannot_be_entered_runs_and_that_is_said(interpreter: Interpreter, option: str) -> None:
    finished = run(interpreter, "print('ran')", options=(option,))
    assert (finished.returncode, finished.stdout) == (0, "ran\n")
    assert option in finished.stderr


def test_failed_program_fails_as_ever_and_the_capture_says_why(interpreter: Interpreter) -> None:
    finished = run(interpreter, PROGRAM + "raise OverflowError('secret')")
    assert finished.returncode == 1
    assert "OverflowError: secret" in finished.stderr
    report = read_capture(interpreter.folder / "out")
    assert (report["status"]["kind"], report["status"]["reason"]) == ("failed", "OverflowError")


def test_program_that_replaces_itself_is_recorded_on_both_sides(interpreter: Interpreter) -> None:
    (interpreter.folder / "second.py").write_text(PROGRAM.replace("outer", "second"))
    finished = run(interpreter, PROGRAM + "import os\nos.execv(sys.executable, [sys.executable, 'second.py'])")
    assert finished.returncode == 0
    captures = list((interpreter.folder / "out").glob("[!l]*/*.marey"))
    assert sorted(sorted(paths_of(read_capture(path))) for path in captures) == [
        ["outer", "outer > inner"],
        ["second", "second > inner"],
    ]


def test_killed_program_is_reported_with_its_signal(interpreter: Interpreter) -> None:
    finished = run(interpreter, PROGRAM + "import os\nos.kill(os.getpid(), 9)")
    assert finished.returncode in (-9, 137)
    report = read_capture(interpreter.folder / "out")
    assert (report["status"]["kind"], report["status"]["signal"]) == ("killed", 9)
    assert report["timing_stats"]["inner"]["count"] == 3
