"""`DiffusionAnalyzer`: steps, blocks and models without a recording."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from capture_records import of_kind, recorded
from interpreter import Interpreter
from marey import DiffusionAnalyzer


def test_a_block_of_3_frames_and_4_steps_of_100_ms_is_7_5_frames_and_2_5_blocks_a_second() -> None:
    analyzer = DiffusionAnalyzer()
    for step in range(4):
        analyzer.record_step(step, timestep=1 - step / 4, block_size=3, computation_time_ms=100.0)
    analyzer.record_block(0, 3, 400.0, memory_usage_mb=2048)
    found = analyzer.analyze()
    diffusion, blocks = found["diffusion_analysis"], found["block_analysis"]
    assert (diffusion["fps"], diffusion["bps"], diffusion["total_frames"]) == (7.5, 2.5, 3)
    assert (blocks["fps"], blocks["bps"], blocks["peak_memory_usage_mb"]) == (7.5, 2.5, 2048)
    assert (diffusion["avg_timestep"], diffusion["min_timestep"]) == (0.625, 0.25)
    assert [step["block_index"] for step in diffusion["steps"]] == [0, 0, 0, 0]
    assert found["model_analysis"] is None


def test_many_steps_of_a_large_model_are_recommended_against() -> None:
    analyzer = DiffusionAnalyzer()
    analyzer.record_model("dit", 14_000_000_000, "transformer")
    for step in range(50):
        analyzer.record_step(step, computation_time_ms=100.0)
    found = analyzer.recommendations()
    text = " ".join(recommendation["issue"] for recommendation in found)
    assert "50" in text
    assert "dit" in text
    assert all({"category", "priority", "issue", "suggestion"} <= set(recommendation) for recommendation in found)


def test_models_have_their_parameters_and_operations() -> None:
    analyzer = DiffusionAnalyzer()
    analyzer.record_model("dit", 1_300_000_000, "transformer", flops_per_call=2e13, calls_per_step=2)
    analyzer.record_model("vae", model_type="vae")
    for step in range(3):
        analyzer.record_step(step, computation_time_ms=100.0)
    models = analyzer.analyze()["model_analysis"]
    assert (models["total_parameters"], models["total_parameters_readable"]) == (None, None)
    assert models["models"]["dit"]["achieved_flops_per_second"] == 4e14
    assert models["models"]["vae"]["parameters_count"] is None
    analyzer.record_model("vae", 200_000_000, model_type="vae")
    models = analyzer.analyze()["model_analysis"]
    assert (models["total_parameters"], models["total_parameters_readable"]) == (1_500_000_000, "1.50B")


def test_nothing_taken_is_nothing_known() -> None:
    analyzer = DiffusionAnalyzer()
    nothing: dict[str, Any] = {"diffusion_analysis": None, "model_analysis": None, "block_analysis": None}
    assert analyzer.analyze() == nothing
    assert analyzer.recommendations() == []
    analyzer.record_step(0, computation_time_ms=5)
    assert analyzer.analyze() != nothing
    analyzer.clear()
    assert analyzer.analyze() == nothing


def test_nothing_is_recorded_and_no_file_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    analyzer = DiffusionAnalyzer()
    analyzer.record_step(0, computation_time_ms=5)
    analyzer.analyze()
    assert os.listdir() == []


def test_more_reports_than_are_kept_are_counted() -> None:
    analyzer = DiffusionAnalyzer()
    for step in range(131_075):
        analyzer.record_step(step)
    assert analyzer.left_out == 3
    assert analyzer.analyze()["diffusion_analysis"]["total_steps"] == 131_072


def test_a_profiler_and_a_decorator_record_operations_of_models(interpreter: Interpreter) -> None:
    def program():
        import marey
        from marey.decorators import profile_model_parameters

        profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False)
        profiler.record_model_parameters("dit", 7, "transformer", flops_per_call=2e13, calls_per_step=1.5)
        profiler.record_model_parameters("dit", flops_per_call=-1, calls_per_step=float("nan"))

        @profile_model_parameters(lambda args, kwargs: {"model_name": "vae", "flops_per_call": 5, "calls_per_step": 1})
        def load():
            pass

        load()

    models = of_kind(recorded(interpreter.run(program)), "model")
    said = [(model["name"], model["flops_per_call"], model["calls_per_step"]) for model in models]
    assert said == [("dit", 2e13, 1.5), ("dit", None, None), ("vae", 5.0, 1.0)]


def _first_screen(interpreter: Interpreter) -> str:
    command = [sys.executable, "-m", "marey", "report", "out/latest"]
    return subprocess.run(command, cwd=interpreter.folder, capture_output=True, text=True, check=True).stdout


def reported(interpreter: Interpreter) -> dict[str, Any]:
    """What the job's report has."""
    return json.loads((interpreter.folder / "out" / "latest" / "profiling_report.json").read_text())


def test_a_burst_of_deliveries_is_not_the_rate_of_the_program(interpreter: Interpreter) -> None:
    """
    steps      |-- 10 x 20 ms --|
    vae_decode                  |-- 0.3 s --|
    delivered                               |9|9|9|     within some milliseconds
    """

    def program():
        import time

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False)
        began = time.perf_counter()
        for step in range(10):
            time.sleep(0.02)
            profiler.record_diffusion_step(step, 1 - step / 10, 3, 20.0)
        with marey.profile_section("vae_decode", frames=27):
            time.sleep(0.3)
        took = time.perf_counter() - began
        for _ in range(3):
            profiler.record_streaming_event(9, 1.0)
            time.sleep(0.001)
        return took

    took = interpreter.result(program)
    screen = _first_screen(interpreter)
    assert "27 frames" in screen.splitlines()[0]
    (rate,) = re.findall(r"([0-9.]+) FPS", screen)
    assert 27 / took * 0.9 <= float(rate) <= 27 / 0.5 * 1.01


def test_pixel_frames_are_divided_by_the_time_of_the_generations_that_made_them(interpreter: Interpreter) -> None:
    """
    film      |4 x 20 ms| vae 0.1 s |                    12 frames
    preview                          |16 x 20 ms|        decodes nothing
    """

    def program():
        import time

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False)

        def steps(count):
            for step in range(count):
                time.sleep(0.02)
                profiler.record_diffusion_step(step, 1 - step / count, 3, 20.0)

        began = time.perf_counter()
        with profiler.session("film"):
            steps(4)
            with marey.profile_section("vae_decode", frames=12):
                time.sleep(0.1)
        took = time.perf_counter() - began
        with profiler.session("preview"):
            steps(16)
        return took

    took = interpreter.result(program)
    rates = reported(interpreter)["diffusion_analysis"]["frame_rates"]
    of_work, of_film = [row for row in rates if row["meaning"].startswith("pixel") and row["includes_vae_decoding"]]
    for rate in (of_work, of_film):
        assert 12 / took * 0.9 <= rate["fps"] <= 12 / 0.18 * 1.01
    assert of_film["fps"] <= of_work["fps"]


def test_a_name_of_blanks_is_shown_in_quotes(interpreter: Interpreter) -> None:
    def program():
        import time

        import marey

        marey.start("out")
        with marey.profile_section("   "):
            time.sleep(0.05)

    interpreter.result(program)
    assert re.search(r'^  "   " +[0-9.]+ ms', _first_screen(interpreter), re.MULTILINE)


def test_latent_frames_are_not_divided_by_what_another_generation_decoded(interpreter: Interpreter) -> None:
    """
    preview   |4 x 20 ms|                 12 latent frames, which nobody decodes
    film                 |vae 0.3 s|      of latents from elsewhere
    """

    def program():
        import time

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False)
        with profiler.session("preview"):
            for step in range(4):
                time.sleep(0.02)
                profiler.record_diffusion_step(step, 1 - step / 4, 12, 20.0)
        with profiler.session("film"):
            with marey.profile_section("vae_decode"):
                time.sleep(0.3)

    interpreter.result(program)
    report = reported(interpreter)
    of_steps, of_preview = report["diffusion_analysis"]["frame_rates"]
    assert of_steps["time_ms"] == pytest.approx(80, abs=0.5)
    assert of_preview["time_ms"] == pytest.approx(1e3 * report["sessions"][0]["duration"])
