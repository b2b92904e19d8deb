"""What ``marey analyze`` says of memory snapshots, against a plain replay of the same files in Python."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[2] / "crates" / "marey-analysis" / "tests" / "data"


class Replay:
    """Events one by one, with what is there in a dictionary; slow, and nothing left out. Histories are complete."""

    def __init__(self, path: Path) -> None:
        # Made for this project: nothing in it but values.
        snapshot = pickle.loads(path.read_bytes())
        in_use = ("active_allocated", "active_awaiting_free")
        self.blocks = {
            block["address"]: block["size"]
            for segment in snapshot["segments"]
            for block in segment["blocks"]
            if block["state"] in in_use
        }
        self.events = snapshot["device_traces"][0]
        last_alloc = {event["addr"]: at for at, event in enumerate(self.events) if event["action"] == "alloc"}
        self.levels: list[int] = [0]
        self.reserved: list[int] = [0]
        self.alive: list[dict[int, int]] = [{}]
        self.stacks: dict[tuple[int, int], str] = {}
        alive: dict[int, int] = {}
        held = 0
        for at, event in enumerate(self.events):
            action = event["action"]
            if action == "alloc":
                stays = last_alloc[event["addr"]] == at and event["addr"] in self.blocks
                rounded = -(-event["size"] // 512) * 512
                alive[event["addr"]] = self.blocks[event["addr"]] if stays else rounded
            elif action == "free_requested":
                del alive[event["addr"]]
            elif action in ("segment_alloc", "segment_map"):
                held += event["size"]
            elif action in ("segment_free", "segment_unmap"):
                held -= event["size"]
            self.levels.append(sum(alive.values()))
            self.reserved.append(held)
            self.alive.append(dict(alive))
        self.free_at_end = sorted(
            block["size"]
            for segment in snapshot["segments"]
            for block in segment["blocks"]
            if block["state"] == "inactive"
        )


def analyzed(path: Path, *arguments: str) -> Any:
    """What the command says of a file, as JSON."""
    command = [sys.executable, "-m", "marey", "analyze", "--format", "json", str(path), *arguments]
    said = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(said.stdout)["answers"]


@pytest.mark.parametrize("name", ["basic_oom", "flux_tiny_resident"])
def test_levels_are_those_of_a_plain_replay(name: str) -> None:
    path = DATA / f"{name}.pickle"
    replay = Replay(path)
    [device] = analyzed(path)["devices"]
    assert device["n_contradictions"] == 0
    highest = max(replay.levels)
    peak = device["peak"]
    assert (peak["allocated_bytes"], peak["event"]) == (highest, replay.levels.index(highest))
    assert peak["reserved_bytes"] == replay.reserved[peak["event"]]
    assert device["reserved_peak"]["reserved_bytes"] == max(replay.reserved)
    end = device["end"]
    assert (end["allocated_bytes"], end["reserved_bytes"]) == (replay.levels[-1], replay.reserved[-1])
    assert end["largest_free_bytes"] == replay.free_at_end[-1]
    alive = replay.alive[peak["event"]]
    assert (device["alive"]["bytes"], device["alive"]["count"]) == (highest, len(alive))
    listed = sum(row["bytes"] for row in device["alive"]["by_stack"])
    assert listed + device["alive"]["other_stacks_bytes"] == highest


@pytest.mark.parametrize("name", ["basic_oom", "flux_tiny_resident"])
def test_the_curve_touches_every_level_of_its_stretch(name: str) -> None:
    path = DATA / f"{name}.pickle"
    replay = Replay(path)
    [device] = analyzed(path)["devices"]
    curve = device["curve"]
    ends = [point["event"] for point in curve[1:]] + [len(replay.levels)]
    for point, end in zip(curve, ends, strict=True):
        levels = replay.levels[point["event"] : end]
        assert (point["allocated_min_bytes"], point["allocated_max_bytes"]) == (min(levels), max(levels))
        assert point["reserved_max_bytes"] == max(replay.reserved[point["event"] : end])


def test_a_history_that_lost_its_beginning_gives_the_same_levels(tmp_path: Path) -> None:
    # The ring kept the last quarter: levels in it are those of the whole history.
    path = DATA / "flux_tiny_resident.pickle"
    whole = Replay(path)
    snapshot = pickle.loads(path.read_bytes())
    events = snapshot["device_traces"][0]
    lost = len(events) * 3 // 4
    snapshot["device_traces"][0] = events[lost:]
    cut = tmp_path / "cut.pickle"
    cut.write_bytes(pickle.dumps(snapshot, protocol=4))
    [device] = analyzed(cut)["devices"]
    levels = whole.levels[lost:]
    assert device["n_contradictions"] == 0
    assert device["start"]["allocated_bytes"] == levels[0]
    assert device["start"]["reserved_bytes"] == whole.reserved[lost]
    assert device["peak"]["allocated_bytes"] == max(levels)
    assert device["alive"]["before_recording_bytes"] > 0


def test_a_pickle_that_would_run_code_runs_none(tmp_path: Path) -> None:
    witness = tmp_path / "witness"

    class Opens:
        def __reduce__(self) -> tuple[Any, ...]:
            return (open, (str(witness), "w"))

    path = tmp_path / "hostile.pickle"
    path.write_bytes(pickle.dumps({"segments": [], "device_traces": [], "extra": Opens()}, protocol=4))
    command = [sys.executable, "-m", "marey", "analyze", str(path)]
    said = subprocess.run(command, check=False, capture_output=True, text=True)
    assert said.returncode == 2
    assert "STACK_GLOBAL" in said.stderr
    assert not witness.exists()
