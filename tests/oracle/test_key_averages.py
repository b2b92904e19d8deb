"""Operators of traces, equal to what torch says itself of the same run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import key_averages
import torch_files
from torch_files import trace_answers

TINY = torch_files.DATA / "operators/operators_tiny_cpu.trace.json.gz"
ENDING = ".key_averages.txt"


def torchs() -> dict[str, Any]:
    """Torch's table of the tiny run."""
    return json.loads(TINY.with_name("operators_tiny_cpu.key_averages.json").read_text())


def test_every_operator_is_equal_to_the_nanosecond() -> None:
    expected = key_averages.of_torch(torchs()["by_name"])
    assert len(expected) > 50
    assert key_averages.of_command(trace_answers(TINY)["operators"]["rows"]) == expected


def test_every_operator_and_shape_is_equal_to_the_nanosecond() -> None:
    expected = key_averages.of_torch(torchs()["by_shape"])
    # Ranges have no inputs; the command's are operators alone.
    expected = {key: row for key, row in expected.items() if not key[0]}
    assert len(expected) > 70
    assert key_averages.of_command(trace_answers(TINY)["operators"]["by_shape"]) == expected


def test_memory_that_operators_allocated_is_what_torch_says() -> None:
    # What Python functions in a range release is theirs in torch's table, and the range's in the command's.
    (memory,) = trace_answers(TINY)["memory"]
    found = {row["name"]: row["net_bytes"] for row in memory["operators"] if row["name"] and row["net_bytes"]}
    expected = {row["name"]: row["self_bytes"] for row in torchs()["by_name"] if row["self_bytes"]}
    found, expected = (
        {name: size for name, size in sizes.items() if not name.startswith("denoise")} for sizes in (found, expected)
    )
    assert len(expected) > 5
    assert found == expected


def test_every_kernel_and_copy_of_a_gpu_is_equal_to_the_nanosecond() -> None:
    trace = torch_files.DATA / "devices/flux_h200.trace.json.gz"
    (device,) = trace_answers(trace)["devices"]
    found = {row["name"]: [row["count"], row["total_ns"]] for row in device["kernels"]["rows"]}
    expected = json.loads(trace.with_name("flux_h200.key_averages.json").read_text())
    assert len(expected) > 100
    assert found == expected


def test_tables_that_torch_printed_have_the_same_calls_and_times() -> None:
    tables = [table for table in torch_files.all_files(ENDING) if _trace_of(table).exists()]
    assert bool(tables) == (len(torch_files.FOLDERS) > 1)
    for table in tables:
        operators = trace_answers(_trace_of(table))["operators"]
        ranges = [row for row in operators["rows"] if row["kind"] == "range"]
        found = key_averages.as_printed(key_averages.of_command(operators["by_shape"] + ranges))
        expected = key_averages.printed(table)
        assert len(expected) == 40
        assert {key: found.get(key) for key in expected} == expected, table.name


def _trace_of(table: Path) -> Path:
    """The trace of the run that torch printed a table of."""
    return table.with_name(table.name.removesuffix(ENDING) + ".trace.json.gz")
