"""GPU time and memory of sections on a real GPU; skipped where there is none."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch

import marey
from marey import _core

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no GPU")


def records() -> dict[str, list[dict[str, Any]]]:
    """What the recording that ends here left."""
    capture = marey.stop()
    assert capture is not None
    return json.loads(_core.records(str(capture)))


def test_a_section_has_the_time_of_its_work_and_the_peak_of_its_memory(recording: None) -> None:
    torch.cuda.init()
    matrix = torch.randn(2048, 2048, device="cuda")
    torch.cuda.reset_peak_memory_stats()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with marey.profile_section("multiply"):
        begin.record()
        for _ in range(20):
            matrix = matrix @ matrix
        end.record()
    torch.cuda.synchronize()
    peak = torch.cuda.max_memory_allocated()
    found = records()
    [span] = [span for span in found["gpu_spans"] if span["name"] == "multiply"]
    # Marey's events are around the program's own.
    assert span["gpu_ns"] / 1e6 >= begin.elapsed_time(end) * 0.999
    assert span["gpu_ns"] <= begin.elapsed_time(end) * 1e6 + 5_000_000
    memory = next(row for row in found["section_memory"] if row["name"] == "multiply")
    assert memory["allocated"][1] == peak


def test_a_graph_is_captured_and_replayed_within_sections(recording: None) -> None:
    torch.cuda.init()
    x = torch.ones(1024, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with marey.profile_section("capture"), torch.cuda.graph(graph), marey.profile_section("within"):
        y = x * 2
    with marey.profile_section("replay"):
        graph.replay()
    torch.cuda.synchronize()
    assert y.sum().item() == 2048
    names = {span["name"] for span in records()["gpu_spans"]}
    assert "replay" in names
    assert "within" not in names


def test_a_delay_is_not_longer_than_the_work_before_it(recording: None) -> None:
    torch.cuda.init()
    matrix = torch.randn(4096, 4096, device="cuda")
    with marey.profile_section("idle"):
        pass
    torch.cuda.synchronize()
    with marey.profile_section("long"):
        for _ in range(50):
            matrix = matrix @ matrix
    with marey.profile_section("behind"):
        matrix + 1
    torch.cuda.synchronize()
    spans = {span["name"]: span for span in records()["gpu_spans"]}
    long, behind = spans["long"], spans["behind"]
    assert behind["delay_ns"] is not None
    waited = long["start_ns"] + long["delay_ns"] + long["gpu_ns"] - behind["start_ns"]
    assert abs(behind["delay_ns"] - waited) <= behind["error_ns"] + long["error_ns"] + 100_000
