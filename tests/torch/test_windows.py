"""Windows of torch's profiler: which steps are recorded, where they are written, and what ends them."""

from __future__ import annotations

import asyncio
import gc
import threading
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.profiler import ProfilerActivity, profile
from traces import marks_of, names_in, operations_of

import marey
import marey.torch
from marey.torch import ProfilerContext, PyTorchProfiler
from patience import eventually

pytestmark = pytest.mark.usefixtures("recording")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where windows write."""
    made = tmp_path / "traces"
    made.mkdir()
    return made


def step(window: ProfilerContext) -> None:
    """One turn of a loop, with an operation that a trace shows."""
    torch.ones(2).mul(3)
    window.step()


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        # steps    0 1 2 3 4 5 6 7        w wait, u warm-up, # recorded
        ({}, [[1, 2, 3]]),  # u # # #
        ({"warmup": 2, "active": 1}, [[2]]),  # u u #
        ({"wait": 2, "warmup": 1, "active": 1}, [[3]]),  # w w u #
        ({"wait": 1, "warmup": 0, "active": 2}, [[1, 2]]),  # w # #
        ({"warmup": 0, "active": 2}, [[0, 1]]),  # # #
        ({"warmup": 1, "active": 1, "repeat": 2}, [[1], [3]]),  # u # u #
        ({"wait": 1, "warmup": 1, "active": 1, "repeat": 2}, [[2], [5]]),  # w u # w u #
        ({"wait": 1, "warmup": 0, "active": 1, "repeat": 3}, [[1], [3], [5]]),  # w # w # w #
    ],
)
def test_a_schedule_records_the_steps_that_torchs_own_would(
    folder: Path, schedule: dict[str, int], expected: list[list[int]]
) -> None:
    with ProfilerContext(output_dir=folder, profile_name="s", activities=["CPU"], **schedule) as window:
        for _ in range(8):
            step(window)
    assert window.wait()
    files = sorted((folder / name for name in names_in(folder)), key=marks_of)
    assert [marks_of(path) for path in files] == expected
    assert window.trace_path in files


@pytest.mark.parametrize(("n_steps", "expected"), [(0, [0]), (1, [1]), (2, [1, 2]), (3, [1, 2, 3])])
def test_a_block_that_ends_early_keeps_what_was_recorded_after_the_warm_up(
    folder: Path, n_steps: int, expected: list[int]
) -> None:
    """What comes after the last step has the number of the next one, as torch marks it."""
    with ProfilerContext(output_dir=folder, activities=["CPU"], profile_name="early") as window:
        for _ in range(n_steps):
            step(window)
        torch.ones(2).sub(1)
    window.wait()
    assert marks_of(window.trace_path) == expected
    assert "aten::sub" in operations_of(window.trace_path)


def test_what_came_before_the_first_step_is_thrown_away_with_the_warm_up(folder: Path) -> None:
    with ProfilerContext(output_dir=folder, activities=["CPU"]) as window:
        torch.ones(2).cos()
        step(window)
        torch.ones(2).sin()
        step(window)
    window.wait()
    found = operations_of(window.trace_path)
    assert "aten::sin" in found
    assert "aten::cos" not in found


def test_waiting_in_vain_writes_nothing(folder: Path) -> None:
    with ProfilerContext(output_dir=folder, wait=3, activities=["CPU"]) as window:
        step(window)
    assert not window.wait()
    assert window.trace_path is not None
    assert names_in(folder) == []


def test_every_name_is_taken_once(folder: Path) -> None:
    (folder / "x.trace.json.gz").write_text("somebody else's")
    for _ in range(2):
        with ProfilerContext(output_dir=folder, profile_name="x", activities=["CPU"]) as window:
            torch.ones(2)
        window.wait()
    assert names_in(folder) == ["x-2.trace.json.gz", "x-3.trace.json.gz", "x.trace.json.gz"]
    assert (folder / "x.trace.json.gz").read_text() == "somebody else's"


def test_a_name_is_no_way_out_of_the_folder(folder: Path) -> None:
    with ProfilerContext(output_dir=folder / "in", profile_name="../../\x1b[31mx\n", activities=["CPU"]) as window:
        torch.ones(2)
    window.wait()
    assert window.trace_path.parent == folder / "in"
    assert names_in(folder) == ["in"]
    assert window.trace_path.name.isprintable()


def test_rank_is_in_the_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "4")
    with ProfilerContext(output_dir=folder, profile_name="tp", activities=["CPU", "MEM"]) as window:
        torch.ones(2)
    window.wait()
    assert window.trace_path.name == "tp-rank3.trace.json.gz"
    assert (window.memory_snapshot_path is None) != torch.cuda.is_available()


@pytest.mark.skipif(torch.cuda.is_available(), reason="what it says is of a machine without a GPU")
@pytest.mark.parametrize(
    "activities", [["CPU"], ["GPU"], ["MEM"], ["CPU", "GPU"], ["cpu", "mem"], ["GPU", "MEM"], None]
)
def test_no_combination_of_activities_raises_without_a_gpu(folder: Path, activities: list[str] | None) -> None:
    with ProfilerContext(output_dir=folder, profile_name="a", activities=activities) as window:
        torch.ones(2)
        assert window.trace_path is not None
        assert window.output_dir == folder
    has_cpu = activities is None or "CPU" in [name.upper() for name in activities]
    assert window.wait() == has_cpu
    assert window.trace_path.exists() == has_cpu


def test_an_exception_goes_through_and_the_trace_is_written(folder: Path) -> None:
    with pytest.raises(KeyError, match="mine"):  # noqa: PT012  # the block is what is tested
        with ProfilerContext(output_dir=folder, activities=["CPU"]) as window:
            torch.ones(2)
            raise KeyError("mine")
    window.wait()
    assert marks_of(window.trace_path) == [0]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_abort_goes_through_and_the_trace_is_written(folder: Path, error: type[BaseException]) -> None:
    with pytest.raises(error):  # noqa: PT012  # the block is what is tested
        with ProfilerContext(output_dir=folder, activities=["CPU"]) as window:
            torch.ones(2)
            raise error
    window.wait()
    assert marks_of(window.trace_path) == [0]
    assert not torch.autograd._profiler_enabled()


def test_another_thread_may_neither_step_nor_stop(folder: Path) -> None:
    window = ProfilerContext(output_dir=folder, activities=["CPU"], warmup=0, active=9).__enter__()
    for call in (window.step, window.__exit__):
        other = threading.Thread(target=call)
        other.start()
        other.join()
        # A stop that another thread asks for is made by this one, between two instructions.
    for _ in range(1000):
        torch.ones(2)
    assert not torch.autograd._profiler_enabled()
    window.wait()
    assert marks_of(window.trace_path) == [0]


def test_a_window_of_a_thread_is_stopped_by_that_thread(folder: Path) -> None:
    """FramePack's jobs run in threads of their own."""

    def job() -> None:
        for _ in range(2):
            with ProfilerContext(output_dir=folder, activities=["CPU"], profile_name="job") as window:
                for _ in range(5):
                    step(window)
            window.wait()

    thread = threading.Thread(target=job)
    thread.start()
    thread.join()
    assert [marks_of(folder / name) for name in names_in(folder)] == [[1, 2, 3], [1, 2, 3]]


def test_a_users_profiler_that_starts_meanwhile_is_given_way(folder: Path) -> None:
    with ProfilerContext(output_dir=folder, activities=["CPU"]) as window:
        torch.ones(2).cos()
        with profile(activities=[ProfilerActivity.CPU]) as theirs:
            torch.ones(2).sin()
    window.wait()
    assert "aten::cos" in operations_of(window.trace_path)
    assert "aten::sin" in {row.key for row in theirs.key_averages()}


def test_a_users_profiler_that_runs_is_left_alone(folder: Path) -> None:
    with profile(activities=[ProfilerActivity.CPU]) as theirs:
        with ProfilerContext(output_dir=folder, activities=["CPU"]) as window:
            step(window)
        torch.ones(2).sin()
    assert not window.wait()
    assert names_in(folder) == []
    assert {"aten::mul", "aten::sin"} <= {row.key for row in theirs.key_averages()}


def test_torchs_classes_are_as_before(folder: Path) -> None:
    before = dict(vars(torch.autograd.profiler.profile))
    with ProfilerContext(output_dir=folder, activities=["CPU"]):
        assert dict(vars(torch.autograd.profiler.profile)) != before
    assert dict(vars(torch.autograd.profiler.profile)) == before


def test_only_one_window_is_open_at_a_time(folder: Path) -> None:
    with ProfilerContext(output_dir=folder, activities=["CPU"], profile_name="outer") as outer:
        with ProfilerContext(output_dir=folder, activities=["CPU"], profile_name="inner") as inner:
            torch.ones(2)
    assert outer.wait()
    assert not inner.wait()
    assert names_in(folder) == ["outer.trace.json.gz"]
    assert (folder / "outer.pt.trace.json.gz").stat().st_nlink == 2


def has_ended() -> bool:
    """Whether torch's profiler is at work no longer; does some work itself."""
    torch.ones(2)
    return not torch.autograd._profiler_enabled()


def test_seconds_end_a_window_without_steps(folder: Path) -> None:
    with ProfilerContext(output_dir=folder, activities=["CPU"], max_seconds=0.05) as window:
        eventually(has_ended)
    window.wait()
    assert marks_of(window.trace_path) == [0]


def test_growth_of_the_process_ends_a_window(folder: Path) -> None:
    kept = []
    with ProfilerContext(output_dir=folder, activities=["CPU"], max_host_bytes=64 << 20) as window:
        # Four times the limit: how soon that is seen is up to the machine.
        kept += [torch.ones(1 << 20) for _ in range(64)]
        eventually(has_ended)
    window.wait()
    assert marks_of(window.trace_path) == [0]


def test_a_file_beyond_its_limit_is_not_written(folder: Path) -> None:
    with ProfilerContext(output_dir=folder, activities=["CPU"], max_file_bytes=1000) as window:
        for _ in range(100):
            torch.ones(2)
    assert not window.wait()
    assert names_in(folder) == []


def test_pytorch_profiler_writes_what_the_guide_names(folder: Path) -> None:
    profiler = PyTorchProfiler(output_dir=folder / "results", with_stack=False)
    with profiler.profile("my_trace"):
        torch.ones(2).cos()
    profiler.wait()
    profiler.start()
    torch.ones(2).sin()
    assert profiler.stop() == folder / "results" / "trace.json"
    profiler.wait()
    assert profiler.stop() is None
    assert names_in(folder / "results") == ["my_trace.json", "trace.json"]
    assert "aten::cos" in operations_of(folder / "results" / "my_trace.json")
    assert "aten::sin" in operations_of(folder / "results" / "trace.json")


def test_iterations_and_decorated_steps_drive_a_window(folder: Path) -> None:
    from marey.decorators import profile_diffusion_step

    @profile_diffusion_step()
    def denoise() -> None:
        torch.ones(2)

    turns = marey.IterationProfiler("denoising_step")

    def by_iterations() -> None:
        with turns.iteration():
            denoise()  # the innermost is the step

    def by_calls() -> None:
        turns.start_iteration()
        turns.end_iteration()

    for take in (by_iterations, by_calls, denoise):
        with ProfilerContext(output_dir=folder, activities=["CPU"]) as window:
            for _ in range(6):
                take()
        window.wait()
        assert marks_of(window.trace_path) == [1, 2, 3]
    assert turns.get_stats()["count"] == 12


def test_steps_that_the_program_tells_count_alone(folder: Path) -> None:
    turns = marey.IterationProfiler("denoising_step")
    with ProfilerContext(output_dir=folder, activities=["CPU"]) as window:
        for _ in range(5):
            with turns.iteration():
                torch.ones(2)
            window.step()
    window.wait()
    assert marks_of(window.trace_path) == [1, 2, 3]


def test_each_kind_of_function_is_recorded_while_it_runs(folder: Path) -> None:
    traced = marey.torch.profile_function(output_dir=folder, activities=["CPU"])

    @traced
    def plain(x: torch.Tensor) -> torch.Tensor:
        """Cosine."""
        return x.cos()

    @traced
    async def coroutine(x: torch.Tensor) -> torch.Tensor:
        await asyncio.sleep(0)
        return x.sin()

    @traced
    def generator(x: torch.Tensor) -> Any:
        yield x.exp()
        yield x.log()

    @traced
    async def stream(x: torch.Tensor) -> Any:
        yield x.tan()

    async def take() -> list[torch.Tensor]:
        return [item async for item in stream(torch.ones(2))]

    assert plain.__doc__ == "Cosine."
    assert torch.equal(plain(torch.ones(2)), torch.ones(2).cos())
    plain(torch.ones(2))
    asyncio.run(coroutine(torch.ones(2)))
    assert len(list(generator(torch.ones(2)))) == 2
    half = generator(torch.ones(2))
    next(half)
    half.close()
    asyncio.run(take())
    assert not torch.autograd._profiler_enabled()
    for thread in threading.enumerate():
        if thread.name == "marey-export":
            thread.join()
    found = {path.name.split(".")[0]: operations_of(path) for path in folder.iterdir()}
    assert sorted(found) == ["coroutine", "generator", "generator-2", "plain", "plain-2", "stream"]
    assert "aten::cos" in found["plain-2"]
    assert "aten::sin" in found["coroutine"]
    assert {"aten::exp", "aten::log"} <= found["generator"]
    assert "aten::log" not in found["generator-2"]
    assert "aten::tan" in found["stream"]


def test_with_models_that_are_moved_no_shapes_are_recorded(folder: Path) -> None:
    hooks = pytest.importorskip("accelerate.hooks")

    class Holder:
        """A program's own object: nobody looks for pipelines by name."""

        def __init__(self) -> None:
            self.model = torch.nn.Linear(2, 2)

    holder = Holder()
    stays = hooks.AlignDevicesHook(execution_device="cpu")  # a model that is where it computes
    with ProfilerContext(output_dir=folder, activities=["CPU"]) as window:
        assert window.profiler.record_shapes is True
    hooks.add_hook_to_module(holder.model, hooks.CpuOffload(execution_device="cpu"))
    for force, expected in ((False, False), (True, True)):
        with ProfilerContext(output_dir=folder, activities=["CPU"], force=force) as window:
            holder.model(torch.ones(1, 2))
            assert window.profiler.record_shapes is expected
    hooks.remove_hook_from_module(holder.model)
    gc.collect()
    with ProfilerContext(output_dir=folder, activities=["CPU"]) as window:
        assert window.profiler.record_shapes is True
    del stays


def test_a_program_that_goes_elsewhere_finds_its_trace(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder)
    with ProfilerContext(output_dir="here", profile_name="c", activities=["CPU"]) as window:
        monkeypatch.chdir(folder / "elsewhere")
        torch.ones(2)
    window.wait()
    assert window.trace_path == folder / "here" / "c.trace.json.gz"
    assert marks_of(window.trace_path) == [0]
    assert names_in(folder / "elsewhere") == []


@pytest.mark.parametrize("how", ["chosen", "environment"])
def test_a_default_folder_is_from_where_the_window_opens(
    folder: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.chdir(folder)
    if how == "chosen":
        marey.torch.set_profiler_output_dir("mine")
    else:
        monkeypatch.setenv("CACHE_DIT_TORCH_PROFILER_DIR", "mine")
    try:
        with ProfilerContext(profile_name="c", activities=["CPU"]) as window:
            monkeypatch.chdir(folder.parent)
    finally:
        marey.torch.set_profiler_output_dir(None)
    window.wait()
    assert names_in(folder / "mine") == ["c.trace.json.gz"]


def test_seconds_count_from_when_recording_begins(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``|-- torch starts, longer than the limit --|-- recorded --|``; the watch looks on while torch starts."""
    from marey.windows import endings

    looked = threading.Event()
    looks = iter(range(1_000_000))

    def resident() -> None:
        if next(looks) >= 8:
            looked.set()

    start = profile.start

    def slow(profiler: Any) -> None:
        assert looked.wait(60)
        start(profiler)

    monkeypatch.setattr(endings._core, "resident_bytes", resident)
    monkeypatch.setattr(profile, "start", slow)
    with ProfilerContext(output_dir=folder, activities=["CPU"], max_seconds=0.01) as window:
        assert window._window is not None
        assert window._window._asked is None, "the limit was passed before anything was recorded"
        eventually(has_ended)
    window.wait()
    assert marks_of(window.trace_path) == [0]
