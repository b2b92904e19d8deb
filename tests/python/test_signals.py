"""Signals under `marey run`: each reaches the program as often as it would without, and stops what it would stop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from interpreter import Interpreter, environment
from patience import eventually, killed_if_it_hangs

if TYPE_CHECKING:
    from collections.abc import Iterator

COUNTS = """
import os, signal
reads, writes = os.pipe()
os.set_blocking(writes, False)
signal.set_wakeup_fd(writes)
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    if signal.getsignal(number) == signal.SIG_DFL and number not in (signal.SIGCHLD, signal.SIGSEGV):
        signal.signal(number, lambda *_: None)
signal.signal(signal.SIGINT, lambda *_: None)
print(os.getpid(), flush=True)
number = 0
while number != signal.SIGWINCH:
    number, = os.read(reads, 1)
    print(number, flush=True)
"""

ECHOES = """
import os, sys
print(os.getpid(), flush=True)
for line in sys.stdin:
    print(line.strip(), flush=True)
"""

PASSED_ON = ["HUP", "INT", "QUIT", "USR1", "USR2", "ALRM", "TERM", "CONT", "TSTP", "TTIN", "TTOU"]


@contextmanager
def running(interpreter: Interpreter, program: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A program under `marey run` in a process group of its own, as shells start it, and its process id."""
    (interpreter.folder / "program.py").write_text(program)
    run = [sys.executable, "-m", "marey", "run", "--quiet", "--output", "out", "--", sys.executable, "program.py"]
    with subprocess.Popen(
        run,
        cwd=interpreter.folder,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=os.setpgrp,
    ) as marey:
        assert marey.stdout is not None
        try:
            with killed_if_it_hangs(marey):
                yield marey, int(marey.stdout.readline())
        finally:
            if marey.returncode is None:
                os.killpg(marey.pid, signal.SIGKILL)


def is_waiting(pid: int, number: int) -> bool:
    """Whether a signal has been sent to a process that has not got it yet."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    [mask] = (line.split()[1] for line in lines if line.startswith("ShdPnd"))
    return bool(int(mask, 16) >> (number - 1) & 1)


@pytest.mark.parametrize("name", PASSED_ON)
@pytest.mark.parametrize("to_the_group", [False, True])
def test_a_signal_reaches_the_program_once(interpreter: Interpreter, name: str, to_the_group: bool) -> None:
    number = signal.Signals[f"SIG{name}"]
    with running(interpreter, COUNTS) as (marey, _):
        assert marey.stdout is not None
        (os.killpg if to_the_group else os.kill)(marey.pid, number)
        assert marey.stdout.readline() == f"{number}\n"
        eventually(lambda: not is_waiting(marey.pid, number))
        os.kill(marey.pid, number)
        assert marey.stdout.readline() == f"{number}\n"
        os.kill(marey.pid, signal.SIGWINCH)
        assert marey.stdout.read() == f"{signal.SIGWINCH}\n"
        # Not that it has stopped: the program did not either.
        ending = os.waitid(os.P_PID, marey.pid, os.WEXITED | os.WSTOPPED | os.WNOWAIT)
        assert ending is not None
        assert (ending.si_code, ending.si_status) == (os.CLD_EXITED, 0)


@pytest.mark.parametrize("stopped_by", ["terminal", "marey", "itself"])
@pytest.mark.parametrize("goes_on_with_the_group", [False, True])
def test_when_the_program_stops_so_does_marey_and_both_go_on(
    interpreter: Interpreter, stopped_by: str, goes_on_with_the_group: bool
) -> None:
    with running(interpreter, ECHOES) as (marey, program):
        assert marey.stdin is not None
        assert marey.stdout is not None
        if stopped_by == "terminal":
            os.killpg(marey.pid, signal.SIGTSTP)
        else:
            os.kill(marey.pid if stopped_by == "marey" else program, signal.SIGTSTP)
        stop = os.waitid(os.P_PID, marey.pid, os.WEXITED | os.WSTOPPED)
        assert stop is not None
        assert stop.si_code == os.CLD_STOPPED
        (os.killpg if goes_on_with_the_group else os.kill)(marey.pid, signal.SIGCONT)
        marey.stdin.write("one\n")
        marey.stdin.close()
        assert marey.stdout.read() == "one\n"
        assert marey.wait() == 0


def test_who_halts_the_program_alone_can_let_it_go_on_alone(interpreter: Interpreter) -> None:
    with running(interpreter, ECHOES) as (marey, program):
        assert marey.stdin is not None
        assert marey.stdout is not None
        os.kill(program, signal.SIGSTOP)
        os.kill(program, signal.SIGCONT)
        marey.stdin.write("one\n")
        marey.stdin.close()
        assert marey.stdout.read() == "one\n"
        assert marey.wait() == 0


def test_ctrl_z_gives_the_terminal_back_where_the_program_was_halted_before(interpreter: Interpreter) -> None:
    with running(interpreter, ECHOES) as (marey, program):
        assert marey.stdin is not None
        assert marey.stdout is not None

        def halts_both() -> os.waitid_result | None:
            os.kill(program, signal.SIGSTOP)
            os.kill(marey.pid, signal.SIGTSTP)
            stop, _ = eventually(
                lambda: (
                    os.waitid(os.P_PID, marey.pid, os.WEXITED | os.WSTOPPED | os.WNOHANG),
                    is_waiting(program, signal.SIGTSTP),
                ),
                any,
            )
            if stop is None:
                # It had not learnt yet that the program was halted.
                os.kill(program, signal.SIGCONT)
            return stop

        stop = eventually(halts_both)
        assert stop is not None
        assert stop.si_code == os.CLD_STOPPED
        os.killpg(marey.pid, signal.SIGCONT)
        marey.stdin.write("one\n")
        marey.stdin.close()
        assert marey.stdout.read() == "one\n"
        assert marey.wait() == 0
