"""The ``marey`` command: ``marey …`` and ``python -m marey …`` are the same."""

from __future__ import annotations

import signal
import sys

from marey import _core


def main() -> None:
    """Run the command line and end the process with its exit code."""
    # The command is Rust's from here on: Ctrl-C must reach it, not Python.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_core.run_command_line(["marey", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
