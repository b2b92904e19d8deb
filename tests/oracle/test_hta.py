"""HTA's definitions against its own answers for real traces; Marey's figures against the same without its roundings."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import hta_definitions as hta
import torch_files

ANSWERS = [path for path in torch_files.all_files(".json") if path.name.startswith("hta_0.5.0")]
OTHERS_COMMUNICATION = re.compile(r"rccl|nvshmem|multimem|deep_ep|all_?(reduce|gather|to_?all)|cross_device", re.I)
"""Kernels that HTA takes for computing though they are none."""
WITH_OTHERS = {"traces__b200__eager_trace"}
"""Traces that have such: computing and overlap are not the same quantities there."""

TEMPORAL = ("kernel_time", "idle_time", "compute_time", "non_compute_time")


def named(path: Path) -> str:
    """What a test of these answers is called: the trace, and whether HTA rounded."""
    return f"{path.parent.name}-{path.stem}"


def answers(path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The traces that HTA was asked about, each with what it said; a folder of ranks has one answer for all."""
    said = json.loads(path.read_text(encoding="utf-8"))
    if "results" not in said:
        yield trace(path.parents[2], path.parent.name), said
        return
    results = said["results"]
    for rank, file in said["files"].items():

        def of_rank(rows: Any, rank: str = rank) -> list[dict[str, Any]]:
            return [row for row in rows if row["rank"] == int(rank)] if isinstance(rows, list) else []

        yield (
            trace(path.parents[2], file.partition(".json")[0]),
            {
                "temporal_breakdown": next(iter(of_rank(results["temporal_breakdown"])), None),
                "idle_by_stream": of_rank(results["idle_time_breakdown"][0]),
                "overlap_percent": of_rank(results["comm_comp_overlap"])[0]["comp_comm_overlap_pctg"],
            },
        )


def trace(folder: Path, name: str) -> Path:
    """The one trace of that name below a folder."""
    found = [path for end in ("json", "json.gz") for path in folder.rglob(f"{name}.{end}")]
    assert len(found) == 1, f"{name}: {found}"
    return found[0]


@pytest.mark.parametrize("path", ANSWERS, ids=named)
def test_its_definitions_give_what_hta_says_of_real_traces(path: Path) -> None:
    for file, said in answers(path):
        kernels = hta.kernels(hta.events(file), is_rounding="no_rounding" not in path.name)
        found = hta.figures(kernels)
        times = said.get("temporal_breakdown") or {}
        for key in TEMPORAL if times else ():
            assert times[f"{key}(us)"] == pytest.approx(getattr(found, key), abs=0.01), (file.name, key)
        ratio = found.overlap_ratio
        assert (None if ratio is None else round(100 * ratio, 2)) == said["overlap_percent"]
        if "kernel_types" in said:
            assert found.kernel_types == {name: us for name, us in said["kernel_types"].items() if us > 0}
        idle = hta.idle_by_stream(kernels)
        for row in said["idle_by_stream"]:
            assert row["idle_time"] == pytest.approx(idle.get((row["stream"], row["idle_category"]), 0), abs=0.02)


def test_the_traces_that_hta_was_asked_about_are_here() -> None:
    assert len({path.parent for path in ANSWERS if torch_files.DATA in path.parents}) == 18


@pytest.mark.parametrize("path", sorted({path.parent for path in ANSWERS}), ids=lambda path: path.name)
def test_marey_says_the_same_without_its_roundings_of_all_that_devices_did(path: Path) -> None:
    for file, said_by_hta in answers(next(path.glob("hta_0.5.0*.json"))):
        n_overlaps = 0
        said = torch_files.trace_answers(file)
        devices = {device["device"]: device for device in said["devices"]}
        expected = hta.work_of_devices(hta.events(file))
        assert devices.keys() == expected.keys()
        for name, work in expected.items():
            same(devices[name], work)
            is_known = not any(is_taken_for_another(event) for event in work)
            assert is_known == (path.name not in WITH_OTHERS)
            if is_known:
                n_overlaps += same_overlap(devices[name], work)
        assert said_by_hta["overlap_percent"] is None or n_overlaps or path.name in WITH_OTHERS


def is_taken_for_another(event: hta.Event) -> bool:
    """Whether HTA takes it for something else than Marey does."""
    is_computing = event.kind == hta.COMPUTATION
    return event.kind == hta.OTHER or (is_computing and OTHERS_COMMUNICATION.search(event.name) is not None)


def same(device: dict[str, Any], work: list[hta.Event]) -> None:
    """Holds Marey's times of a device, and its kernels with their sums, against those of its work."""
    found = hta.figures(work)
    used = device["utilization"]
    not_busy_ns = used["idle_ns"] + used["unknown_ns"]
    assert (used["span_ns"], not_busy_ns) == (found.kernel_time, found.idle_time)
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for event in work:
        sums[event.name][0] += 1
        sums[event.name][1] += int(event.end - event.start)
    rows: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in device["kernels"]["rows"]:
        rows[row["name"]][0] += row["count"]
        rows[row["name"]][1] += row["total_ns"]
    assert rows == sums
    assert rows


def same_overlap(device: dict[str, Any], work: list[hta.Event]) -> bool:
    """Holds computing and its overlap with communication likewise; whether there is any communication."""
    found = hta.figures(work)
    assert device["utilization"]["compute_ns"] == found.compute_time
    ratio = device["overlap"]["communication_overlap_ratio"]
    assert (None if ratio is None else float(ratio)) == pytest.approx(found.overlap_ratio, abs=1e-12)
    return found.overlap_ratio is not None


# Times in microseconds, as they are written.


def row(category: str, name: str, start: float, end: float, **arguments: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": category, "name": name, "pid": 0, "ts": start, "dur": end - start, "args": arguments}


def kernel(name: str, start: float, end: float, stream: int = 7, **arguments: Any) -> dict[str, Any]:
    return row("kernel", name, start, end, stream=stream, **arguments)


def times(*rows: dict[str, Any], is_rounding: bool = True) -> list[float]:
    """Of what HTA takes for kernels: from the first to the last, idle, computing and the rest."""
    found = hta.figures(hta.kernels(hta.of_rows(rows), is_rounding=is_rounding))
    return [found.kernel_time, found.idle_time, found.compute_time, found.non_compute_time]


def test_operators_of_the_host_and_synchronisations_are_kernels_to_hta() -> None:
    # host     |-----triton (cpu_op, args.stream 0)-----|
    # µs       0                                        92  94  96
    # stream 7                                              |k|
    rows = [row("cpu_op", "triton", 0, 92, stream=0), kernel("triton", 94, 96)]
    assert times(*rows) == [96, 2, 94, 0]
    # Idle time of streams is of kernels alone.
    assert hta.idle_by_stream(hta.kernels(hta.of_rows(rows), is_rounding=True)) == {}
    # A stream of -1, or one that is no number, is none.
    none = [row("cpu_op", "triton", 0, 92, stream=stream) for stream in (-1, "s")]
    assert times(*none, kernel("triton", 94, 96)) == [2, 0, 2, 0]
    wait = row("cuda_sync", "Stream Wait Event", 10, 40, stream=7, correlation=1)
    assert times(kernel("k", 0, 10), wait) == [40, 0, 40, 0]


def test_what_rounding_leaves_less_than_nothing_of_adds_to_its_idle_time() -> None:
    # The drawing of `hta`.
    rows = [kernel("a", 0.5, 10.2), kernel("b", 20.1, 20.9), kernel("c", 30.2, 40.7)]
    assert times(*rows) == [39, 22, 17, 0]
    # Gaps of 11 and 11.
    assert hta.idle_by_stream(hta.kernels(hta.of_rows(rows), is_rounding=True)) == {(7, "kernel_wait"): 22}
    # In the middle of other work it is nothing.
    assert times(kernel("a", 0.5, 10.2), kernel("b", 4.1, 4.9)) == [9, 0, 9, 0]


def test_microseconds_are_floats_to_hta() -> None:
    # Since 1970 they are quarters: 0.1 is 0.0, and 5.3 is 5.25.
    since_1970 = kernel("k", 0, 1) | {"ts": Decimal("1700000000000000.1"), "dur": Decimal("5.2")}
    assert times(since_1970) == [5, 0, 5, 0]
    # Whole beginnings are not rounded, nor are their ends then.
    assert times(kernel("k", 0, 5.2)) == [5.2, 0, 5.2, 0]


def test_the_last_step_and_what_it_launched_are_left_out() -> None:
    # host     |--step 1--||--step 2--|
    # µs       0  [1]     10  [2]      20
    # device   |0|   |-1-|        |-2-|      and 3, which names a launch that is not there
    launches = [row("cuda_runtime", "cudaLaunchKernel", at, at + 1, correlation=n) for n, at in ((1, 3), (2, 13))]
    steps = [row("user_annotation", f"ProfilerStep#{n}", 10 * n - 10, 10 * n) for n in (1, 2)]
    launched = [kernel("k", start, end, correlation=n) for n, start, end in ((1, 6, 10), (2, 16, 20), (3, 11, 12))]
    # Without the number of a launch it is taken for the host's, and began in time.
    assert times(*steps, *launches, *launched, kernel("k", 0, 2)) == [10, 4, 6, 0]


def test_neighbours_that_overlap_on_a_stream_count_below_zero() -> None:
    # µs       0         10 12        20
    # stream   |----a----|
    #                 |-----b-----|            a gap of -2 µs, and one of 2
    #                 8           14 |-c-|
    rows = [kernel("a", 0, 10), kernel("b", 8, 14), kernel("c", 16, 20)]
    assert hta.idle_by_stream(hta.kernels(hta.of_rows(rows), is_rounding=True)) == {(7, "kernel_wait"): 0}
