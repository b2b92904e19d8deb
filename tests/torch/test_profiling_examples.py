"""The examples of several ranks: their results do not depend on how many there are, and a slow rank is seen."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_ranks import collectives, environment, ranks_in, run

EXAMPLES = Path(__file__).parents[2] / "examples" / "profiling"


def example(folder: Path, ranks: int, name: str, *flags: str) -> str:
    """What an example prints in so many ranks; recorded below ``marey run``."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    return run(folder, [*command, str(EXAMPLES / f"{name}.py"), *flags])


@pytest.mark.parametrize(
    ("name", "flags", "counts"),
    [
        # 3 steps of 4 layers, a sum each.
        ("tensor_parallel", [], {"denoising_step": 3, "linear": 12, "all_reduce": 12, "barrier": 1}),
        # 3 steps: keys and values are gathered; the sum at the end.
        ("context_parallel", [], {"denoising_step": 3, "attention": 3, "all_gather": 6, "all_reduce": 1}),
        # 3 steps: three exchanges there and one back.
        ("context_parallel", ["--how=all_to_all"], {"denoising_step": 3, "attention": 3, "all_to_all_single": 12}),
    ],
)
def test_the_loops_make_the_same_on_one_rank_and_on_four(
    tmp_path: Path, name: str, flags: list[str], counts: dict[str, int]
) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "four").mkdir()
    alone = example(tmp_path / "one", 1, name, "--steps=3", *flags)
    assert float(example(tmp_path / "four", 4, name, "--steps=3", *flags)) == pytest.approx(float(alone), rel=1e-4)
    found = ranks_in(tmp_path / "four")
    assert sorted(found) == [0, 1, 2, 3]
    for report in found.values():
        assert counts.items() <= collectives(report).items()


def test_the_slow_rank_alone_has_more_work(tmp_path: Path) -> None:
    example(tmp_path, 2, "tensor_parallel", "--steps=3", "--slow-rank=1", "--slow-ms=1")
    work = {rank: collectives(report).get("more_work") for rank, report in ranks_in(tmp_path).items()}
    assert work == {0: None, 1: 3}


def test_the_causal_loop_makes_one_clip_on_two_ranks(tmp_path: Path) -> None:
    """3 blocks of 4 steps and a clean pass: a mean of predictions each."""
    said = example(
        tmp_path, 2, "self_forcing", "--output_folder=videos", f"--config_path={EXAMPLES}/configs/model.yaml"
    )
    assert said == "33 frames in videos\n"
    assert (tmp_path / "videos" / "frames.pt").is_file()
    for report in ranks_in(tmp_path).values():
        found = collectives(report)
        counts = [found[name] for name in ("block", "scheduler_step", "kv_cache_commit", "all_reduce")]
        assert counts == [3, 12, 3, 15]


def test_the_script_reports_on_each_rank_and_says_the_whole_once(tmp_path: Path) -> None:
    settings = {"RANKS": "2", "OUT": str(tmp_path / "out"), "PYTHON": sys.executable, "OMP_NUM_THREADS": "1"}
    script = ["bash", str(EXAMPLES / "run_distributed_self_forcing.sh")]
    done = subprocess.run(script, env=environment(**settings), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("=== Aggregation Summary ===\nTotal reports processed: 2\n") == 1
    job = tmp_path / "out" / "profiling_reports" / "latest"
    for folder in (job / "rank0", job / "rank1", job, job.parent):
        assert (folder / "report.html").is_file()
        assert (folder / "profiling_report.json").is_file()
    for name in ("profiling_report.json", "rank0/profiling_report.json"):
        report = json.loads((job / name).read_text())
        has_every_section_of_the_guides(report, delivers=True)
        has_its_session_and_stages(report, rank=0)
    session = json.loads((job / "sessions" / "video_generation" / "profiling_report.json").read_text())
    has_every_section_of_the_guides(session, delivers=True)
    other = json.loads((job / "rank1" / "profiling_report.json").read_text())
    has_every_section_of_the_guides(other, delivers=False)
    has_its_session_and_stages(other, rank=1)
    together = json.loads((tmp_path / "out" / "aggregated_report.json").read_text())
    assert together["rank_count"] == 2
    (whole,) = together["jobs"]
    # 12 steps and 3 blocks of each rank; they make one clip together.
    assert (whole["steps"]["count"], whole["blocks"]["count"], whole["work"]["pixel_frames_sum"]) == (24, 6, 33)
    assert (whole["steps"]["out_of_step"], whole["blocks"]["out_of_step"]) == ([], [])
    assert (tmp_path / "out" / "aggregated_report.html").is_file()


def has_its_session_and_stages(report: dict[str, Any], rank: int) -> None:
    """A pass is each of 12 steps and 3 clean ones; the first block is decoded in 3 pieces, as the other two."""
    (session,) = report["sessions"]
    assert (session["name"], session["outcome"]) == ("video_generation", "done")
    assert session["tags"] == {"model": "self_forcing", "experiment": "ranks", "rank": rank}
    called = {name: stage["call_count"] for name, stage in report["stage_analysis"]["stages"].items()}
    counts = {"model_initialization": 1, "transformer": 15, "scheduler_step": 12, "kv_cache_commit": 3}
    assert counts.items() <= called.items()
    assert (called["vae_decode"], called["all_reduce"]) == (3, 15)
    assert report["run"]["rank"] == rank
    assert (report["gpu_metrics"] is None) == any(
        lack["what"] == "nvml" for lack in report["data_quality"]["unavailable"]
    )


def has_every_section_of_the_guides(report: dict[str, Any], delivers: bool) -> None:
    """Of 3 blocks of 3 latent frames, 4 steps each: a first latent frame is one frame of pixels, each other one four.

    block     |---- 0 ----| |---- 1 ----| |---- 2 ----|
    step       |0||1||2||3|  |0||1||2||3|  |0||1||2||3|
    frames                 9            12            12
    kv_cache  miss          hit           hit
    """
    sections = "session_info summary cpu_metrics stage_analysis events recommendations"
    assert [name for name in sections.split() if not report[name]] == []
    steps, blocks = report["diffusion_analysis"], report["block_analysis"]
    assert (steps["total_steps"], steps["total_loops"], steps["total_frames"]) == (12, 3, 9)
    assert (blocks["total_blocks"], blocks["total_frames"]) == (3, 9)
    assert steps["fps"] == pytest.approx(9 / steps["total_computation_time_ms"] * 1000)
    assert blocks["fps"] == pytest.approx(9 / blocks["total_computation_time_ms"] * 1000)
    assert blocks["bps"] == pytest.approx(3 / blocks["total_computation_time_ms"] * 1000)
    assert (steps["max_timestep"], len({step["timestep"] for step in steps["steps"]})) == (1000, 4)
    assert blocks["peak_memory_usage_mb"] > 0
    # In a second of blocks without and with decoding, of the generation, and from the first delivery to the last.
    rates = [(rate["frames"], rate["count"]) for rate in steps["frame_rates"]]
    delivered = [("pixel", 33)] * 3 + [("pixel", 12 + 12)]
    assert rates == [("latent", 9)] * 3 + (delivered if delivers else [])
    assert all(rate["fps"] > 0 for rate in steps["frame_rates"])
    assert steps["clean_passes"]["calls"]["count"] == 3
    streamed = report["streaming_analysis"]
    assert (streamed is not None, steps["delivery"] is not None) == (delivers, delivers)
    if delivers:
        assert (streamed["total_streaming_events"], streamed["total_frames_streamed"]) == (3, 33)
        assert [event["batch_size"] for event in streamed["events"]] == [9, 12, 12]
        # A viewer of 16 frames a second waits for the second and the third block.
        assert steps["delivery"]["deadlines_met"] + steps["delivery"]["deadlines_missed"] == 2
    models = report["model_analysis"]
    assert models["total_parameters"] == sum(model["parameters_count"] for model in models["models"].values())
    assert sorted(models["models"]) == ["transformer", "vae"]
    assert all(model["parameters_count"] > 0 for model in models["models"].values())
    lookups = report["cache_analysis"]["caches"]["kv_cache"]
    assert (lookups["hits"], lookups["misses"], lookups["peak_held_bytes"]) == (2, 1, 16 * 3 * 4 * 4 * 4)
    assert [event["name"] for event in report["events"]] == ["generation_completed"]
