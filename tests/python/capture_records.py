"""Single records of the capture that a program left, read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from interpreter import Finished


def recorded(finished: Finished) -> dict[str, Any]:
    """Sessions, sections, events, cache events and generation of the program's one capture."""
    assert finished.returncode == 0, finished.stdout + finished.stderr
    captures = {path.resolve() for path in finished.captures}
    assert len(captures) == 1
    return recorded_in(captures.pop())


def recorded_in(capture: Path) -> dict[str, Any]:
    """As ``recorded``, of a capture."""
    from marey import _core

    return json.loads(_core.records(str(capture)))


def of_kind(records: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """Reports of one kind, without the kind."""
    return [{k: v for k, v in row.items() if k != "kind"} for row in records["generation"] if row["kind"] == kind]
