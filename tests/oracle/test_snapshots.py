"""What ``marey analyze`` says of memory snapshots, against a plain replay of the same files in Python."""

from __future__ import annotations

import pickle
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import allocator
import page
import torch_files
from allocator import Replay
from played import marey
from torch_files import shown

SNAPSHOTS = torch_files.all_files(".pickle")
FLUX = torch_files.DATA / "flux_tiny_resident.pickle"
MIB = 1 << 20

of_every_snapshot = pytest.mark.parametrize("path", SNAPSHOTS, ids=shown)


@cache
def replayed(path: Path) -> Replay:
    return Replay(allocator.read(path))


def device_of(path: Path) -> dict[str, Any]:
    """What the command says of the one device of a snapshot."""
    document = torch_files.analyzed(path)
    assert document["problem"] is None
    assert document["answers"]["warnings"] == []
    assert document["answers"]["time_origin"] == "first_event"
    (device,) = document["answers"]["devices"]
    assert device["n_contradictions"] == 0
    return device


def stack_of(row: dict[str, Any]) -> tuple[Any, ...]:
    """The frames that the command shows, and how many more there are."""
    found = row["stack"] or {"frames": [], "n_left_out": 0}
    frames = tuple((frame["name"], frame["file"], frame["line"]) for frame in found["frames"])
    return (*frames, found["n_left_out"])


def shown_stack(stack: allocator.Stack) -> tuple[Any, ...]:
    """A whole stack as the command shows it."""
    return (*stack[:48], max(len(stack) - 48, 0))


@of_every_snapshot
def test_levels_are_those_of_a_plain_replay(path: Path) -> None:
    replay, device = replayed(path), device_of(path)
    n_events = len(replay.events)
    assert device["n_events"] == n_events
    assert device["first_event_unix_ns"] == replay.events[0]["time_us"] * 1000
    assert device["recorded_ns"] == replay.at_ns(n_events)
    states = {
        "start": 0,
        "peak": replay.allocated.index(max(replay.allocated)),
        "reserved_peak": replay.reserved.index(max(replay.reserved)),
        "end": n_events,
    }
    for name, state in states.items():
        check_level(device[name], replay.level(state))


def check_level(found: dict[str, Any], expected: dict[str, Any]) -> None:
    ratio = found["fragmentation_ratio"]
    assert {key: value for key, value in found.items() if key != "fragmentation_ratio"} == expected
    reserved = expected["reserved_bytes"]
    assert (ratio is None) == (reserved == 0)
    assert ratio is None or abs(float(ratio) - (1 - expected["allocated_bytes"] / reserved)) < 1e-12


@of_every_snapshot
def test_what_was_alive_at_the_peak_is_told_by_stack(path: Path) -> None:
    replay, alive = replayed(path), device_of(path)["alive"]
    state = replay.state(replay.allocated.index(max(replay.allocated)))
    rows = state.by_stack()
    n_before = sum(row["bytes"] for row in rows if row["is_before"])
    assert (alive["bytes"], alive["count"]) == (max(replay.allocated), len(state.allocated))
    assert alive["before_recording_bytes"] == n_before
    assert alive["other_stacks_bytes"] == sum(row["bytes"] for row in rows[100:])
    assert [row["bytes"] for row in alive["by_stack"]] == [row["bytes"] for row in rows[:100]]
    # Of equals at the end of the list any may be listed.
    least = rows[99]["bytes"] if len(rows) > 100 else 0
    assert Counter(
        (row["bytes"], row["count"], row["largest_bytes"], row["is_before_recording"], stack_of(row))
        for row in alive["by_stack"]
        if row["bytes"] > least
    ) == Counter(
        (row["bytes"], row["count"], row["largest_bytes"], row["is_before"], shown_stack(row["stack"]))
        for row in rows
        if row["bytes"] > least
    )
    for row in alive["by_stack"]:
        assert abs(float(row["share"]) - row["bytes"] / alive["bytes"]) < 1e-12


@of_every_snapshot
def test_requests_that_failed_are_told_with_their_cause(path: Path) -> None:
    expected, found = replayed(path).out_of_memory(), device_of(path)["out_of_memory"]
    assert len(found) == len(expected) == path.name.count("oom")
    for row, true in zip(found, expected, strict=True):
        check_level(row["level"], true["level"])
        assert {key: row[key] for key in ("at_ns", "asked_bytes", "device_free_bytes")} == {
            key: true[key] for key in ("at_ns", "asked_bytes", "device_free_bytes")
        }
        assert stack_of(row) == shown_stack(true["stack"])
        assert row["cause"] == cause(true)


def cause(failed: dict[str, Any]) -> str:
    """Why a request was not met, as docs/explanation/memory.md has it."""
    asked, level = failed["asked_bytes"], failed["level"]
    if failed["device_free_bytes"] >= asked:
        return "limit"
    usable = level["free_bytes"] - level["other_pools_free_bytes"]
    if usable >= asked:
        return "fragmentation"
    if usable + level["awaiting_free_bytes"] >= asked:
        return "awaiting_free"
    return "other_pool" if level["free_bytes"] + level["awaiting_free_bytes"] >= asked else "too_large"


@of_every_snapshot
def test_pools_are_what_their_blocks_come_to(path: Path) -> None:
    pools = device_of(path)["pools"]
    keys = ("kind", "pool", "stream")
    found = {
        (row["kind"], *row["pool"], row["stream"]): {key: value for key, value in row.items() if key not in keys}
        for row in pools
    }
    assert found == replayed(path).pools()
    assert pools == sorted(pools, key=lambda row: -row["reserved_bytes"])


@of_every_snapshot
def test_the_curve_touches_every_level_of_its_stretch(path: Path) -> None:
    replay, curve = replayed(path), device_of(path)["curve"]
    assert len(curve) <= 600
    ends = [point["event"] for point in curve[1:]] + [len(replay.allocated)]
    for point, end in zip(curve, ends, strict=True):
        stretch = slice(point["event"], end)
        assert point["at_ns"] == replay.at_ns(point["event"])
        levels = replay.allocated[stretch]
        assert (point["allocated_min_bytes"], point["allocated_max_bytes"]) == (min(levels), max(levels))
        assert point["reserved_max_bytes"] == max(replay.reserved[stretch])


def test_known_peaks_are_those_of_who_made_the_snapshots() -> None:
    # As the README beside them says: 3, 30, 300, 7 and 700 MiB; 30 and 7 freed; 1200 MiB; 3 × 16 KiB and 8.125 MiB.
    failed = device_of(torch_files.DATA / "basic_oom.pickle")
    assert failed["peak"]["allocated_bytes"] == (3 + 300 + 700 + 1200) * MIB + 3 * 16_384 + 8_519_680
    assert failed["peak"]["reserved_bytes"] == (20 + 30 + 300 + 700 + 1200 + 2) * MIB
    (request,) = failed["out_of_memory"]
    assert request["asked_bytes"] == 30 << 30
    assert request["stack"]["frames"][request["stack"]["user_frame"]]["line"] == 6
    assert (device_of(FLUX)["peak"]["allocated_bytes"], device_of(FLUX)["peak"]["event"]) == (9_428_992, 700)


@pytest.mark.parametrize("part", [0.25, 0.5, 0.75, 0.95])
def test_a_history_that_lost_its_beginning_gives_the_same_levels(part: float, tmp_path: Path) -> None:
    # The ring kept the rest: levels in it are those of the whole history.
    whole = replayed(FLUX)
    lost = int(len(whole.events) * part)
    assert whole.events[lost]["action"] != "free_completed"
    path = without_first(lost, tmp_path)
    device, cut = device_of(path), replayed(path)
    levels = whole.allocated[lost:]
    assert cut.allocated == levels
    check_level(device["start"], cut.level(0))
    check_level(device["peak"], cut.level(levels.index(max(levels))))
    check_level(device["end"], cut.level(len(cut.events)))
    state = cut.state(levels.index(max(levels)))
    before = sum(one.bytes for one in state.allocated.values() if one.is_before)
    assert device["alive"]["before_recording_bytes"] == before > 0


def test_a_ring_may_begin_between_a_request_to_free_and_its_end(tmp_path: Path) -> None:
    events = replayed(FLUX).events
    lost = next(at for at, event in enumerate(events) if event["action"] == "free_completed")
    path = without_first(lost, tmp_path)
    check_level(device_of(path)["start"], replayed(path).level(0))


def without_first(lost: int, folder: Path) -> Path:
    """The snapshot with the first events gone."""
    snapshot = allocator.read(FLUX)
    del snapshot["device_traces"][0][:lost]
    path = folder / "cut.pickle"
    path.write_bytes(pickle.dumps(snapshot, protocol=4))
    return path


@pytest.mark.parametrize("ending", [".pickle", ".pkl"])
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol_and_ending_says_the_same(protocol: int, ending: str, tmp_path: Path) -> None:
    """Python 3.14 writes protocol 5 by itself, torch 2."""
    path = tmp_path / f"snapshot{ending}"
    path.write_bytes(pickle.dumps(allocator.read(FLUX), protocol=protocol))
    for found in (path, tmp_path):
        assert torch_files.analyzed(found)["answers"] == torch_files.analyzed(FLUX)["answers"]


def test_the_page_of_a_snapshot_shows_its_levels(tmp_path: Path) -> None:
    found = page_of(FLUX, into=tmp_path)
    assert found["contents"]["title"] == FLUX.name
    assert found["contents"]["screen"] is not None
    replay = replayed(FLUX)
    moments = [0, replay.allocated.index(max(replay.allocated)), None, len(replay.events)]
    for row, number in zip(page.tables(found)["memory_levels"], moments, strict=True):
        level = replay.level(number) if number is not None else {}
        shared = row.keys() & level.keys()
        assert number is None or "allocated_bytes" in shared
        assert {key: row[key] for key in shared} == {key: level[key] for key in shared}


def test_the_page_of_a_trace_and_a_snapshot_shows_both(tmp_path: Path) -> None:
    trace = torch_files.DATA / "traces" / "kineto_docs_after_fix.json"
    both, alone = (page_of(*files, into=tmp_path)["contents"] for files in ((trace, FLUX), (trace,)))
    assert both["title"] == f"{trace.name} and others"
    assert both["screen"] == alone["screen"]
    (overview, memory) = both["tabs"]
    assert [overview] == alone["tabs"]
    assert [memory] == page_of(FLUX, into=tmp_path)["contents"]["tabs"]
    # A moment would lead to one of the trace.
    cells = [
        cell
        for block in memory["blocks"]
        if block["kind"] == "table"
        for row in block["content"]["rows"]
        for cell in row
    ]
    assert {"duration", "bytes"} <= {cell["unit"] for cell in cells}
    assert "moment" not in {cell["unit"] for cell in cells}


def page_of(*files: Path, into: Path) -> page.Model:
    """What the page of files holds."""
    written = into / "page.html"
    marey("analyze", *map(str, files), "--output", str(written))
    return page.model(written.read_text())
