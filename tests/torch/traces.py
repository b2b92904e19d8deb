"""Reading the traces that windows write."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any


def events_of(path: Path) -> list[dict[str, Any]]:
    """All events of a trace; the file is one whole JSON document, compressed if its name says so."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return json.loads(content)["traceEvents"]


def marks_of(path: Path) -> list[int]:
    """Numbers of the steps that torch marked, in order."""
    names = {event["name"] for event in events_of(path) if event.get("ph") == "X"}
    return sorted(int(name.removeprefix("ProfilerStep#")) for name in names if name.startswith("ProfilerStep#"))


def operations_of(path: Path) -> set[str]:
    """Names of what torch recorded as operations of the CPU."""
    return {event["name"] for event in events_of(path) if event.get("cat") == "cpu_op"}


def names_in(folder: Path) -> list[str]:
    """Every file of a folder, hidden ones too; of a trace its first name, for which the second is another one."""
    names = sorted(path.name for path in folder.iterdir())
    seconds = {name: name.replace(".pt.trace.", ".trace.") for name in names if ".pt.trace." in name}
    for second, first in seconds.items():
        assert (folder / second).samefile(folder / first)
    return [name for name in names if name not in seconds]
