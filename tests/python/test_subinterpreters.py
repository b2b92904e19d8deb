"""A subinterpreter refuses `import marey` in one sentence, and its end changes nothing in the main one's recording."""

from __future__ import annotations

import sys
from pathlib import Path

from capture_records import recorded_in
from interpreter import Finished, Interpreter, paths_of, read_capture

# `%s` is what the subinterpreter runs. Older Pythons have one module for this, newer ones another.
PROGRAM = """
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters

    TRY = chr(10).join([
        "try:",
        "    import marey",
        "except ImportError as error:",
        "    said = type(error).__name__ + ': ' + str(error)",
        "else:",
        "    said = 'imported'",
        "with open('said.txt', 'a') as file:",
        "    print(said, file=file)",
    ])


    def run_in_subinterpreter(code, *how):
        number = interpreters.create(*how)
        interpreters.run_string(number, code)
        interpreters.destroy(number)
"""

REFUSAL = "ImportError: Marey records in the main interpreter only, and this is a subinterpreter"


def said(finished: Finished) -> list[str]:
    """What the imports in subinterpreters came to."""
    assert finished.returncode == 0, finished.stdout + finished.stderr
    path = finished.folder / "said.txt"
    return path.read_text().splitlines() if path.exists() else []


def test_end_of_a_subinterpreter_ends_no_recording(either: Interpreter) -> None:
    program = f"""{PROGRAM}
    import marey

    marey.start("out")
    with marey.profile_section("around"):
        with marey.profile_section("before"):
            pass
        run_in_subinterpreter("pass")
        run_in_subinterpreter(TRY)
        with marey.profile_section("after"):
            pass
    assert marey.get_global_stats().get_stats("after")["count"] == 1
    """
    finished = either.run(program)
    assert said(finished) == [REFUSAL]
    report = read_capture(finished.captures[0])
    assert paths_of(report) == {"around": 1, "around > before": 1, "around > after": 1}
    assert report["status"]["kind"] == "finished"


def test_main_interpreter_records_after_a_subinterpreter_tried_first(interpreter: Interpreter) -> None:
    program = f"""{PROGRAM}
    run_in_subinterpreter(TRY)
    import marey

    marey.start("out")
    with marey.profile_section("main"):
        pass
    """
    finished = interpreter.run(program)
    assert said(finished) == [REFUSAL]
    assert paths_of(read_capture(finished.captures[0])) == {"main": 1}


def test_subinterpreter_that_shares_the_gil_refuses_in_the_same_words(interpreter: Interpreter) -> None:
    program = f"""{PROGRAM}
    import sys

    import marey

    marey.start("out")
    if sys.version_info >= (3, 13):
        run_in_subinterpreter(TRY, "legacy")
    elif sys.version_info >= (3, 12):
        number = interpreters.create(isolated=False)
        interpreters.run_string(number, TRY)
        interpreters.destroy(number)
    else:
        run_in_subinterpreter(TRY)  # All are of this kind.
    with marey.profile_section("after"):
        pass
    """
    finished = interpreter.run(program)
    assert said(finished) == [REFUSAL]
    assert paths_of(read_capture(finished.captures[0])) == {"after": 1}


def test_command_records_a_program_with_subinterpreters_to_its_end(interpreter: Interpreter, tmp_path: Path) -> None:
    program = f"""{PROGRAM}
    import marey

    run_in_subinterpreter("pass")
    with marey.profile_section("after"):
        pass
    """
    launcher = (sys.executable, "-m", "marey", "run", "--output", str(tmp_path / "out"), "--")
    finished = interpreter.run(program, before=launcher)
    assert finished.returncode == 0, finished.stderr
    assert "not recorded" not in finished.stderr
    captures = {path.resolve() for path in finished.captures}
    rows = [row["name"] for capture in captures for row in recorded_in(capture)["sections"]]
    assert rows == ["after"]
