"""The guide to profiling Self-Forcing: its configurations, decorators, flags and console block do what it says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import marey
from capture_records import of_kind, recorded, recorded_in
from documented_configurations import BASIC, DEVELOPMENT, PRODUCTION, SAID
from interpreter import Interpreter
from stand_in_nvml import StandInNvml
from test_reports import holds_to_the_schema

EACH = pytest.mark.parametrize("text", [BASIC, DEVELOPMENT, PRODUCTION], ids=["basic", "development", "production"])


def job_folder(folder: Path) -> Path:
    """Where the one capture below a folder lies."""
    return next(folder.rglob("*.marey")).resolve().parent


@EACH
def test_configurations_load_as_they_stand(text: str, tmp_path: Path) -> None:
    path = tmp_path / "profiling_config.yaml"
    path.write_text(text)
    defaults = marey.ProfilingConfig().to_dict()
    assert marey.ProfilingConfig.from_yaml(path).to_dict() == defaults | SAID[text]


@EACH
def test_each_configuration_drives_a_profiler(interpreter: Interpreter, nvml: StandInNvml, text: str) -> None:
    def program():
        import time

        import marey

        profiler = marey.Profiler("profiling_config.yaml")
        with profiler.session("session_abc123", {"prompt_length": 7}):
            for stage in ("text_encoding", "denoising_step", "vae_decode"):
                with profiler.stage(stage):
                    pass
            while not {"gpu", "cpu"} <= profiler.get_current_metrics().keys():
                time.sleep(0.001)

    (interpreter.folder / "profiling_config.yaml").write_text(text)
    environment = nvml.environment(**{"GPU-1": {}})
    interpreter.result(program, env=environment)
    said = SAID[text]
    job = job_folder(interpreter.folder / said["output_dir"])
    report = json.loads((job / "sessions" / "session_abc123" / "profiling_report.json").read_text())
    assert holds_to_the_schema(report)
    assert report["session_info"]["id"] == "session_abc123"
    assert report["session_info"]["tags"] == said["session_tags"] | {"prompt_length": 7}
    stages = {"text_encoding"} if said.get("profile_text_encoding", True) else set()
    assert report["timing_stats"].keys() == stages | {"denoising_step", "vae_decode"}
    assert (job / "raw_profiling_data_session_abc123.json").exists() == said.get("save_raw_data", False)
    run = json.loads((job / "profiling_report.json").read_text())
    gpu = run["gpu_metrics"]
    assert gpu["memory_analysis"]["peak_usage_mb"] == 8420
    assert gpu["utilization_analysis"]["peak_utilization"] == 85
    assert (gpu["temperature_analysis"] is None) == (text is PRODUCTION)
    assert (gpu["power_analysis"] is None) == (text is PRODUCTION)
    assert run["cpu_metrics"]["memory_analysis"]["peak_usage_mb"] > 0


def test_documented_pipeline_runs_as_it_stands(interpreter: Interpreter) -> None:
    """The Self-Forcing guide's CustomPipeline; only the import differs."""

    def program():
        import types

        import marey
        from marey.decorators import (
            add_profiling_event,
            profile_block_computation,
            profile_diffusion_step,
            profile_method,
            profile_model_parameters,
            profile_session,
        )

        class CustomPipeline:
            @profile_method("model_initialization")
            def _initialize_model(self):
                # Model initialization code
                pass

            @profile_session("video_generation", {"mode": "t2v"})
            @add_profiling_event(
                "generation_completed",
                lambda result, **kwargs: {"output_shape": list(result.shape) if result is not None else None},
            )
            def run_text_to_video(self, prompts, **kwargs):
                # Video generation code
                result = self._generate_video(prompts, **kwargs)
                return result

            @profile_method("checkpoint_loading")
            @add_profiling_event(
                "checkpoint_loaded", lambda _, checkpoint_path, **kwargs: {"checkpoint_path": checkpoint_path}
            )
            def load_checkpoint(self, checkpoint_path, **kwargs):
                # Checkpoint loading code
                pass

            @profile_diffusion_step(lambda args, kwargs: {"step": args[0], "timestep": args[1], "block_size": args[2]})
            def diffusion_step(self, step, timestep, block_size):
                # Diffusion step implementation
                pass

            @profile_model_parameters(
                lambda args, kwargs: {"model_name": args[0], "parameters_count": args[1], "model_type": args[2]}
            )
            def record_model_parameters(self, model_name, parameters_count, model_type):
                # Record model parameters
                pass

            @profile_block_computation(
                lambda args, kwargs: {
                    "block_index": args[0],
                    "block_size": args[1],
                    "computation_time_ms": args[2],
                    "memory_usage_mb": args[3],
                }
            )
            def process_block(self, block_index, block_size, computation_time_ms, memory_usage_mb):
                # Block processing implementation
                pass

            def _generate_video(self, prompts, **kwargs):
                self.diffusion_step(0, 0.75, 3)
                self.process_block(0, 3, 400.0, 1024.0)
                return types.SimpleNamespace(shape=(3, 480, 832))

        pipeline = CustomPipeline()
        pipeline._profiler = marey.Profiler(enabled=True, output_dir="out")
        pipeline._initialize_model()
        pipeline.load_checkpoint("a.pt")
        pipeline.load_checkpoint(checkpoint_path="b.pt")
        pipeline.record_model_parameters("wan", 1_300_000_000, "transformer")
        return pipeline.run_text_to_video(["a prompt"], seed=7).shape

    finished = interpreter.run(program)
    assert finished.result == [3, 480, 832]
    assert finished.stderr == ""
    records = recorded(finished)
    assert [row["name"] for row in records["sections"]] == [
        "model_initialization",
        "checkpoint_loading",
        "checkpoint_loading",
    ]
    assert [(row["name"], row["data"], row["session"]) for row in records["events"]] == [
        ("checkpoint_loaded", {"checkpoint_path": "a.pt"}, None),
        ("checkpoint_loaded", {"checkpoint_path": "b.pt"}, None),
        ("generation_completed", {"output_shape": [3, 480, 832]}, 0),
    ]
    assert [(s["name"], s["tags"]) for s in records["sessions"]] == [("video_generation", {"mode": "t2v"})]
    (step,) = of_kind(records, "step")
    assert (step["step"], step["timestep"], step["block_size"], step["session"]) == (0, 0.75, 3, 0)
    assert step["computation_ns"] > 0
    assert of_kind(records, "block") == [
        {"index": 0, "size": 3, "computation_ns": 400_000_000, "memory_bytes": 1_073_741_824, "session": 0}
    ]
    assert of_kind(records, "model") == [
        {
            "name": "wan",
            "count": 1_300_000_000,
            "type": "transformer",
            "flops_per_call": None,
            "calls_per_step": None,
            "session": None,
        }
    ]


def test_a_script_takes_the_flags_of_the_guide(interpreter: Interpreter) -> None:
    script = """
        import argparse
        import marey
        from marey.cli_args import add_profiling_args

        parser = argparse.ArgumentParser()
        parser.add_argument("--prompt", required=True)
        parser.add_argument("--use_ema", action="store_true")
        args = add_profiling_args(parser).parse_args()
        profiler = marey.Profiler(marey.ProfilingConfig.from_args(args))
        with profiler.session("video_generation"), profiler.stage("denoise"):
            pass
    """
    started = """
        import runpy, sys
        line = ["--prompt", "A sunset", "--use_ema", "--enable_profiling", "--profiling_config", "config.yaml"]
        sys.argv = ["script.py", *line[:N]]
        runpy.run_path("script.py", run_name="__main__")
    """
    import textwrap

    (interpreter.folder / "script.py").write_text(textwrap.dedent(script))
    configuration = PRODUCTION.replace("enabled: true", "enabled: false").replace("./production_profiling", "out")
    (interpreter.folder / "config.yaml").write_text(configuration)
    finished = interpreter.run(started.replace(":N", ":3"))
    assert (finished.returncode, finished.stderr) == (0, "")
    assert not (interpreter.folder / "out").exists()
    records = recorded(interpreter.run(started.replace(":N", ":6")))
    assert [(s["name"], s["tags"]) for s in records["sessions"]] == [
        ("video_generation", {"mode": "production", "minimal_overhead": True})
    ]
    assert [row["name"] for row in records["sections"]] == ["denoise"]


def console(interpreter: Interpreter, nvml: StandInNvml, **environment: str) -> str:
    """What a program with a session shows on a terminal; the first rank waits until something is shown."""

    def program():
        import io
        import sys
        import threading

        import marey

        class Terminal(io.StringIO):
            def isatty(self):
                return True

            def write(self, text):
                super().write(text)
                if "GPU: " in text and "CPU: " in text:
                    shown.set()

        shown = threading.Event()
        sys.stdout = terminal = Terminal()
        profiler = marey.Profiler(enabled=True, output_dir="out", display_interval=0.05, cpu_monitor_interval=0.02)
        with profiler.session("session_abc123"):
            if marey._core.rank() in (None, 0):
                shown.wait()
            else:
                assert threading.active_count() == 1
        return terminal.getvalue()

    gpus = nvml.environment(**{"GPU-1": {}})
    return interpreter.result(program, env=gpus | environment)


def test_the_console_block_shows_while_a_session_runs(interpreter: Interpreter, nvml: StandInNvml) -> None:
    lines = console(interpreter, nvml).splitlines()
    # Behind an end of line, in case the program has stopped within one.
    assert lines[:2] == ["", "=== Profiling Metrics (session_abc123) ==="]
    assert "GPU: Memory 8420MB / 24564MB (34.3%), Util 85.0%, Temp 72.0°C, Power 300.0W" in lines
    cpu = r"CPU: (\d+\.\d%, )?Memory \d+MB / \d+MB \(\d+\.\d%\)"
    assert any(re.fullmatch(cpu, line) for line in lines), lines


def test_other_ranks_than_the_first_show_nothing(interpreter: Interpreter, nvml: StandInNvml) -> None:
    assert console(interpreter, nvml, RANK="1", WORLD_SIZE="2") == ""
    assert "=== Profiling Metrics" in console(interpreter, nvml, RANK="0", WORLD_SIZE="2")


def test_two_ranks_of_torchrun_write_two_captures_into_one_job(interpreter: Interpreter) -> None:
    def program():
        import os

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False)
        with profiler.session("clip"), profiler.stage(f"rank {os.environ['RANK']}"):
            pass

    for rank in "01":
        torchrun = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": "2", "TORCHELASTIC_RUN_ID": "run-7"}
        interpreter.result(program, env=torchrun | {"TORCHELASTIC_RESTART_COUNT": "0"})
    captures = sorted({path.resolve() for path in (interpreter.folder / "out").glob("*/*.marey")})
    assert len({path.parent for path in captures}) == 1
    assert [path.name.split("-")[0] for path in captures] == ["rank0", "rank1"]
    assert [[row["name"] for row in recorded_in(path)["sections"]] for path in captures] == [["rank 0"], ["rank 1"]]


def generation(interpreter: Interpreter) -> dict[str, Any]:
    """The report of a session with nested stages, a cache and frames that are delivered."""

    def program():
        import time

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False)
        with profiler.session("clip"):
            with profiler.stage("denoise"):
                for block in range(3):
                    with profiler.stage("transformer"):
                        time.sleep(0.06)
                    profiler.record_cache_event("misses" if block == 0 else "hits", 4096)
                profiler.record_cache_event("hits", 4096)
                profiler.record_cache_event("evictions", 0, evicted_size=4096)
                time.sleep(0.18)
            for _ in range(4):
                profiler.record_streaming_event(9, 10.0, network_latency_ms=4.0)
                time.sleep(0.01)
            profiler.record_dropped_frames(4)

    interpreter.result(program)
    job = job_folder(interpreter.folder / "out")
    report = json.loads((job / "sessions" / "clip" / "profiling_report.json").read_text())
    assert holds_to_the_schema(report)
    return report


def test_figures_of_the_report_are_those_of_a_calculation_by_hand(interpreter: Interpreter) -> None:
    report = generation(interpreter)
    analysis = report["stage_analysis"]
    wall = report["session_info"]["duration"]
    denoise, transformer = analysis["stages"]["denoise"], analysis["stages"]["transformer"]
    assert (denoise["call_count"], transformer["call_count"]) == (1, 3)
    assert denoise["total_time"] >= 0.12
    assert transformer["total_time"] >= 0.06
    assert denoise["under_no_other_stage"] == pytest.approx(denoise["total_time"] - transformer["total_time"])
    for stage in (denoise, transformer):
        assert stage["percentage_of_total"] == pytest.approx(100 * stage["total_time"] / wall)
    shares = {row["stage"]: row["percentage"] for row in analysis["bottlenecks"]}
    assert shares["transformer"] == pytest.approx(100 * transformer["total_time"] / wall)
    assert shares["denoise"] == pytest.approx(100 * denoise["under_no_other_stage"] / wall)
    assert sum(shares.values()) <= 100
    cache = report["cache_analysis"]
    assert cache["cache_performance"] == {"hits": 3, "misses": 1, "evictions": 1, "total_requests": 4}
    assert cache["cache_efficiency"] == {"hit_rate": 0.75, "miss_rate": 0.25}
    streaming = report["streaming_analysis"]
    assert streaming["total_frames_streamed"] == 36
    assert streaming["drop_rate_percent"] == 10
    assert (streaming["avg_encoding_time_ms"], streaming["avg_network_latency_ms"]) == (10, 4)
    # Each delivery but the first ends an interval in which its frames were made.
    assert streaming["current_fps"] == pytest.approx(27 / streaming["delivery_time"])
