"""Runs a program on a terminal, and what the terminal shows in the end."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

from interpreter import environment
from patience import killed_if_it_hangs

ROWS, COLUMNS = 30, 120
_TOKEN = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])|([\r\n\x08])|([^\x1b\r\n\x08]+)")


def on_terminal(program: str, folder: Path, *, stdout_too: bool = True) -> str:
    """All that a Python program writes to a terminal of 30 lines of 120 columns; it must end well."""
    (folder / "program.py").write_text(program, encoding="utf-8")
    main_end, other_end = pty.openpty()
    fcntl.ioctl(other_end, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    variables = {key: value for key, value in environment().items() if not key.startswith("TQDM_")}
    child = subprocess.Popen(
        [sys.executable, "program.py"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=other_end if stdout_too else subprocess.DEVNULL,
        stderr=other_end,
        env=variables | {"TERM": "xterm", "PYTHONUTF8": "1"},
        start_new_session=True,
    )
    os.close(other_end)
    with killed_if_it_hangs(child):
        text = read_to_the_end(main_end)
        assert child.wait() == 0, text
    os.close(main_end)
    return text


def read_to_the_end(terminal: int) -> str:
    """All that is written to a terminal until nobody has its other end open."""
    written = bytearray()
    with contextlib.suppress(OSError):  # how Linux says it
        while some := os.read(terminal, 65536):
            written += some
    return written.decode(errors="replace")


def shown(written: str) -> list[str]:
    """The lines on a terminal that has received this, without those at the end that are empty."""
    lines, row, column = [""], 0, 0
    for argument, command, control, text in _TOKEN.findall(written):
        if control == "\r":
            column = 0
        elif control == "\n":
            row, column = row + 1, column
        elif command == "A":
            row = max(0, row - int(argument or 1))
        elif command == "H":
            at_row, _, at_column = argument.partition(";")
            row, column = int(at_row or 1) - 1, int(at_column or 1) - 1
        elif command == "J" and argument == "2":
            lines = [""]
        elif command == "K":
            lines[row] = lines[row][:column]
        while row >= len(lines):
            lines.append("")
        if text:
            line = lines[row].ljust(column)
            lines[row] = line[:column] + text + line[column + len(text) :]
            column += len(text)
    stripped = [line.rstrip() for line in lines]
    while stripped and not stripped[-1]:
        stripped.pop()
    return stripped
