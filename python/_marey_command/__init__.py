"""The ``marey`` command, also where the program's path has another ``marey``."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Import the package that lies beside this one, and run its command."""
    beside = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path.insert(0, beside)
    from marey.__main__ import main as command

    sys.path.remove(beside)
    command()
