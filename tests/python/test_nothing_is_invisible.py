"""One of everything that a program can report is in the JSON report and in the tables, with values and types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import marey
from interpreter import Interpreter
from tables import rows
from test_reports import holds_to_the_schema

# As the program below gives it: nested dicts get names with dots.
DATA = {
    "shape": [3, 480, 832],
    "none": None,
    "count": 3,
    "ratio": 0.25,
    "text": "x",
    "flag": True,
    "of.depth": [1, None],
}


@pytest.fixture
def recorded(interpreter: Interpreter) -> Path:
    """The folder of a job that reported one of each."""

    def program():
        import marey
        from marey.profiler import Profiler

        of = {"depth": [1, None]}
        data = {"shape": [3, 480, 832], "none": None, "count": 3, "ratio": 0.25, "text": "x", "flag": True, "of": of}
        profiler = Profiler(enabled=True, output_dir="out", real_time_display=False)
        profiler.record_model_parameters("text_encoder", 7000, "encoder")
        with profiler.session("clip", data), profiler.stage("denoise", data):
            profiler.record_diffusion_step(2, 750.5, 3, 12.5, 7.5)
            profiler.record_block_computation(1, 3, 50.0, 1024)
            profiler.record_model_parameters("dit", 1_400_000, None, 1e12, 2)
            profiler.record_streaming_event(9, 5.0, None, 0.5)
            profiler.record_streaming_event(None, None, 2.0)
            profiler.record_dropped_frames(2)
            profiler.record_cache_event("hits", 1000, 10, None)
            profiler.record_memory_event("alloc", 4096, "cuda", "latents")
            profiler.record_memory_event("free", 1024)
            watch = profiler.start_layer_computation("attention")
            profiler.end_layer_computation("attention", watch, 123)
            profiler.end_layer_computation("norm", None)
            profiler.add_event("shaped", data)
            marey.counter("queue", 3.5)
        marey.stop()

    interpreter.result(program)
    return next((interpreter.folder / "out").glob("*/*.marey")).parent


def report(folder: Path, name: str = "profiling_report.json") -> dict[str, Any]:
    return json.loads((folder / name).read_text())


def of(row: dict[str, Any], *names: str) -> list[Any]:
    return [row[name] for name in names]


@pytest.mark.parametrize("name", ["profiling_report.json", "sessions/clip/profiling_report.json"])
def test_everything_reported_is_in_the_report(recorded: Path, name: str) -> None:
    found = report(recorded, name)
    assert holds_to_the_schema(found)
    (step,) = found["diffusion_analysis"]["steps"]
    names = ("step", "timestep", "block_size", "computation_time_ms", "guidance_scale")
    assert of(step, *names) == [2, 750.5, 3, 12.5, 7.5]
    (block,) = found["block_analysis"]["blocks"]
    assert of(block, "block_index", "block_size", "computation_time_ms", "memory_usage_mb") == [1, 3, 50.0, 1024.0]
    models = found["model_analysis"]["models"]
    said = ("parameters_count", "model_type", "flops_per_call", "calls_per_step")
    assert {name: of(model, *said) for name, model in models.items()} == {
        "text_encoder": [7000, "encoder", None, None],
        "dit": [1_400_000, None, 1e12, 2.0],
    }
    said = ("batch_size", "encoding_time_ms", "network_latency_ms", "buffer_occupancy")
    deliveries = [of(one, *said) for one in found["streaming_analysis"]["events"]]
    assert deliveries == [[9, 5.0, None, 0.5], [None, None, 2.0, None]]
    assert [drop["count"] for drop in found["streaming_analysis"]["drops"]] == [2]
    (decision,) = found["cache_analysis"]["timeline"]
    assert of(decision, "outcome", "held_bytes", "data") == ["hit", 1000, {"requested_size": 10}]
    events = found["memory_events"]["events"]
    assert [of(one, "event_type", "size_bytes", "allocator", "context") for one in events] == [
        ["alloc", 4096, "cuda", "latents"],
        ["dealloc", 1024, None, None],
    ]
    sums = ("n_allocations", "allocated_bytes", "n_releases", "released_bytes", "held_bytes", "peak_bytes")
    assert of(found["memory_events"], *sums) == [1, 4096, 1, 1024, 3072, 4096]
    layers = found["layer_analysis"]["layers"]
    assert of(layers["attention"], "call_count", "timed_call_count", "parameters_count") == [1, 1, 123]
    assert layers["attention"]["total_time_ms"] > 0
    assert of(layers["norm"], "call_count", "total_time_ms", "avg_time_ms", "parameters_count") == [1, None, None, None]
    assert [(event["name"], event["data"]) for event in found["events"]] == [("shaped", DATA)]
    assert [call["attributes"] for call in found["section_attributes"]] == [DATA]
    assert of(found["counters"]["queue"], "count", "last") == [1, 3.5]


def test_a_sessions_tags_keep_their_types(recorded: Path) -> None:
    (session,) = report(recorded)["sessions"]
    assert (session["name"], session["tags"]) == ("clip", DATA)


def test_everything_reported_is_a_row_of_a_table(recorded: Path) -> None:
    run = marey.load(recorded)

    def table(kind: str, *names: str) -> list[list[Any]]:
        return [of(row, *names) for row in rows(run.to_arrow(kind))]

    assert table("steps", "step", "timestep", "frames", "duration_ns", "guidance_scale", "session") == [
        [2, 750.5, 3, 12_500_000, 7.5, "clip"]
    ]
    assert table("blocks", "block", "frames", "duration_ns", "memory_bytes") == [[1, 3, 50_000_000, 1024 << 20]]
    assert table("models", "name", "kind", "parameters", "flops_per_call", "calls_per_step", "session") == [
        ["text_encoder", "encoder", 7000, None, None, None],
        ["dit", None, 1_400_000, 1e12, 2.0, "clip"],
    ]
    said = ("frames", "dropped_frames", "encoding_ns", "network_latency_ns", "buffer_occupancy", "session")
    assert table("deliveries", *said) == [
        [9, None, 5_000_000, None, 0.5, "clip"],
        [None, None, None, 2_000_000, None, "clip"],
        [None, 2, None, None, None, "clip"],
    ]
    assert table("cache", "outcome", "held_bytes", "data") == [["hit", 1000, '{"requested_size":10}']]
    assert table("allocations", "is_release", "bytes", "allocator", "context", "session") == [
        [False, 4096, "cuda", "latents", "clip"],
        [True, 1024, None, None, "clip"],
    ]
    attention, norm = rows(run.to_arrow("layers"))
    assert of(attention, "name", "parameters", "session") == ["attention", 123, "clip"]
    assert attention["duration_ns"] > 0
    assert of(norm, "name", "duration_ns", "parameters") == ["norm", None, None]
    for kind, column, name in (("events", "data", "shaped"), ("sessions", "tags", "clip")):
        (row,) = rows(run.to_arrow(kind))
        assert json.loads(row[column]) == DATA
        assert name in row.values()
    (denoise,) = rows(run.to_arrow("sections"))
    assert json.loads(denoise["attributes"]) == DATA
    assert table("counters", "name", "value") == [["queue", 3.5]]


def test_everything_reported_is_named_in_the_summary(recorded: Path) -> None:
    text = (recorded / "timing_summary.txt").read_text()
    said = ["LAYERS", "attention", "MEMORY EVENTS", "latents", "text_encoder", "dit", "queue", "clip"]
    assert [word for word in said if word not in text] == []
