"""The guide to torch's profiler: its examples, flags and files, with a real pipeline on the CPU."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from traces import marks_of, names_in, operations_of

import marey
from interpreter import environment
from marey.cli_args import add_profiling_args, get_args
from marey.torch import (
    ProfilerContext,
    create_profiler_context,
    create_profiler_from_args,
    get_profiler_output_dir,
    profile_function,
    set_profiler_output_dir,
)

pytestmark = pytest.mark.usefixtures("recording")


@pytest.fixture(autouse=True)
def no_folder_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test says where traces go."""
    monkeypatch.delenv("CACHE_DIT_TORCH_PROFILER_DIR", raising=False)


@pytest.fixture(scope="module")
def pipe() -> Any:
    """A Flux pipeline that nobody instrumented."""
    from tiny_flux import TinyFlux

    pipe = TinyFlux("tiny", seed=0).pipe
    pipe.set_progress_bar_config(disable=True)
    return pipe


def generate(pipe: Any, steps: int) -> Any:
    """One picture."""
    return pipe(
        "a red fox",
        height=32,
        width=32,
        num_inference_steps=steps,
        max_sequence_length=32,
        generator=torch.Generator("cpu").manual_seed(0),
        output_type="np",
    ).images[0]


def test_four_steps_are_one_for_warm_up_and_three_that_are_recorded(pipe: Any, tmp_path: Path) -> None:
    """``--profile`` without ``--steps`` asks for exactly as many."""
    args = get_args(["--profile", "--profile-dir", str(tmp_path / "profiles")])
    assert args.steps == 4
    scheduler = type(pipe.scheduler)
    before = dict(vars(scheduler))
    profiler = create_profiler_from_args(args, profile_name="flux_inference")
    with profiler:
        image = generate(pipe, args.steps)
        assert (
            f"{profiler.output_dir}/{profiler.trace_path.name}" == f"{tmp_path}/profiles/flux_inference.trace.json.gz"
        )
    assert dict(vars(scheduler)) == before
    assert profiler.wait()
    assert marks_of(profiler.trace_path) == [1, 2, 3]
    assert (image == generate(pipe, args.steps)).all()


def test_the_guides_own_three_steps_leave_two_after_the_warm_up(pipe: Any, tmp_path: Path) -> None:
    """What comes after the last step, the decoder, is recorded under the number of the step that did not come."""
    with ProfilerContext(output_dir=tmp_path / "p", profile_name="three") as profiler:
        generate(pipe, 3)
    profiler.wait()
    assert marks_of(profiler.trace_path) == [1, 2, 3]


def test_more_steps_are_recorded_no_longer_than_the_schedule(pipe: Any, tmp_path: Path) -> None:
    with ProfilerContext(output_dir=tmp_path / "p", profile_name="many") as profiler:
        generate(pipe, 8)
    profiler.wait()
    assert marks_of(profiler.trace_path) == [1, 2, 3]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], {"profile": False, "profile_name": None, "profile_dir": None, "steps": None, "track_memory": False}),
        ([], {"profile_activities": ["CPU", "GPU"], "profile_with_stack": False, "profile_record_shapes": True}),
        ([], {"profile_wait": 0, "profile_warmup": 1, "profile_active": 3, "profile_repeat": 1}),
        (["--profile"], {"profile": True, "steps": 4}),
        (["--profile", "--steps", "28"], {"steps": 28}),
        (["--profile", "--profile_wait=2", "--profile-active=5", "--profile-repeat=2"], {"steps": 16}),
        (["--profile-activities", "CPU", "GPU", "MEM"], {"profile_activities": ["CPU", "GPU", "MEM"]}),
        (["--profile-activities", "mem"], {"profile_activities": ["MEM"]}),
        (["--profile-with-stack", "--no-profile-record-shapes"], {"profile_with_stack": True}),
        (["--no-profile_record_shapes"], {"profile_record_shapes": False}),
        (["--track-memory"], {"track_memory": True}),
        (["--mem"], {"track_memory": True}),
        (["--profile_name", "flux_test", "--profile-dir", "d"], {"profile_name": "flux_test", "profile_dir": "d"}),
    ],
)
def test_flags_have_the_documented_names_and_defaults(arguments: list[str], expected: dict[str, object]) -> None:
    assert expected.items() <= vars(get_args(arguments)).items()


def test_flags_reach_the_window(tmp_path: Path) -> None:
    parser = add_profiling_args(argparse.ArgumentParser())
    flags = "--profile --profile-name n --profile-activities CPU --profile-with-stack --no-profile-record-shapes"
    args = parser.parse_args(
        [*flags.split(), "--profile-warmup=0", "--profile-active=1", f"--profile-dir={tmp_path / 'd'}"]
    )
    with create_profiler_from_args(args) as window:
        assert window.profiler.with_stack
        assert not window.profiler.record_shapes
        torch.ones(2)
        window.step()
        assert not torch.autograd._profiler_enabled()
    window.wait()
    assert names_in(tmp_path / "d") == ["n.trace.json.gz"]


def test_without_profile_nothing_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with create_profiler_from_args(get_args([])) as window:
        assert (window.trace_path, window.output_dir, window.profiler) == (None, None, None)
        window.step()
    assert window.wait()
    assert create_profiler_context().enabled is False
    assert not (tmp_path / "profiling_results").exists()


def test_iterations_of_the_first_guide_write_its_trace(pipe: Any, tmp_path: Path) -> None:
    """One step for warm-up, then as many as were asked for, in the uncompressed file that the guide opens."""
    args = get_args(
        ["--enable-profiling", "--profiling-iterations", "3", "--profiling-output-dir", str(tmp_path / "my")]
    )
    with create_profiler_from_args(args) as window:
        generate(pipe, 6)
    window.wait()
    assert names_in(tmp_path / "my") == ["trace.json"]
    assert marks_of(tmp_path / "my" / "trace.json") == [1, 2, 3]


def test_folder_is_the_arguments_then_the_chosen_then_the_environments_then_the_recordings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def folder(**chosen: object) -> Path:
        with ProfilerContext(activities=["CPU"], profile_name="f", **chosen) as window:
            torch.ones(2)
        window.wait()
        assert window.trace_path.exists()
        return window.output_dir

    job = Path(marey._core.capture_path()).parent
    assert folder() == get_profiler_output_dir() == job
    monkeypatch.setenv("CACHE_DIT_TORCH_PROFILER_DIR", str(tmp_path / "environment"))
    assert folder() == get_profiler_output_dir() == tmp_path / "environment"
    set_profiler_output_dir(tmp_path / "chosen")
    try:
        assert folder() == get_profiler_output_dir() == tmp_path / "chosen"
        assert folder(output_dir=tmp_path / "argument") == tmp_path / "argument"
    finally:
        set_profiler_output_dir(None)


def test_direct_use_without_steps_records_the_block(tmp_path: Path) -> None:
    model = torch.nn.Linear(4, 4)
    with ProfilerContext(
        enabled=True,
        activities=["CPU", "GPU"],
        output_dir=tmp_path / "profiles",
        profile_name="my_inference",
        with_stack=False,
        record_shapes=True,
    ) as window:
        model(torch.randn(2, 4))
    window.wait()
    assert "aten::linear" in operations_of(tmp_path / "profiles" / "my_inference.trace.json.gz")


def test_decorator_names_its_traces_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CACHE_DIT_TORCH_PROFILER_DIR", str(tmp_path / "d"))

    @profile_function(enabled=True, profile_name="forward_pass", activities=["CPU"])
    def forward() -> torch.Tensor:
        return torch.ones(2) + 1

    assert [forward().tolist() for _ in range(2)] == [[2.0, 2.0]] * 2
    assert names_in_when_complete(tmp_path / "d") == ["forward_pass-2.trace.json.gz", "forward_pass.trace.json.gz"]


def names_in_when_complete(folder: Path) -> list[str]:
    """Names of the files when all exports have ended."""
    import threading

    for thread in threading.enumerate():
        if thread.name == "marey-export":
            thread.join()
    return names_in(folder)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"activities": ["CPU", "GPX"]}, "did you mean GPU"),
        ({"activities": []}, "CPU, GPU, MEM"),
        ({"active": 0}, "active must be a whole number of at least 1"),
        ({"wait": -1}, "wait"),
        ({"warmup": 1.5}, "warmup"),
        ({"max_seconds": 0}, "max_seconds"),
    ],
)
def test_what_makes_no_sense_is_an_error_before_the_pipeline_runs(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(marey.ConfigError, match=words):
        ProfilerContext(**wrong)


def test_two_ranks_write_a_trace_each(tmp_path: Path) -> None:
    """Under ``torchrun`` each rank has its number in the name."""
    program = tmp_path / "ranks.py"
    program.write_text(
        "import torch, torch.distributed as dist\n"
        "from marey.cli_args import get_args\n"
        "from marey.torch import create_profiler_from_args\n"
        "dist.init_process_group('gloo')\n"
        "with create_profiler_from_args(get_args(), profile_name='flux_tp'):\n"
        "    dist.all_reduce(torch.ones(2))\n"
        "dist.destroy_process_group()\n"
    )
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", str(program)]
    flags = ["--profile", "--profile-activities", "CPU", "--profile-dir", str(tmp_path / "p")]
    variables = environment()
    done = subprocess.run([*command, *flags], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert names_in(tmp_path / "p") == ["flux_tp-rank0.trace.json.gz", "flux_tp-rank1.trace.json.gz"]
    for path in (tmp_path / "p").iterdir():
        assert any("all_reduce" in name or "allreduce" in name for name in operations_of(path))
