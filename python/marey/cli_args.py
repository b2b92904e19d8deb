"""The flags of profiled scripts, for ``argparse``."""

from __future__ import annotations

import argparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def add_profiling_args(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Add the flags of ``ProfilingConfig.from_args`` to a parser; each can be written with ``-`` and with ``_``.

    Args:
        parser: The script's own.

    Returns:
        The same parser.
    """
    group = parser.add_argument_group("profiling")
    group.add_argument(
        *_spellings("enable-profiling"),
        action="store_true",
        help="record this run (default: as the configuration says)",
    )
    group.add_argument(
        *_spellings("profiling-config"), metavar="FILE", help="YAML file with the root key profiling (default: none)"
    )
    group.add_argument(
        *_spellings("profiling-output-dir"),
        metavar="DIR",
        help="folder of captures and reports (default: as the configuration says, else profiling_results)",
    )
    group.add_argument(
        *_spellings("profiling-iterations"),
        metavar="N",
        type=_count,
        help="denoising steps of which a trace is written, after one for warm-up (default: no trace)",
    )
    return parser


def get_args(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse a command line that has these flags only; ``sys.argv`` when none is given."""
    return add_profiling_args(argparse.ArgumentParser()).parse_args(arguments)


def _spellings(name: str) -> list[str]:
    return [f"--{name}", f"--{name.replace('-', '_')}"]


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return count


_count.__name__ = "whole number"
