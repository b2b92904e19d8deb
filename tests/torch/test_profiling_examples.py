"""The examples of several ranks: their results do not depend on how many there are, and a slow rank is seen."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

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
    together = json.loads((tmp_path / "out" / "aggregated_report.json").read_text())
    assert together["rank_count"] == 2
    assert (tmp_path / "out" / "aggregated_report.html").is_file()
