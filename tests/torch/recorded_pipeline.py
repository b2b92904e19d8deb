"""What a piece of work recorded, read back from its capture, and tiny pipelines to record."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import marey

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from interpreter import paths_of, read_capture


class Recorded:
    """A report, in the parts that tests ask for."""

    def __init__(self, report: dict[str, Any]) -> None:
        self.report = report
        self.paths: dict[str, int] = paths_of(report)

    @property
    def counts(self) -> dict[str, int]:
        """How often each name was completed, sections and turns, on whatever path."""
        counts: dict[str, int] = {}
        for row in self.report["sections"]:
            counts[row["name"]] = counts.get(row["name"], 0) + row["count"]
        return counts

    @property
    def labels(self) -> list[str]:
        """Labels of memory readings, in order."""
        return [row["label"] for row in self.report["memory_snapshots"]]

    def events(self, name: str) -> list[dict[str, Any]]:
        """Attributes of all events of a name."""
        return [event for event in self.report["events"] if event.get("name", event.get("event_type")) == name]


def recorded(folder: Path, work: Callable[[], object]) -> Recorded:
    """Record what is done in a function."""
    marey.start(str(folder / "recording"))
    try:
        work()
    finally:
        capture = marey.stop()
    return Recorded(read_capture(capture))


def generate(tiny: Any, steps: int = 3, **more: Any) -> Any:
    """One generation of a tiny pipeline, from the prompt to the frames."""
    height, width, _ = tiny.frame_shape
    arguments = dict(height=height, width=width, num_inference_steps=steps, output_type="np", return_dict=False)
    arguments |= tiny.more_arguments() | more
    if "Stable" not in type(tiny.pipe).__name__:
        arguments.setdefault("max_sequence_length", 32)
    return tiny.pipe("a red fox", generator=torch.Generator().manual_seed(7), **arguments)[0]


def quiet(kind: str) -> Any:
    """A tiny pipeline without a progress bar."""
    from generate import build

    tiny = build(kind, "tiny", seed=0)
    tiny.pipe.set_progress_bar_config(disable=True)
    return tiny
