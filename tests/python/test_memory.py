"""`MemoryTracker`: whose memory it reads, and that it says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import marey
from interpreter import Interpreter
from stand_in_torch import SOURCE as STAND_IN_TORCH


def readings(path: Path) -> list[dict[str, object]]:
    return json.loads(path.read_text())


def test_without_torch_it_is_the_process_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tracker = marey.MemoryTracker()
    tracker.snapshot("before")
    ballast = bytearray(64 << 20)
    ballast[::4096] = b"x" * len(ballast[::4096])
    tracker.snapshot("after")
    tracker.export_json(tmp_path / "memory_log.json")
    before, after = readings(tmp_path / "memory_log.json")
    assert (before["label"], after["label"]) == ("before", "after")
    assert before["source"] == after["source"] == "process"
    assert after["allocated_mb"] - before["allocated_mb"] > 50
    assert before["reserved_mb"] is None, "a process has nothing reserved, which is not 0"
    assert after["max_allocated_mb"] >= after["allocated_mb"]
    assert before["timestamp"] <= after["timestamp"]
    tracker.report()
    assert "(process)" in capsys.readouterr().out
    tracker.print_summary()
    assert "Measured: process memory (resident set)\n" in capsys.readouterr().out
    del ballast


def test_peak_is_that_of_the_block_and_not_of_the_process(interpreter: Interpreter) -> None:
    """The kernel's high-water mark is of the whole life: 200 MiB before the block are none of it."""

    def program() -> list[float]:
        import marey

        def touch(mib: int) -> None:
            block = bytearray(mib << 20)
            block[::4096] = b"x" * len(block[::4096])

        touch(200)
        with marey.MemoryTracker() as outer:
            outer_begun = outer.get_peak_memory_gb()
            touch(60)
            with marey.MemoryTracker() as inner:
                inner_begun = inner.get_peak_memory_gb()
                touch(20)
        grown = (outer.get_peak_memory_gb() - outer_begun, inner.get_peak_memory_gb() - inner_begun)
        return [gib * 1024 for gib in grown]

    outer, inner = interpreter.result(program)
    # Each is beside the other's, and that of the whole life, by more than anybody else touches.
    assert 55 <= outer <= 100
    assert 15 <= inner <= 40


def test_what_a_recording_takes_is_not_the_blocks(interpreter: Interpreter) -> None:
    def program() -> float:
        import json

        import marey

        with marey.MemoryTracker() as tracker:
            pass
        tracker.export_json("log.json")
        with open("log.json") as log:
            start, end = json.load(log)
        return end["allocated_mb"] - start["allocated_mb"]

    # With room for so many nodes a recording takes 16 MiB and each thread 6 more; its own threads do nothing yet.
    env = {"MAREY_MAX_NODES": "65000", "MAREY_DRAIN_INTERVAL_MS": "60000"}
    env |= {"MAREY_MONITOR_CPU_USAGE": "0", "MAREY_MONITOR_SYSTEM_MEMORY": "0"}
    assert abs(interpreter.result(program, env=env | {"MAREY_ENABLED": "1"})) < 3
    # The tracker's first reading begins the recording.
    assert abs(interpreter.result(program, env=env)) < 3


def test_with_form_reads_at_both_ends(capsys: pytest.CaptureFixture[str]) -> None:
    with marey.MemoryTracker(device=None) as tracker:
        assert tracker.get_peak_memory_gb() is not None
    assert tracker.get_peak_memory_gb() > 0
    tracker.report()
    assert capsys.readouterr().out.startswith("Peak memory usage: ")


def test_nothing_read_is_not_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tracker = marey.MemoryTracker(enabled=False)
    tracker.snapshot("a")
    assert tracker.get_peak_memory_gb() is None
    tracker.report()
    tracker.print_summary()
    assert "not available" in capsys.readouterr().out
    tracker.export_json(str(tmp_path / "log.json"))
    assert readings(tmp_path / "log.json") == []


def test_clear_forgets_the_readings_of_this_tracker_alone(tmp_path: Path) -> None:
    first, second = marey.MemoryTracker(), marey.MemoryTracker()
    first.snapshot("a")
    second.snapshot("b")
    first.clear()
    first.export_json(tmp_path / "first.json")
    second.export_json(tmp_path / "second.json")
    assert readings(tmp_path / "first.json") == []
    assert [reading["label"] for reading in readings(tmp_path / "second.json")] == ["b"]


def test_exception_passes_through_the_with_form() -> None:
    with pytest.raises(KeyError), marey.MemoryTracker():
        raise KeyError


def test_log_is_replaced_as_a_whole_and_a_link_is_followed(tmp_path: Path) -> None:
    tracker = marey.MemoryTracker()
    tracker.snapshot("a")
    log = tmp_path / "log.json"
    tracker.export_json(log)
    with log.open() as reader:
        tracker.snapshot("b")
        tracker.export_json(log)
        assert len(json.load(reader)) == 1, "who had the file open has the old one, whole"
    assert len(readings(log)) == 2
    link = tmp_path / "link.json"
    link.symlink_to(log)
    tracker.snapshot("c")
    tracker.export_json(link)
    assert link.is_symlink()
    assert len(readings(log)) == 3


def test_log_that_cannot_be_written_is_an_error_of_marey(tmp_path: Path) -> None:
    with pytest.raises(marey.Error, match="nowhere"):
        marey.MemoryTracker().export_json(tmp_path / "nowhere" / "log.json")


@pytest.mark.parametrize("label", [3, None, ("a", 1), "\ud800", "a\x1b[31m", "x" * 10_000])
def test_any_label_is_taken(label: object, capsys: pytest.CaptureFixture[str]) -> None:
    tracker = marey.MemoryTracker()
    tracker.snapshot(label)  # type: ignore[arg-type]
    tracker.print_summary()
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("device", "index", "more"),
    [("None", 0, 0), ("'cuda'", 0, 0), ("'cuda:1'", 1, 1), ("1", 1, 1), ("torch.device('cuda:1')", 1, 1)],
)
def test_with_cuda_it_is_torchs_allocator(interpreter: Interpreter, device: str, index: int, more: int) -> None:
    finished = interpreter.run(
        STAND_IN_TORCH
        + f"""
import marey
tracker = marey.MemoryTracker(device={device})
tracker.snapshot("loaded")
tracker.export_json("log.json")
tracker.print_summary()
tracker.report()
print(tracker.get_peak_memory_gb())
"""
    )
    assert (finished.returncode, finished.stderr) == (0, "")
    (reading,) = readings(finished.folder / "log.json")
    assert reading["source"] == f"cuda:{index}"
    megabytes = [reading[key] for key in ("allocated_mb", "reserved_mb", "max_allocated_mb")]
    assert megabytes == [1024 + more, 2048 + more, 4096 + more]
    assert f"{1024 + more}.0M" in finished.stdout
    assert f"Measured: torch's allocator on cuda:{index}\n" in finished.stdout
    assert finished.stdout.endswith(f"{(4096 + more) / 1024}\n")


def test_the_peak_is_of_the_source_that_reached_it(interpreter: Interpreter) -> None:
    finished = interpreter.run(
        STAND_IN_TORCH
        + """
import marey
torch.cuda.is_initialized = lambda: False
tracker = marey.MemoryTracker()
held = bytearray(200 << 20)
tracker.snapshot("before CUDA")
torch.cuda.is_initialized = lambda: True
torch.cuda.memory_allocated = torch.cuda.max_memory_allocated = lambda device=None: 50 << 20
tracker.snapshot("with CUDA")
tracker.report()
"""
    )
    assert (finished.returncode, finished.stderr) == (0, "")
    (peak,) = [line for line in finished.stdout.splitlines() if line.startswith("Peak memory usage")]
    assert "(process" in peak


@pytest.mark.parametrize(
    "damage",
    [
        "torch.cuda = None",
        "del torch.cuda",
        "torch.cuda.is_initialized = lambda: False",
        "torch.cuda.is_initialized = lambda: 1 / 0",
        "torch.cuda.memory_reserved = lambda device: -1",
        "torch.cuda.memory_allocated = lambda device: 'many'",
        "sys.modules['torch'] = None",
        "device = 'cpu'",
    ],
)
def test_with_a_broken_torch_it_is_the_process(interpreter: Interpreter, damage: str) -> None:
    finished = interpreter.run(
        STAND_IN_TORCH
        + f"""
import marey
device = None
{damage}
tracker = marey.MemoryTracker(device=device)
tracker.snapshot("still read")
tracker.export_json("log.json")
"""
    )
    assert (finished.returncode, finished.stderr) == (0, "")
    (reading,) = readings(finished.folder / "log.json")
    assert reading["source"] == "process"
    assert reading["allocated_mb"] > 1


def test_tracker_never_resets_torchs_peak(interpreter: Interpreter) -> None:
    finished = interpreter.run(
        STAND_IN_TORCH
        + """
import marey
def reset(*_): raise AssertionError("reset")
torch.cuda.reset_peak_memory_stats = torch.cuda.reset_max_memory_allocated = reset
with marey.MemoryTracker() as tracker:
    tracker.snapshot("a")
    tracker.clear()
"""
    )
    assert (finished.returncode, finished.stderr) == (0, "")
