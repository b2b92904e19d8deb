"""``%load_ext marey`` and ``%%marey``, in IPython itself."""

from __future__ import annotations

import sys

import pytest

from interpreter import Interpreter, paths_of, read_capture

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="the IPython of the tests wants 3.11")

SHELL = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "marey")
shell.run_cell("import marey")
shell.run_cell("with marey.profile_section('earlier'):\\n    pass")
"""


def test_a_cell_is_recorded_and_its_first_screen_shown(interpreter: Interpreter) -> None:
    """Each cell by itself; what raises is shown as ever, and the next cell is recorded as well."""
    program = """
    shell.run_cell("%%marey out\\nwith marey.profile_section('first'):\\n    value = 7")
    shell.run_cell("%%marey out\\nwith marey.profile_section('second'):\\n    raise OSError('of the cell')")
    assert shell.user_ns["value"] == 7
    """
    finished = interpreter.run(SHELL + program.replace("\n    ", "\n"), env={"IPYTHONDIR": str(interpreter.folder)})
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.count("\nmarey: ") + finished.stdout.startswith("marey: ") == 2, finished.stdout
    assert "of the cell" in finished.stdout
    captures = dict.fromkeys(capture.resolve() for capture in finished.captures)
    assert [paths_of(read_capture(capture)) for capture in captures] == [{"first": 1}, {"second": 1}]


def test_under_marey_run_a_cell_is_a_session(interpreter: Interpreter) -> None:
    program = SHELL + "shell.run_cell(\"%%marey\\nwith marey.profile_section('first'):\\n    pass\")\n"
    before = (sys.executable, "-m", "marey", "run", "--quiet", "--output", "out", "--")
    finished = interpreter.run(program, before=before, env={"IPYTHONDIR": str(interpreter.folder)})
    assert finished.returncode == 0, finished.stderr
    report = read_capture(interpreter.folder / "out")
    assert paths_of(report) == {"earlier": 1, "first": 1}
    assert [session["name"] for session in report["sessions"]] == ["cell"]
