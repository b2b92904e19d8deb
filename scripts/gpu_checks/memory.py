"""Peaks of sections, and snapshots of torch's allocator."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from gpu_checks.rows import MIB, Row, check, marey_json, recorded, row


@check
def allocator_peaks() -> Iterator[Row]:
    """The peak of a section, and the program's own, which it leaves alone."""
    import torch

    import marey

    with recorded() as found:
        kept = torch.empty(32 * MIB, dtype=torch.uint8, device="cuda")
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        with marey.profile_section("warm"):
            pass
        with marey.profile_section("allocates"):
            big = torch.empty(256 * MIB, dtype=torch.uint8, device="cuda")
            del big
        with marey.profile_section("allocates_less"):
            small = torch.empty(64 * MIB, dtype=torch.uint8, device="cuda")
            del small
        peak = torch.cuda.max_memory_allocated()
        del kept
    rows = {memory["name"]: memory for memory in found["section_memory"]}
    at_begin, most, _ = rows["allocates"]["allocated"]
    yield row("peak of a section over its begin", f"{256} MiB", f"{(most - at_begin) / MIB:g} MiB")
    at_begin, least, _ = rows["allocates_less"]["allocated"]
    at_most = least + rows["allocates_less"]["allocated_peak_error"]
    yield row(
        "of one that needs less: from, to",
        "0 to 256 MiB",
        f"{(least - at_begin) / MIB:g} to {(at_most - at_begin) / MIB:g} MiB",
    )
    yield row("the program's own peak", f"{256} MiB", f"{(peak - before) / MIB:g} MiB")


@check
def history_before_cuda() -> Iterator[Row]:
    """A memory history that begins before CUDA is initialised, as a window with MEM has one at a program's start."""
    import torch

    from marey.memory_history import MemoryHistory

    history = MemoryHistory()
    started = history.start()
    kept = torch.empty(3 * MIB, dtype=torch.uint8, device="cuda")
    path = history.dump(Path(tempfile.mkdtemp(prefix="gpu-check-")) / "history.pickle")
    history.stop()
    yield row("history before CUDA is initialised", (True, True), (started, path is not None))
    yield row("history: switched off again", False, torch._C._cuda_isHistoryEnabled())
    del kept


@check
def memory_snapshot() -> Iterator[Row]:
    """What `marey analyze` reads of a snapshot is what torch says of its allocator."""
    import torch

    import marey.torch

    kept = [torch.empty(size * MIB, dtype=torch.uint8, device="cuda") for size in (3, 40, 7)]
    allocated, reserved = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
    path = marey.torch.memory_snapshot(Path(tempfile.mkdtemp(prefix="gpu-check-")) / "now.pickle")
    if path is None:
        yield row("memory snapshot", "a file", "none")
        return
    device = marey_json("analyze", str(path), "--format", "json")["answers"]["devices"][0]
    yield row("snapshot: allocated bytes", allocated, device["end"]["allocated_bytes"])
    yield row("snapshot: reserved bytes", reserved, device["end"]["reserved_bytes"])
    del kept
