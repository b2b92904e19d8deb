"""Traces of drawn runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from drawn_traces import Drawn, write


@pytest.fixture(scope="session")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Drawn:
    """The file of a drawn run; each is written once."""
    written: dict[tuple[str, str, str], Path] = {}

    def once(trace_format: str, run: str, name: str) -> Path:
        wanted = (trace_format, run, name)
        if wanted not in written:
            folder = tmp_path_factory.mktemp(f"{trace_format}-{run}")
            written[wanted] = write(trace_format, run, folder / name)
        return written[wanted]

    return once
