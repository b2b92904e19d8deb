"""A program that was run under Marey: its folder, its log, and how it is read again."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import logbook
import page
from programs import Node

PLAYER = Path(__file__).with_name("player.py")
INHERITED = ("MAREY_", "RANK", "WORLD_SIZE", "LOCAL_RANK")


@dataclass
class Played:
    """A run of a program, with what was seen while it paused."""

    program: Node
    folder: Path
    returncode: int
    # When it was asked for, and when it was gone.
    life: tuple[int, int]
    live: dict[str, Any] | None
    told: dict[str, Any] | None
    report_while_running: dict[str, Any] | None
    stderr: str

    @property
    def is_command(self) -> bool:
        """Whether it is several processes that ``marey run`` recorded."""
        return "others" in self.program

    @property
    def recording(self) -> Path:
        """Where it was recorded."""
        return self.folder / "out"

    def log(self, until: str | None = None) -> logbook.Log:
        """What it logged itself."""
        return logbook.read(self.folder / "log", self.life, until, is_command=self.is_command)

    def report(self) -> dict[str, Any]:
        """The JSON report, made from the capture alone."""
        return json.loads(marey("report", str(self.recording), "--format", "json"))

    def brief(self) -> dict[str, Any]:
        """The first screen as a line of JSON."""
        return json.loads(marey("report", str(self.recording), "--brief", "--format", "json"))

    def page(self) -> page.Model:
        """What the page holds, likewise."""
        written = self.folder / "page.html"
        marey("report", str(self.recording), "--format", "html", "--output", str(written))
        return page.model(written.read_text())


def inherited() -> dict[str, str]:
    """The variables of programs and commands: of Marey's own only where rings are."""
    rings = "MAREY_RING_DIR"
    return {key: value for key, value in os.environ.items() if key == rings or not key.startswith(INHERITED)}


def marey(*arguments: str, may_fail: bool = False, folder: Path | None = None) -> str:
    """What a command of marey shows; in a folder, if one is given."""
    done = subprocess.run(
        [sys.executable, "-m", "marey", *arguments],
        cwd=folder,
        env=inherited() | {"NO_COLOR": "1", "COLUMNS": "200", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert may_fail or done.returncode == 0, f"marey {' '.join(arguments)}: {done.stderr}"
    return done.stdout


def play(program: Node, folder: Path, *, is_watched: bool = True, **variables: str) -> Played:
    """Runs a program in a folder of its own; looks at it from outside where it pauses, if it is watched."""
    folder.mkdir(parents=True, exist_ok=True)
    command = _command(program, folder)
    asked_at = time.perf_counter_ns()
    with (folder / "stderr").open("w") as errors:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=inherited() | program.get("environment", {}) | variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        live = report = told = None
        if process.stdout.readline() == "ready\n":
            told = json.loads((folder / "told.json").read_text())
            if is_watched:
                live = json.loads(marey("top", "--once", "--json", "--interval", "0.1", str(process.pid)))
            if is_watched and program["seed"] % 4 == 0:
                report = json.loads(marey("report", str(folder / "out"), "--format", "json"))
            process.stdin.write("\n")
            process.stdin.flush()
        process.stdin.close()
        code = process.wait(120)
        process.stdout.close()
    life = (asked_at, time.perf_counter_ns())
    return Played(program, folder, code, life, live, told, report, (folder / "stderr").read_text())


def _command(program: Node, folder: Path) -> list[str]:
    """Of several processes ``marey run`` of a script, one after the other or beside each other."""

    def player(name: str, body: list[Node]) -> list[str]:
        (folder / name).write_text(json.dumps(program | {"body": body}))
        return [sys.executable, str(PLAYER), name, "log"]

    first = player("program.json", program["body"])
    if "others" not in program:
        return first
    others = [player(f"other-{place}.json", body) for place, body in enumerate(program["others"])]
    lines = [shlex.join(one) + (" &" if program.get("is_beside") else " || exit") for one in (first, *others)]
    (folder / "all.sh").write_text("\n".join([*lines, "wait"]))
    return [sys.executable, "-m", "marey", "run", "--output", "out", "--", *(["sh", "all.sh"] if others else first)]
