"""FLOPs, bytes, counts and times of operators by shape, as TraceLens computed them (`perf_models` of TRACE_FIXTURES).

Two definitions differ:

* TraceLens counts the bias of ``addmm`` as M · N operations; torch's ``FlopCounterMode`` and Marey count products only.
* TraceLens halves causal attention. Marey counts the pairs that the mask lets through, N · (N + 1) / 2: half of the
  diagonal more.

And one time: TraceLens counts all that ``aten::convolution`` launched; the bias, which torch adds in a call of its own,
has a row of its own in Marey.
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import torch_files
from torch_files import trace_answers

Row = dict[str, str]
MIB = 2**20


def tables() -> dict[str, list[Row]]:
    """Rows of each trace that TraceLens has a model for."""
    csv.field_size_limit(sys.maxsize)
    found: dict[str, list[Row]] = {}
    for kind in ("GEMM", "SDPA_fwd", "CONV_fwd"):
        for path in torch_files.all_files(f"__{kind}.csv"):
            rows = csv.DictReader(path.read_text().splitlines())
            found.setdefault(path.name.removesuffix(f"__{kind}.csv"), []).extend(rows)
    return found


def flops(row: Row) -> int:
    """FLOPs of a call by our definition."""
    theirs = Decimal(row["GFLOPS_first"]) * 10**9
    if row.get("param: bias") == "True" and "addmm" in row["name"]:
        theirs -= int(row["param: M"]) * int(row["param: N"])
    if row.get("param: causal") == "True":
        batch, heads, queries = (int(row[f"param: {name}"]) for name in ("B", "H_Q", "N_Q"))
        theirs += batch * heads * queries * (int(row["param: d_h_qk"]) + int(row["param: d_h_v"]))
    assert theirs == int(theirs), row["name"]
    return int(theirs)


def key(row: Row) -> tuple[str, str]:
    """What tells rows apart: operator and shapes."""
    return row["name"], row["Input Dims_first"]


@pytest.fixture(scope="module")
def expected() -> dict[str, list[Row]]:
    """All tables; none where the fixtures are not there."""
    return tables()


def test_flops_and_bytes_are_those_of_tracelens(expected: dict[str, list[Row]], tmp_path: Path) -> None:
    """Each row of theirs as a call of its own, whether its trace is there or not."""
    every = {key(row): row for rows in expected.values() for row in rows}
    if not every:
        pytest.skip("needs TRACE_FIXTURES")
    trace = tmp_path / "calls.json"
    events: list[Any] = []
    for number, row in enumerate(every.values(), 1):
        at = number * 100
        said = {
            "Concrete Inputs": literal(row["Concrete Inputs_first"]),
            "Input Dims": literal(row["Input Dims_first"]),
            "Input type": literal(row["Input type_first"]),
        }
        events += [
            {"ph": "X", "cat": "cpu_op", "name": row["name"], "pid": 9, "tid": 9, "ts": at, "dur": 50, "args": said},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": at + 1, "dur": 5}
            | {"args": {"correlation": number}},
            {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": at + 10, "dur": 20}
            | {"args": {"stream": 7, "correlation": number}},
        ]
    trace.write_text(json.dumps({"traceEvents": events}))
    (device,) = trace_answers(trace)["devices"]
    found = {(row["operator"], row["shapes"]): row for row in device["work"]["rows"]}
    assert found.keys() == every.keys()
    for name, row in every.items():
        assert found[name]["call_flops"] == flops(row), name
        # Of a float that was printed.
        assert found[name]["call_bytes"] == round(Decimal(row["Data Moved (MB)_first"]) * MIB, 6), name
    assert device["work"]["modelled_ratio"] == 1


def literal(written: str) -> Any:
    """A list as Python writes it."""
    return json.loads(written.replace("'", '"'))


def test_counts_and_times_are_those_of_tracelens(expected: dict[str, list[Row]]) -> None:
    """Of traces that are there."""
    traces = {torch_files.name_of(path): path for path in torch_files.traces()}
    if not expected:
        pytest.skip("needs TRACE_FIXTURES")
    assert sum(f"traces__{name}" in traces for name in expected) >= 4
    for name, rows in expected.items():
        trace = traces.get(f"traces__{name}")
        if trace is None:
            continue
        answers = trace_answers(trace)
        found = {
            (row["operator"], row["shapes"]): row for device in answers["devices"] for row in device["work"]["rows"]
        }
        calls = {(row["name"], row["shapes"]): row for row in answers["operators"]["by_shape"]}
        for row in rows:
            ours = found[key(row)]
            assert ours["count"] == int(row["name_count"]), (name, key(row))
            device_ns = calls[key(row)]["device_total_ns"] if "conv" in row["name"] else ours["device_ns"]
            # Theirs are sums of differences of floating-point times, to some 0.3 ns a kernel.
            theirs_us = Decimal(row["Kernel Time (µs)_sum"])
            assert abs(device_ns - theirs_us * 1000) <= Decimal("0.5") * ours["n_launched"], (name, key(row))


FLUX = "inference__xdit_flux.1"
"""Their rows are of two iterations with four replays of a graph each, by the trace in which it was recorded."""


@pytest.fixture(scope="module")
def pair() -> tuple[Path, Path]:
    """One of the two iterations, and that trace."""
    traces = {torch_files.name_of(path): path for path in torch_files.traces()}
    trace = traces.get("flux1_split_iter0")
    capture = traces.get(f"traces__{FLUX}__capture_traces__capture_trace_rank_0")
    if trace is None or capture is None:
        pytest.skip("needs TRACE_FIXTURES")
    return trace, capture


def device(trace: Path, capture: Path) -> Any:
    """The only device of a trace, with another one beside it."""
    (file,) = torch_files.analyzed(trace, "--graph-capture", str(capture))["files"]
    (only,) = file["answers"]["devices"]
    return only


@pytest.fixture(scope="module")
def replay(pair: tuple[Path, Path]) -> Any:
    """The device of that iteration."""
    return device(*pair)


def test_a_replay_has_the_operators_of_its_recording(expected: dict[str, list[Row]], replay: Any) -> None:
    """Calls to the number, FLOPs to the integer; times are the mean of this iteration and another one.

    The trace lacks the last kernel of each replay, whose row has no time there and is none here.
    """
    owned = replay["owned_kernels"]
    assert owned["n_replayed"] == owned["n_captured"] == 4 * 993
    found = {(row["operator"], row["shapes"]): row for row in replay["work"]["rows"]}
    for row in expected[FLUX]:
        theirs_us = Decimal(row["Kernel Time (µs)_sum"])
        if theirs_us == 0:
            assert key(row) not in found
            continue
        ours = found[key(row)]
        assert 2 * ours["count"] == int(row["name_count"]), key(row)
        assert ours["call_flops"] == flops(row), key(row)
        if "conv" not in row["name"] and ours["device_ns"] > 100_000:
            assert float(2 * ours["device_ns"] / theirs_us) == pytest.approx(1000, rel=0.25), key(row)
    assert replay["work"]["modelled_ratio"] > Decimal("0.95")


def test_kernels_of_a_replay_are_in_the_modules_of_its_recording(replay: Any) -> None:
    """Of the transformer, as many by class of operator as TraceLens has: two iterations there."""
    (table,) = torch_files.all_files(f"{FLUX}__ops_summary_by_category.csv")
    rows = csv.DictReader(table.read_text().splitlines())
    theirs = {row["op category"]: int(row["Count"]) for row in rows if "xFuserFlux1" in row["parent_module"]}
    owned = [row for row in replay["owned_kernels"]["by_module"] if "xFuserFlux1" in (row["owner"] or "")]
    beginnings = {"GEMM": "Cijk_", "triton": "triton_", "SDPA_fwd": "aiter::fmha"}
    for category, beginning in beginnings.items():
        ours = sum(row["n_captured"] for row in owned if row["name"].startswith(beginning))
        assert 2 * ours == theirs[category], category


def test_a_recording_that_says_no_kernels_tells_as_much(pair: tuple[Path, Path], replay: Any, tmp_path: Path) -> None:
    """Launches on NVIDIA's devices do not say their kernels: those of Inductor tell which is which."""
    trace, capture = pair
    silent = tmp_path / "silent.json"
    document = json.loads(gzip.decompress(capture.read_bytes()))
    for event in document["traceEvents"]:
        if event.get("cat") == "cuda_runtime":
            event["args"].pop("kernel", None)
    silent.write_text(json.dumps(document))
    assert device(trace, silent) == replay
