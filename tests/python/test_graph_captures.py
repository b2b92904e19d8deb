"""While a graph is captured nothing is recorded or asked, however the capture began and ends.

The stand-in ends a program that breaks a capture.
"""

from __future__ import annotations

import pytest

from capture_records import recorded
from interpreter import Finished, Interpreter

# How a capture begins and ends; what lies between is the test's.
WAYS = {
    "graph": ("block = torch.cuda.graph(graph); block.__enter__()", "block.__exit__()"),
    "graph, relaxed": ("block = torch.cuda.graph(graph, 'relaxed'); block.__enter__()", "block.__exit__()"),
    "begin and end": ("graph.capture_begin()", "graph.capture_end()"),
    "begin, end in two parts": ("graph.capture_begin()", "graph.capture_end_pre(); graph.capture_end_post()"),
    "begin, ended without torch": ("graph.capture_begin()", "gpu.end_capture()"),
    "without torch": ("gpu.begin_capture()", "gpu.end_capture()"),
    "without torch, of this thread": ("gpu.begin_capture('thread_local')", "gpu.end_capture()"),
}


def finished(interpreter: Interpreter, program: str, **variables: str) -> Finished:
    """The program, which has to end well and break no rule."""
    done = interpreter.run(BEGIN + program, env={"MAREY_SECTION_MEMORY": "0"} | variables)
    assert (done.returncode, done.stderr) == (0, "")
    return done


BEGIN = """
import sys, threading
import marey, stand_in_cuda
gpu = stand_in_cuda.install()
torch = sys.modules["torch"]
graph = torch.cuda.CUDAGraph()
def section(name, ms=0):
    with marey.profile_section(name):
        gpu.work(ms)
marey.start("out")
section("before", 1)
gpu.pass_time(1)
"""


def told(done: Finished) -> tuple[list[str], str]:
    """Sections that have a time, and how many have none."""
    found = recorded(done)
    return [span["name"] for span in found["gpu_spans"]], dict(found["unavailable"]).get("GPU time of sections", "")


# capture         |-------------------|
# section  before     within   beside     after
@pytest.mark.parametrize("way", WAYS)
def test_sections_within_a_capture_have_no_time_and_those_after_it_have(interpreter: Interpreter, way: str) -> None:
    begin, end = WAYS[way]
    program = f"""
{begin}
section("within", 1)
marey.export_profiling_report("report")
{end}
section("after", 2)
gpu.pass_time(9)
marey.stop()
"""
    spans, missing = told(finished(interpreter, program))
    assert spans == ["before", "after"]
    assert missing == "1 not measured: 1 began or ended while a graph was captured"


# main    |-------------- capture --------------|
# other            beside                           after
@pytest.mark.parametrize("way", ["graph", "begin and end", "begin, end in two parts", "begin, ended without torch"])
def test_a_capture_that_torch_begins_is_known_to_all_threads(interpreter: Interpreter, way: str) -> None:
    begin, end = WAYS[way]
    program = f"""
def other(name):
    thread = threading.Thread(target=section, args=(name, 1))
    thread.start()
    thread.join()
{begin}
other("beside")
{end}
other("after")
gpu.pass_time(9)
marey.stop()
"""
    spans, missing = told(finished(interpreter, program))
    assert spans == ["before", "after"]
    assert missing == "1 not measured: 1 began or ended while a graph was captured"


# Torch before `Stream.is_capturing`: the driver is asked, and where there is none of NVIDIA's, `capture_end` says so.
@pytest.mark.parametrize(
    ("way", "has_driver"),
    [("graph", True), ("begin, ended without torch", True), ("begin, end in two parts", True), ("graph", False)],
)
def test_an_older_torch_lets_all_threads_know_of_its_captures(
    interpreter: Interpreter, way: str, has_driver: bool
) -> None:
    begin, end = WAYS[way]
    program = f"""
marey.stop()
del stand_in_cuda.Stream.is_capturing
if {has_driver}:
    stand_in_cuda.install_driver()
marey.start("out")
section("before", 1)
{begin}
thread = threading.Thread(target=section, args=("beside", 1))
thread.start()
thread.join()
section("within", 1)
{end}
section("after", 2)
gpu.pass_time(9)
marey.stop()
"""
    done = interpreter.run(BEGIN.replace('"out"', '"first"') + program)
    assert (done.returncode, done.stderr) == (0, "")
    spans, missing = told(done)
    assert spans == ["before", "after"]
    assert missing == "2 not measured: 2 began or ended while a graph was captured"


@pytest.mark.parametrize("way", WAYS)
def test_a_recording_can_end_while_a_graph_is_captured(interpreter: Interpreter, way: str) -> None:
    begin, end = WAYS[way]
    program = f"""
section("not read yet", 1)
gpu.pass_time(1)
{begin}
marey.stop()
{end}
"""
    spans, missing = told(finished(interpreter, program))
    assert spans == ["before"]
    assert missing == "1 not measured: 1 had not run when the recording ended"


# reading   a    (b is not asked)
# other       |--- capture ---|
def test_a_capture_that_begins_between_two_queries_ends_the_reading(interpreter: Interpreter) -> None:
    program = """
marey.stop()
elapsed, others = stand_in_cuda.Event.elapsed_time, [threading.Thread(target=lambda: graph.capture_begin())]
def elapsed_time(self, end):
    ms = elapsed(self, end)
    while others:
        other = others.pop()
        other.start()
        other.join()
    return ms
stand_in_cuda.Event.elapsed_time = elapsed_time
marey.start("out")
gpu.work(1)
section("a", 1)
section("b", 1)
gpu.pass_time(9)
marey.export_profiling_report("report")
gpu.end_capture()
section("after", 2)
gpu.pass_time(9)
marey.stop()
"""
    done = interpreter.run(BEGIN.replace('"out"', '"first"') + program)
    assert (done.returncode, done.stderr) == (0, "")
    assert told(done) == (["a", "b", "after"], "")


def test_a_capture_that_could_not_begin_leaves_nothing_behind(interpreter: Interpreter) -> None:
    program = """
marey.stop()
def fail(self, pool=None, capture_error_mode="global"):
    raise RuntimeError("no")
stand_in_cuda.Graph.capture_begin = fail
marey.start("out")
section("a", 1)
try:
    graph.capture_begin()
except RuntimeError:
    pass
section("b", 1)
gpu.pass_time(9)
marey.stop()
"""
    done = interpreter.run(BEGIN.replace('"out"', '"first"') + program)
    assert (done.returncode, done.stderr) == (0, "")
    assert told(done)[0] == ["a", "b"]


# launch fails   section   the program looks
#      ^         |-----|        ^ has to see it
@pytest.mark.parametrize("has_driver", [True, False])
def test_a_failed_launch_is_still_there_to_be_seen_after_a_section(interpreter: Interpreter, has_driver: bool) -> None:
    program = f"""
if {has_driver}:
    marey.stop()
    stand_in_cuda.install_driver()
    marey.start("out")
gpu.fail_launch()
section("a", 5)
section("b", 5)
error = gpu.take_last_error()
gpu.pass_time(20)
marey.stop()
assert error == {9 if has_driver else 0}, error
"""
    begin = BEGIN.replace('"out"', '"first"') if has_driver else BEGIN
    done = interpreter.run(begin + program)
    assert (done.returncode, done.stderr) == (0, "")
    # Without the driver's own library torch is asked, and takes it away: `docs/explanation/gpu-time.md` says so.
    assert told(done)[0][-2:] == ["a", "b"]
