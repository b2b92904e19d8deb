"""`marey top` on a real terminal: it draws, resizes, gives the terminal back, and ends with it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from interpreter import environment
from patience import eventually, killed_if_it_hangs
from screen import read_to_the_end, shown


class Terminal:
    """A pseudo-terminal with `marey top` on it.

    As below a shell, `marey top` does not lead the terminal's session: when a leader ends, Linux hangs the terminal up
    and throws away what was written and not yet read.
    """

    def __init__(self, folder: Path, *, is_leader: bool = False) -> None:
        self.end, other = pty.openpty()
        self.resize(24, 80, other)

        def take() -> None:
            os.setsid()
            if is_leader:
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.top = subprocess.Popen(
            [sys.executable, "-m", "marey", "top", "--interval", "0.1", str(folder)],
            stdin=other,
            stdout=other,
            stderr=other,
            env=environment() | {"TERM": "xterm-256color", "LANG": "C.UTF-8"},
            preexec_fn=take,
        )
        os.close(other)
        self.written = ""

    def resize(self, rows: int, columns: int, end: int | None = None) -> None:
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self.end if end is None else end, termios.TIOCSWINSZ, size)

    def until(self, text: str) -> None:
        """Reads until this is on the screen; what is written are changes of cells, not lines."""

        def read() -> list[str]:
            if select.select([self.end], [], [], 0)[0]:
                self.written += os.read(self.end, 65536).decode(errors="replace")
            return shown(self.written)

        eventually(read, lambda lines: any(text in line for line in lines))

    def rest(self) -> str:
        """What is written until the end."""
        with killed_if_it_hangs(self.top):
            return read_to_the_end(self.end)


@pytest.fixture
def recording(tmp_path: Path) -> Iterator[Path]:
    """The job folder of a program that is in a section and stays there."""
    program = """
import sys, marey
marey.start("out", job_id="job")
with marey.profile_section("decoding_now"):
    print("in it", flush=True)
    sys.stdin.read()
"""
    with at_work(tmp_path, program, "in it"):
        yield tmp_path / "out" / "job"


@contextmanager
def at_work(folder: Path, program: str, line: str) -> Iterator[IO[str]]:
    """A program that has said a line, until the block ends; gives its input."""
    environment = {key: value for key, value in os.environ.items() if key not in ("RANK", "WORLD_SIZE")}
    child = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stdout.readline() == line + "\n"
    try:
        yield child.stdin
    finally:
        child.kill()
        child.communicate()


LEAVE_ALTERNATE_SCREEN = "\x1b[?1049l"


def test_it_shows_what_is_open_follows_the_size_and_gives_the_terminal_back(recording: Path) -> None:
    terminal = Terminal(recording)
    terminal.until("decoding_now")
    terminal.resize(10, 40)
    terminal.top.send_signal(signal.SIGWINCH)
    terminal.written = ""
    terminal.until("decoding_now")
    os.write(terminal.end, b"q")
    assert LEAVE_ALTERNATE_SCREEN in terminal.rest()
    assert terminal.top.wait() == 0


@pytest.mark.parametrize("is_leader", [True, False], ids=["hung up", "closed"])
def test_it_ends_with_its_terminal(recording: Path, is_leader: bool) -> None:
    terminal = Terminal(recording, is_leader=is_leader)
    terminal.until("decoding_now")
    os.close(terminal.end)
    # Without an end this waits for ever.
    terminal.top.wait(60)


def test_a_signal_gives_the_terminal_back(recording: Path) -> None:
    terminal = Terminal(recording)
    terminal.until("decoding_now")
    terminal.top.terminate()
    assert LEAVE_ALTERNATE_SCREEN in terminal.rest()
    assert terminal.top.wait() in (-signal.SIGTERM, 128 + signal.SIGTERM)


def test_a_rank_that_is_learnt_late_is_shown_once_it_is_known(tmp_path: Path) -> None:
    program = """
import sys, marey
marey.start("out", job_id="job")
with marey.profile_section("decoding_now"):
    print("in it", flush=True)
    sys.stdin.readline()
    assert marey.distributed.set_rank(5, 8)
    sys.stdin.read()
"""
    with at_work(tmp_path, program, "in it") as to_program:
        terminal = Terminal(tmp_path / "out" / "job")
        terminal.until("decoding_now")
        assert not any("rank" in line for line in shown(terminal.written))
        to_program.write("\n")
        to_program.flush()
        terminal.until("rank 5")
        os.write(terminal.end, b"q")
        terminal.rest()
        assert terminal.top.wait() == 0
