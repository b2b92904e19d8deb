"""Chrome JSON, and who reads it: Python's own strict reader, HolisticTraceAnalysis, TensorBoard's torch plugin."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

import pytest

from drawn_traces import Drawn

OF_TORCH = Path(__file__).parents[2] / "crates/marey-analysis/tests/data/operators/operators_tiny_cpu.trace.json.gz"
RUNS = ["known", "job", "video", "hostile", "empty", "extremes"]


def strict(path: Path) -> dict:
    """The object, with exact numbers; NaN and the like, or a name twice in an object, are errors."""

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        assert len({name for name, _ in pairs}) == len(pairs)
        return dict(pairs)

    text = gzip.decompress(path.read_bytes()).decode("utf-8")
    return json.loads(text, parse_constant=refuse, parse_float=Decimal, object_pairs_hook=once)


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("trace_format", ["chrome", "tensorboard"])
def test_any_run_is_strict_json(drawn: Drawn, trace_format: str, run: str) -> None:
    assert strict(drawn(trace_format, run, "t.json.gz"))


@pytest.mark.parametrize("run", RUNS)
def test_slices_of_one_thread_nest(drawn: Drawn, run: str) -> None:
    by_thread: dict[tuple[int, int], list[tuple[Decimal, Decimal]]] = defaultdict(list)
    for event in strict(drawn("chrome", run, "t.json.gz"))["traceEvents"]:
        if event["ph"] == "X":
            by_thread[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for slices in by_thread.values():
        open_until: list[Decimal] = []
        for begin, end in sorted(slices, key=lambda s: (s[0], -s[1])):
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            assert not open_until or end <= open_until[-1]
            open_until.append(end)


def test_names_of_tracks_come_in_their_order(drawn: Drawn) -> None:
    events = strict(drawn("chrome", "known", "t.json.gz"))["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    order = {(e["pid"], e["tid"]): e["args"]["sort_index"] for e in events if e["name"] == "thread_sort_index"}
    assert [names[at] for at in sorted(names, key=lambda at: order[at])] == [
        "sessions",
        "profiler windows",
        "main",
        "main: tasks 1",
        "main: tasks 2",
        "decoder",
        "cache teacache",
        "GPU 0 stream 7",
        "GPU 0 stream 20",
    ]


def test_holistic_trace_analysis_answers_from_it(drawn: Drawn) -> None:
    from hta.trace_analysis import TraceAnalysis

    analysis = TraceAnalysis(trace_dir=str(drawn("chrome", "known", "trace.json.gz").parent))
    assert len(analysis.t.get_trace(0)) == 13
    # GPU: 130 to 230, 240 to 320, and 305 to 315 on another stream: busy for 180 of 190 µs.
    breakdown = analysis.get_temporal_breakdown(visualize=False).iloc[0]
    assert breakdown["idle_time(us)"] == 10
    assert breakdown["compute_time(us)"] == 180
    work = analysis.get_gpu_user_annotation_breakdown(visualize=False)
    assert dict(zip(work["name"], work["sum (us)"], strict=True)) == {"decode": 10, "denoising_step": 180}


@pytest.mark.parametrize("run", ["video", "hostile", "extremes"])
def test_holistic_trace_analysis_loads_any_run(drawn: Drawn, run: str) -> None:
    from hta.trace_analysis import TraceAnalysis

    path = drawn("chrome", run, "trace.json.gz")
    slices = [event for event in strict(path)["traceEvents"] if event["ph"] == "X"]
    loaded = TraceAnalysis(trace_dir=str(path.parent)).t.get_trace(0)
    assert 0 < len(loaded) <= len(slices)


@pytest.mark.parametrize(
    ("run", "n_steps"), [("known", 2), ("video", 28), ("hostile", 1), ("empty", 1), ("extremes", 1)]
)
def test_tensorboards_plugin_loads_it_and_finds_the_steps(drawn: Drawn, run: str, n_steps: int) -> None:
    from torch_tb_profiler.profiler.loader import RunLoader

    path = drawn("tensorboard", run, "rank0-4711.1795000000000.pt.trace.json.gz")
    from torch_tb_profiler.io.cache import Cache

    loaded = RunLoader(run, str(path.parent), Cache()).load()
    assert loaded.workers == ["rank0-4711"]
    (profile,) = loaded.profiles.values()
    assert profile.views
    from torch_tb_profiler.profiler.data import RunProfileData

    data = RunProfileData.parse("rank0-4711", "1795000000000", str(path), str(path.parent))
    assert data.steps_names == [str(n) for n in range(n_steps)]
    assert data.distributed_info["rank"] == 0


def test_tensorboards_plugin_looks_for_the_second_name_of_a_windows_trace(tmp_path: Path) -> None:
    from torch_tb_profiler.io.cache import Cache
    from torch_tb_profiler.profiler.loader import RunLoader

    trace = OF_TORCH.read_bytes()
    (tmp_path / "flux-rank0.trace.json.gz").write_bytes(trace)
    assert not RunLoader("run", str(tmp_path), Cache()).load().profiles
    (tmp_path / "flux-rank0.pt.trace.json.gz").write_bytes(trace)
    assert RunLoader("run", str(tmp_path), Cache()).load().workers == ["flux-rank0"]
