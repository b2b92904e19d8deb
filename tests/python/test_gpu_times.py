"""GPU time of sections: what is measured, what is not, and that nothing is waited for. The GPU is a stand-in."""

from __future__ import annotations

from typing import Any

import pytest

from capture_records import recorded
from interpreter import Finished, Interpreter

MEASURED_ONLY = {"MAREY_SECTION_MEMORY": "0"}


def finished(interpreter: Interpreter, program: Any, env: dict[str, str] = MEASURED_ONLY) -> Finished:
    """The program, which has to end well and say nothing on stderr."""
    done = interpreter.run(program, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done


def spans(interpreter: Interpreter, program: Any, env: dict[str, str] = MEASURED_ONLY) -> list[tuple[str, float]]:
    """Name and milliseconds of each span that the program left, in the order in which the sections began."""
    found = recorded(finished(interpreter, program, env))["gpu_spans"]
    return [(span["name"], span["gpu_ns"] / 1e6) for span in found]


def why_not(found: dict[str, Any]) -> str:
    """What a capture says of GPU times that are missing."""
    return dict(found["unavailable"])["GPU time of sections"]


def test_sections_nest_repeat_fail_and_come_from_the_decorator_and_loops(either: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        marey.start("out")

        @marey.profile_function("function")
        def function():
            gpu.work(2)

        turns = marey.IterationProfiler("loop")
        with marey.profile_section("outer", stage="x"):
            gpu.work(1)
            for _ in range(2):
                with turns.iteration():
                    function()
        again = marey.profile_section("again")
        for ms in (1, 4):
            with again:
                gpu.work(ms)
        try:
            with marey.profile_section("failing"):
                gpu.work(7)
                raise ValueError
        except ValueError:
            pass
        gpu.pass_time(100)
        marey.stop()

    assert spans(either, program) == [
        ("outer", 5.0),
        ("loop", 2.0),
        ("function", 2.0),
        ("loop", 2.0),
        ("function", 2.0),
        ("again", 1.0),
        ("again", 4.0),
        ("failing", 7.0),
    ]


def test_what_is_not_done_is_asked_again_later_and_never_waited_for(interpreter: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        marey.start("out")
        with marey.profile_section("slow"):
            gpu.work(50)
        with marey.profile_section("next"):
            gpu.work(1)
        before = gpu.calls.count("elapsed")
        gpu.pass_time(50)
        with marey.profile_section("last"):
            pass
        after = gpu.calls.count("elapsed")
        marey.stop()
        return [before, after > 0]

    done = finished(interpreter, program)
    assert done.result == [0, True]
    found = recorded(done)
    # The two others end at 51 on the GPU, when its clock says 50.
    assert [span["name"] for span in found["gpu_spans"]] == ["slow"]
    assert why_not(found) == "2 not measured: 2 had not run when the recording ended"


def test_a_delay_is_that_of_work_which_waits_behind_other_work(interpreter: Interpreter) -> None:
    def program():
        import time

        import marey
        import stand_in_cuda
        from patience import eventually

        gpu = stand_in_cuda.install()
        gpu.follow_host()
        marey.start("out")
        # stream   |a|   |---------- b: 20 -------|- c -|
        # host      a     b c                       d
        #                   |<---- delay of c ---->|
        with marey.profile_section("a"):
            gpu.work(0.01)
        eventually(gpu.is_idle)
        with marey.profile_section("b"):
            gpu.work(20)
        begun = time.perf_counter()
        with marey.profile_section("c"):
            # On a busy machine b can have ended by now.
            waits_ms = max(0.0, max(gpu.busy_until.values()) - gpu.now_ms)
            gpu.work(1)
        took_ms = (time.perf_counter() - begun) * 1e3

        def is_idle():
            with marey.profile_section("d"):
                return gpu.is_idle()

        eventually(is_idle)
        marey.stop()
        return [waits_ms, took_ms]

    done = finished(interpreter, program)
    waits_ms, took_ms = done.result
    span = next(span for span in recorded(done)["gpu_spans"] if span["name"] == "c")
    delay_ms, error_ms = span["delay_ns"] / 1e6, span["error_ns"] / 1e6
    # The stand-in was asked for the wait at some moment while the section was open.
    assert waits_ms - error_ms - took_ms <= delay_ms <= waits_ms + error_ms + took_ms
    assert abs(span["gpu_ns"] / 1e6 - 1) < 1e-3


def test_streams_and_devices_are_told_apart(interpreter: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        marey.start("out")
        for device, stream in ((0, 0), (0, 7), (1, 0), (0, 0)):
            gpu.device, gpu.stream = device, stream
            with marey.profile_section("copy"):
                gpu.work(1 + stream + 10 * device)
        with marey.profile_section("moves"):
            gpu.stream = 7
        gpu.pass_time(100)
        marey.stop()

    found = recorded(finished(interpreter, program))
    told = [(span["device"], span["stream"], span["gpu_ns"]) for span in found["gpu_spans"]]
    assert told == [(0, 0, 1_000_000), (0, 7, 8_000_000), (1, 0, 11_000_000), (0, 0, 1_000_000)]
    assert why_not(found) == "1 not measured: 1 ended on another stream or device"


def test_nothing_is_recorded_or_asked_while_a_graph_is_captured(interpreter: Interpreter) -> None:
    def program():
        import threading

        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        marey.start("out")
        with marey.profile_section("before"):
            gpu.work(1)
        graph = stand_in_cuda.Graph()
        with marey.profile_section("around"):
            graph.capture_begin()
            calls = len(gpu.calls)
            with marey.profile_section("within"):
                pass

            def beside():
                with marey.profile_section("beside"):
                    pass

            thread = threading.Thread(target=beside)
            thread.start()
            thread.join()
            during = len(gpu.calls) - calls
            graph.capture_end()
            gpu.work(2)
        with marey.profile_section("after"):
            gpu.work(3)
        gpu.pass_time(10)
        marey.stop()
        return during

    done = finished(interpreter, program)
    assert done.result == 0
    found = recorded(done)
    assert [span["name"] for span in found["gpu_spans"]] == ["before", "around", "after"]
    assert why_not(found) == "2 not measured: 2 began or ended while a graph was captured"


@pytest.mark.parametrize("call", ["new_event", "record", "query", "elapsed"])
def test_an_error_switches_it_off_and_reaches_nobody(interpreter: Interpreter, call: str) -> None:
    program = f"""
        import stand_in_cuda
        import marey

        gpu = stand_in_cuda.install()
        marey.start("out")
        gpu.fails[{call!r}] = RuntimeError("CUDA error: an illegal memory access\\nmore")
        for _ in range(3):
            with marey.profile_section("a"):
                gpu.work(1)
            gpu.pass_time(2)
        assert gpu.calls.count({call!r}) == 1, gpu.calls
        marey.stop()
    """
    found = recorded(finished(interpreter, program))
    assert [section["name"] for section in found["sections"]] == ["a"] * 3
    assert found["gpu_spans"] == []
    why = why_not(found)
    assert why.startswith("switched off after an error: RuntimeError: CUDA error: an illegal memory access")
    assert "\n" not in why


def test_an_error_does_not_hide_what_was_not_measured_before(interpreter: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        marey.start("out")
        with marey.profile_section("moves"):
            gpu.stream = 7
        graph = stand_in_cuda.Graph()
        graph.capture_begin()
        with marey.profile_section("within"):
            pass
        graph.capture_end()
        with marey.profile_section("slow"):
            gpu.work(1)
        gpu.fails["record"] = RuntimeError("no")
        with marey.profile_section("failing"):
            pass
        marey.stop()

    assert why_not(recorded(finished(interpreter, program))) == (
        "switched off after an error: RuntimeError: no; before that 3 not measured: "
        "1 ended on another stream or device, 1 began or ended while a graph was captured, 1 had not been read yet"
    )


def test_torch_gets_its_capture_functions_back(interpreter: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        stand_in_cuda.install()
        graph = stand_in_cuda.Graph

        def functions():
            return [vars(graph)["capture_begin"], vars(graph)["capture_end"]]

        originals = functions()
        found = []
        for job in ("one", "two"):
            marey.start(job)
            with marey.profile_section("a"):
                pass
            found.append(functions() == originals)
            marey.stop()
            found.append(functions() == originals)
        return found

    assert interpreter.result(program, env=MEASURED_ONLY) == [False, True, False, True]


# recording   |- first -|   |------------ out ------------|
# capture         |------------------------|
# section       a               within         after
def test_a_capture_that_goes_on_after_a_recording_is_known_to_the_next_one(interpreter: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        original = stand_in_cuda.Graph.capture_end
        marey.start("first")
        with marey.profile_section("a"):
            pass
        graph = stand_in_cuda.Graph()
        graph.capture_begin()
        marey.stop()
        is_back = stand_in_cuda.Graph.capture_end is original
        marey.start("out")
        with marey.profile_section("within"):
            pass
        graph.capture_end()
        with marey.profile_section("after"):
            gpu.work(2)
        gpu.pass_time(2)
        marey.stop()
        return is_back

    done = finished(interpreter, program)
    assert done.result
    found = recorded(done)
    assert [span["name"] for span in found["gpu_spans"]] == ["after"]
    assert why_not(found) == "1 not measured: 1 began or ended while a graph was captured"


def test_what_others_put_in_the_place_of_a_capture_function_stays(interpreter: Interpreter) -> None:
    def program():
        import functools

        import marey
        import stand_in_cuda

        stand_in_cuda.install()
        marey.start("out")
        with marey.profile_section("a"):
            pass
        graph = stand_in_cuda.Graph

        @functools.wraps(graph.capture_begin)
        def theirs(self):
            pass

        graph.capture_begin = theirs
        marey.stop()
        return graph.capture_begin is theirs

    assert interpreter.result(program, env=MEASURED_ONLY)


def test_an_interrupt_in_between_is_the_programs(interpreter: Interpreter) -> None:
    def program():
        import signal

        import marey
        import stand_in_cuda

        signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
        gpu = stand_in_cuda.install()
        marey.start("out")
        gpu.fails["record"] = KeyboardInterrupt()
        try:
            with marey.profile_section("a"):
                pass
            for _ in range(1000):
                pass
        except KeyboardInterrupt:
            return "interrupted"
        return "swallowed"

    assert interpreter.result(program, env=MEASURED_ONLY) == "interrupted"


def test_it_begins_when_torch_initialises_cuda_and_not_before(interpreter: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        marey.start("out")
        with marey.profile_section("no torch yet"):
            pass
        gpu = stand_in_cuda.install(is_initialized=False)
        with marey.profile_section("no CUDA yet"):
            pass
        calls = len(gpu.calls)
        gpu.initialise()
        with marey.profile_section("no CUDA yet"):
            gpu.work(1)
        gpu.pass_time(1)
        marey.stop()
        return calls

    done = finished(interpreter, program)
    assert done.result == 0
    assert [span["name"] for span in recorded(done)["gpu_spans"]] == ["no CUDA yet"]


def test_it_can_be_switched_off_by_the_environment(interpreter: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        marey.start("out")
        with marey.profile_section("a"):
            gpu.work(1)
        marey.stop()
        return gpu.calls

    off = {"MAREY_GPU_TIMES": "0", "MAREY_SECTION_MEMORY": "0"}
    assert interpreter.result(program, env=off) == []


def test_tasks_and_threads_that_interleave_each_have_their_own(interpreter: Interpreter) -> None:
    def program():
        import asyncio

        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        marey.start("out")

        async def task(name, ms, turn, others):
            with marey.profile_section(name):
                gpu.work(ms)
                turn.set()
                await others.wait()

        async def both():
            one, two = asyncio.Event(), asyncio.Event()
            await asyncio.gather(task("one", 5, one, two), task("two", 3, two, one))

        asyncio.run(both())
        gpu.pass_time(100)
        marey.stop()

    # Two's work is within the span of one, which ends after it was queued.
    assert sorted(spans(interpreter, program)) == [("one", 8.0), ("two", 3.0)]


def test_a_forked_child_forgets_all_and_goes_on_without(interpreter: Interpreter) -> None:
    def program():
        import os

        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        marey.start("out")
        with marey.profile_section("waiting"):
            gpu.work(1)
        with marey.profile_section("open"):
            child = os.fork()
            if child == 0:
                gpu.calls.clear()
                gpu.is_initialized = False  # As torch says after a fork.
        if child == 0:
            with marey.profile_section("in the child"):
                pass
            os._exit(0 if gpu.calls == [] else 1)
        _, status = os.waitpid(child, 0)
        gpu.pass_time(5)
        marey.stop()
        return os.waitstatus_to_exitcode(status)

    done = interpreter.run(program, env=MEASURED_ONLY)
    assert done.returncode == 0, done.stderr
    assert done.result == 0


def test_a_report_in_between_has_what_is_done_by_then(interpreter: Interpreter) -> None:
    def program():
        import json

        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        with marey.profile_section("a"):
            gpu.work(2)
        gpu.pass_time(2)
        report = json.load(open(marey.export_profiling_report("report")))
        return [report["gpu_time"]["measured_by"], report["sections"][0]["gpu"]["total"]]

    assert interpreter.result(program, env=MEASURED_ONLY) == ["CUDA events", 0.002]


def test_the_report_of_a_session_has_its_last_spans(interpreter: Interpreter) -> None:
    def program():
        import json
        from pathlib import Path

        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        with marey.Profiler(enabled=True, output_dir="out") as profiler:
            with profiler.session("clip"):
                with marey.profile_section("a"):
                    gpu.work(5)
                gpu.pass_time(5)
        marey.stop()
        path = next(Path("out").glob("*/sessions/clip/profiling_report.json"))
        (section,) = json.loads(path.read_text())["sections"]
        return [section["name"], section["gpu"] and section["gpu"]["total"]]

    done = interpreter.run(program, env=MEASURED_ONLY)
    assert done.returncode == 0, done.stderr
    assert done.result == ["a", 0.005]


def test_pairs_that_wait_are_bounded(interpreter: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        marey.start("out")
        gpu.work(1000)
        for _ in range(5000):
            with marey.profile_section("a"):
                pass
        events = gpu.calls.count("new_event")
        gpu.pass_time(1000)
        marey.stop()
        return events

    done = finished(interpreter, program)
    assert done.result <= 2 * 4096
    assert len(recorded(done)["gpu_spans"]) == 4096
    assert why_not(recorded(done)) == "904 not measured: 904 came while too many were waiting"


# main   ├──a──┤  stop: destroys an event ┈┈┈┈┈┈┈┈┈┤       torch lets go of the GIL meanwhile
# other                                   reads ──┤
def test_another_thread_can_read_gpu_times_while_an_event_is_destroyed(interpreter: Interpreter) -> None:
    def program():
        import threading

        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        marey.start("out")
        with marey.profile_section("a"):
            gpu.work(5)
        gpu.pass_time(5)
        marey._core.read_gpu_times()
        is_destroying, has_read = threading.Event(), threading.Event()

        def other():
            is_destroying.wait()
            marey._core.read_gpu_times()
            has_read.set()

        def destroy(event):
            is_destroying.set()
            has_read.wait()

        thread = threading.Thread(target=other)
        thread.start()
        stand_in_cuda.Event.__del__ = destroy
        marey.stop()
        thread.join()

    assert spans(interpreter, program) == [("a", 5.0)]
