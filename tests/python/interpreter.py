"""Runs programs in fresh interpreters, because a process has one recorder, and reads back what they recorded."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent


def environment() -> dict[str, str]:
    """The variables of a program that is told nothing about Marey but where its rings are, and how patient it is."""
    kept = ("MAREY_RING_DIR", "MAREY_PATIENCE_MS")
    return {key: value for key, value in os.environ.items() if key in kept or not key.startswith("MAREY_")}


@dataclass
class Finished:
    """A program that has ended."""

    folder: Path
    returncode: int
    stdout: str
    stderr: str

    @property
    def result(self) -> Any:
        """What the program's function returned."""
        return json.loads((self.folder / "result.json").read_text())

    @property
    def captures(self) -> list[Path]:
        """The captures in ``out``, those of the first process first."""
        return sorted((self.folder / "out").glob("*/*.marey"), key=lambda path: path.stat().st_mtime_ns)


@dataclass
class Interpreter:
    """Runs programs in a folder of their own; ``use_fast_sections`` chooses the kind of section objects."""

    folder: Path
    use_fast_sections: bool = True

    def run(
        self,
        program: Callable[..., Any] | str,
        *arguments: Any,
        env: dict[str, str] | None = None,
        options: tuple[str, ...] = (),
        before: tuple[str, ...] = (),
        stdin: str | None = None,
    ) -> Finished:
        """Runs a function of a test, or a text, as a script; the function's return value goes to ``result.json``.

        The function is run from its source, so it sees nothing of the test around it but its arguments; modules of
        this folder can be imported.
        """
        (self.folder / "program.py").write_text(self._script(program, arguments), encoding="utf-8")
        finished = subprocess.run(
            [*before, sys.executable, *options, "program.py"],
            cwd=self.folder,
            env=environment() | {"PYTHONPATH": path_with(TESTS)} | (env or {}),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return Finished(self.folder, finished.returncode, finished.stdout, finished.stderr)

    def result(self, program: Callable[..., Any] | str, *arguments: Any, **how: Any) -> Any:
        """As ``run``, for a program that must end well and say nothing on stderr: what its function returned."""
        finished = self.run(program, *arguments, **how)
        assert finished.returncode == 0, finished.stdout + finished.stderr
        assert finished.stderr == ""
        return finished.result

    def _script(self, program: Callable[..., Any] | str, arguments: tuple[Any, ...]) -> str:
        choose = "" if self.use_fast_sections else "import marey\nmarey._core.use_fast_sections(False)\n"
        if isinstance(program, str):
            return choose + textwrap.dedent(program)
        source = textwrap.dedent(inspect.getsource(program))
        call = f"{program.__name__}({', '.join(map(repr, arguments))})"
        return (
            f"{choose}{source}\n"
            "if __name__ == '__main__':\n"
            "    import json\n"
            "    from pathlib import Path\n"
            f"    result = {call}\n"
            "    Path('result.json').write_text(json.dumps(result))\n"
        )


def path_with(folder: Path) -> str:
    """A ``PYTHONPATH`` on which this folder comes first."""
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))


def read_capture(path: Path) -> dict[str, Any]:
    """The report of a capture, as ``marey report --format json`` gives it."""
    shown = subprocess.run(
        [sys.executable, "-m", "marey", "report", str(path), "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout)


def paths_of(report: dict[str, Any], key: str = "count") -> dict[str, Any]:
    """How often each call path was completed, as ``outer > inner``, or another figure of it."""
    rows = {row["id"]: row for row in report["sections"]}

    def path(row: dict[str, Any]) -> str:
        parent = rows.get(row["parent"])
        return row["name"] if parent is None else f"{path(parent)} > {row['name']}"

    return {path(row): row[key] for row in report["sections"]}


def has_no_negative_self_time(report: dict[str, Any]) -> bool:
    """A self time that cannot be told, because a child outlived its parent, is null."""
    return all(row["self"] is None or row["self"] >= 0 for row in report["sections"])
