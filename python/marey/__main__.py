"""The ``marey`` command: ``marey …`` and ``python -m marey …`` are the same."""

from __future__ import annotations

import itertools
import signal
import sys

from marey import _core


def main() -> None:
    """Run the command line and end the process with its exit code."""
    if sys.argv[1:2] == ["aggregate"] and _names_ray(sys.argv[2:]):
        from marey.engines import ray_engine

        sys.exit(ray_engine.main(sys.argv[2:]))
    # The command is Rust's from here on: Ctrl-C must reach it, not Python.
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.argv[1:2] == ["run"]:
        # Python ignores it at its start, and the program would inherit that.
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    sys.exit(_core.run_command_line(["marey", *sys.argv[1:]]))


def _names_ray(args: list[str]) -> bool:
    return "--engine=ray" in args or ("--engine", "ray") in itertools.pairwise(args)


if __name__ == "__main__":
    main()
