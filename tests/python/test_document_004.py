"""The guide to extending the profiler: integration by decorators and in the middle of a pipeline's own code."""

from __future__ import annotations

import pytest

from capture_records import of_kind, recorded, recorded_in
from interpreter import Interpreter


def test_decorators_of_a_pipeline_record_with_its_profiler(interpreter: Interpreter) -> None:
    def program():
        import marey
        from marey.decorators import profile_method, profile_session

        class VideoPipeline:
            def __init__(self, profiler):
                self._profiler = profiler
                self._initialize_model()

            @profile_session("video_generation", {"mode": "t2v"})
            def run_text_to_video(self, prompts):
                with marey.profile_section("denoise"):
                    return len(prompts)

            @profile_method("model_initialization")
            def _initialize_model(self):
                pass

        return VideoPipeline(marey.Profiler(enabled=True, output_dir="out")).run_text_to_video(["a", "b"])

    finished = interpreter.run(program)
    assert finished.result == 2
    records = recorded(finished)
    assert [(s["name"], s["tags"]) for s in records["sessions"]] == [("video_generation", {"mode": "t2v"})]
    assert [row["name"] for row in records["sections"]] == ["model_initialization", "denoise"]


def test_documented_direct_integration_records_each_step_and_block(interpreter: Interpreter) -> None:
    """The guide to extending profiling: the example of direct integration, with a stand-in for CUDA events."""

    def program():
        import types

        import marey

        class Event:
            clock = 0.0

            def __init__(self, enable_timing=False):
                assert enable_timing

            def record(self):
                self.at = Event.clock

            def elapsed_time(self, end):
                return end.at - self.at

        torch = types.SimpleNamespace(cuda=types.SimpleNamespace(Event=Event, synchronize=lambda: None))
        num_blocks, denoising_steps, block_size, peak_memory_mb = 2, [1.0, 0.75, 0.5, 0.25], 3, 2048.0

        def inference(profiler):
            for block_index in range(num_blocks):
                block_start_time = torch.cuda.Event(enable_timing=True)
                block_end_time = torch.cuda.Event(enable_timing=True)
                block_start_time.record()
                for step_index, timestep in enumerate(denoising_steps):
                    Event.clock += 100.0
                    step_time_ms = 100.0
                    if profiler is not None:
                        profiler.record_diffusion_step(
                            step=step_index, timestep=timestep, block_size=block_size, computation_time_ms=step_time_ms
                        )
                block_end_time.record()
                torch.cuda.synchronize()
                block_time_ms = block_start_time.elapsed_time(block_end_time)
                if profiler is not None:
                    profiler.record_block_computation(
                        block_index=block_index,
                        block_size=block_size,
                        computation_time_ms=block_time_ms,
                        memory_usage_mb=peak_memory_mb,
                    )

        inference(None)
        profiler = marey.Profiler(enabled=True, output_dir="out")
        with profiler.session("clip"):
            inference(profiler)
        off = marey.Profiler(
            enabled=True, profile_diffusion_steps=False, profile_block_computation=False, profile_model_parameters=False
        )
        inference(off)
        off.record_model_parameters("m", 1, "x")

    records = recorded(interpreter.run(program))
    steps, blocks = of_kind(records, "step"), of_kind(records, "block")
    assert [(row["step"], row["timestep"]) for row in steps] == [(0, 1.0), (1, 0.75), (2, 0.5), (3, 0.25)] * 2
    assert {(row["block_size"], row["computation_ns"], row["session"]) for row in steps} == {(3, 100_000_000, 0)}
    assert [(row["index"], row["size"], row["computation_ns"], row["memory_bytes"]) for row in blocks] == [
        (0, 3, 400_000_000, 2_147_483_648),
        (1, 3, 400_000_000, 2_147_483_648),
    ]
    assert of_kind(records, "model") == []


def test_the_options_of_the_guide_come_from_a_file(interpreter: Interpreter) -> None:
    def program(switched_off):
        import marey

        names = ("profile_diffusion_steps", "profile_block_computation", "profile_model_parameters")
        lines = [f"  {name}: {str(name != switched_off).lower()}" for name in names]
        with open("config.yaml", "w") as file:
            file.write("\n".join(["profiling:", "  enabled: true", "  output_dir: out", *lines]))
        profiler = marey.Profiler("config.yaml", real_time_display=False)
        profiler.record_diffusion_step(step=0, timestep=1.0, block_size=3, computation_time_ms=100.0)
        profiler.record_block_computation(0, 3, computation_time_ms=400.0, memory_usage_mb=2048.0)
        profiler.record_model_parameters("wan", 1_300_000_000, "transformer")
        return [str(marey.stop())]

    kinds = {
        "profile_diffusion_steps": "step",
        "profile_block_computation": "block",
        "profile_model_parameters": "model",
    }
    for switch in (None, *kinds):
        (capture,) = interpreter.result(program, switch)
        records = recorded_in(interpreter.folder / capture)
        found = {kind for kind in kinds.values() if of_kind(records, kind)}
        assert found == set(kinds.values()) - {kinds.get(switch)}


def test_frames_and_blocks_a_second_are_shown_while_the_pipeline_runs(interpreter: Interpreter) -> None:
    def program():
        import time

        import marey

        began = time.perf_counter()
        profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False)
        with profiler.session("clip"):
            for block in range(3):
                for step in range(4):
                    profiler.record_diffusion_step(step, 1 - step / 4, 3, 5.0)
                profiler.record_block_computation(block, 3, 20.0, 2048.0)
                profiler.record_streaming_event(9, 1.0)
                time.sleep(0.02)
            metrics = profiler.get_current_metrics()
            return metrics, time.perf_counter() - began

    metrics, seconds = interpreter.result(program)
    for name, count in {"fps": 27, "blocks_per_second": 3, "steps_per_second": 12}.items():
        # Counted since the profiler was made, which is within these seconds.
        assert metrics[name] >= 0.999 * count / seconds, name
    assert metrics["session"] == "clip"


def test_steps_that_are_known_by_their_names_have_the_rate_that_top_shows(interpreter: Interpreter) -> None:
    """A loop without a report had a rate in ``marey top`` alone."""

    def program():
        import json
        import os
        import subprocess
        import sys
        import time

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False)
        steps = marey.IterationProfiler("denoising_step")
        ends = []
        with profiler.session("clip"):
            for _ in range(6):
                with steps.iteration():
                    time.sleep(0.02)
                    before = time.perf_counter()
                ends.append((before, time.perf_counter()))
            metrics = profiler.get_current_metrics()
            top = [sys.executable, "-m", "marey", "top", "--once", "--json", str(os.getpid())]
            shown = json.loads(subprocess.run(top, capture_output=True, check=True).stdout)
        (first, last) = (ends[0], ends[-1])
        bounds = [5 / (last[1] - first[0]), 5 / (last[0] - first[1])]
        return metrics["steps_per_second"], bounds, shown["processes"][0]["generation"]["steps_per_second"]

    said, (low, high), shown = interpreter.result(program)
    assert low * 0.999 <= said <= high * 1.001
    assert shown == pytest.approx(said)
