"""How goldens are accepted: ``pytest tests/goldens --accept 'why they changed' [-k INPUT]``."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """The two switches."""
    parser.addoption("--accept", metavar="WHY", help="write the figures of today as goldens; WHY goes to CHANGES.md")
    parser.addoption("--fewer", action="store_true", help="with --accept: a golden may have fewer names than before")
