"""Real traces, figure for figure what a brute-force reference in whole numbers says: equal to the nanosecond."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

import exact_traces
import torch_files
import trace_sums
from idle_time import Events
from torch_files import name_of, shown, trace_answers

TRACES = [path for path in torch_files.traces() if not path.name.startswith("rocprof")]
# Of traces that are there twice the first.
BY_NAME = {name_of(path): path for path in reversed(TRACES)}
SMALL = [path for path in TRACES if path.parent == torch_files.DATA / "traces"]
REFERENCES = torch_files.all_files("exact_ns.json")


@pytest.mark.parametrize("reference", REFERENCES, ids=shown)
def test_every_figure_is_that_of_the_reference(reference: Path) -> None:
    expected = json.loads(reference.read_text(), parse_float=Decimal)
    found = exact_traces.differences(expected, trace_answers(BY_NAME[reference.parent.name]))
    assert not found, "\n".join(found[:20])


@pytest.mark.parametrize("trace", BY_NAME.values(), ids=shown)
def test_nothing_of_a_trace_is_lost_and_parts_come_to_the_whole(trace: Path) -> None:
    (file,) = torch_files.analyzed(trace)["files"]
    found = trace_sums.wrong(name_of(trace), file)
    assert not found, "\n".join(found[:20])


def test_every_small_trace_has_a_reference() -> None:
    for folder in torch_files.FOLDERS:
        assert [path for path in REFERENCES if path.is_relative_to(folder)], folder
    references = {path.parent.name for path in REFERENCES if path.is_relative_to(torch_files.DATA)}
    assert references == set(map(name_of, SMALL))


def test_idle_time_is_the_hosts_until_a_launch_and_the_devices_after_it() -> None:
    causes = set()
    for trace in SMALL:
        expected = Events(torch_files.events(trace)).by_cause()
        for device in trace_answers(trace)["devices"]:
            found = {row["cause"]: row["total_ns"] for row in device["idle_gaps"]["causes"]}
            assert found == expected[device["device"]], trace.name
            causes |= found.keys()
    assert causes == {"launch_late", "launched_before", "not_known"}


def test_waiting_in_a_gap_is_what_calls_that_wait_share_with_it() -> None:
    waits = []
    for trace in SMALL:
        events = Events(torch_files.events(trace))
        for device in trace_answers(trace)["devices"]:
            for gap in device["idle_gaps"]["longest"]:
                waits.append(events.waited_ns(gap["start_ns"], gap["start_ns"] + gap["length_ns"]))
                assert gap["synchronising_ns"] == waits[-1], (trace.name, gap)
    assert any(waits)
