"""What is asked of torch at the ends of sections, and why a section has no GPU time.

The devices are a stand-in that ends a program which breaks a rule of theirs.
"""

from __future__ import annotations

import pytest

from device_programs import finished, spans, why_not
from interpreter import Interpreter

NOT_KNOWN = "ran on a device that is not known: several were in use, and none was chosen"


@pytest.mark.parametrize("devices", [1, 2])
def test_before_the_program_uses_a_device_none_is_opened_and_nothing_is_said(
    interpreter: Interpreter, devices: int
) -> None:
    def program(devices):
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install(devices=devices, used=())
        marey.start("out")
        with marey.profile_section("before"):
            pass
        with marey.profile_section("first use"):
            gpu.work(1)
        with marey.profile_section("after"):
            gpu.work(2)
        gpu.pass_time(3)
        marey.stop()

    done = finished(interpreter, program, devices)
    assert spans(done) == [("after", 0, 0, 2.0)]
    assert why_not(done) == "2 not measured: 2 began before the device was in use"


# device 0   |-- 1 --|
# device 1     |------ 50 ------|      current: 0, as ever
def test_where_several_devices_are_used_and_none_was_chosen_nothing_is_said(interpreter: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install(used=(0, 1))
        marey.start("out")
        with marey.profile_section("denoise"):
            gpu.work(50, device=1)
        gpu.device = 1
        with marey.profile_section("chosen"):
            gpu.work(3)
        gpu.device = 0
        with marey.profile_section("chosen again"):
            gpu.work(2)
        gpu.pass_time(100)
        marey.stop()

    done = finished(interpreter, program)
    assert spans(done) == [("chosen", 1, 0, 3.0), ("chosen again", 0, 0, 2.0)]
    assert why_not(done) == f"1 not measured: 1 {NOT_KNOWN}"


# device 0   |-- 1 --|   |-- 1 --|
# device 1                  |-- 50 --|      current: 0, as ever
def test_a_device_that_is_not_known_is_told_apart_from_a_capture(interpreter: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install(used=(0,))
        marey.start("out")
        with marey.profile_section("only one is in use"):
            gpu.work(1)
        with marey.profile_section("another one comes into use"):
            gpu.work(50, device=1)
        with marey.profile_section("several are in use"):
            gpu.work(1)
        graph = stand_in_cuda.Graph()
        graph.capture_begin()
        for _ in range(3):
            with marey.profile_section("captured"):
                pass
        graph.capture_end()
        gpu.device = 1
        with marey.profile_section("chosen"):
            gpu.work(2)
        gpu.pass_time(100)
        marey.stop()

    done = finished(interpreter, program)
    assert spans(done) == [("only one is in use", 0, 0, 1.0), ("chosen", 1, 0, 2.0)]
    assert why_not(done) == f"5 not measured: 3 began or ended while a graph was captured, 2 {NOT_KNOWN}"


# thread's stream 0   |------ raw capture ------|
# device 1                 |-- section --|            asking an event would break the capture
def test_a_capture_of_the_thread_hinders_sections_on_another_device(interpreter: Interpreter) -> None:
    def program():
        from types import SimpleNamespace as Thing

        import marey
        import stand_in_cuda
        from marey import work_device

        gpu = stand_in_cuda.install(used=(0, 1))
        marey.start("out")
        with marey.profile_section("starts watching"):
            pass
        with work_device.of(Thing(type="cuda", index=1)):
            with marey.profile_section("before"):
                gpu.work(1, device=1)
            gpu.pass_time(1)
            gpu.begin_capture("thread_local")
            with marey.profile_section("within"):
                gpu.work(1, device=1)
            gpu.end_capture()
            with marey.profile_section("after"):
                gpu.work(2, device=1)
        gpu.pass_time(10)
        marey.stop()

    done = finished(interpreter, program)
    assert spans(done) == [("before", 1, 0, 1.0), ("after", 1, 0, 2.0)]
    assert why_not(done) == f"2 not measured: 1 began or ended while a graph was captured, 1 {NOT_KNOWN}"


@pytest.mark.parametrize("devices", [1, 2, 8])
@pytest.mark.parametrize("rank", ["", "0"])
def test_no_signal_handler_runs_in_what_is_asked_at_the_ends_of_sections(
    interpreter: Interpreter, devices: int, rank: str
) -> None:
    def program(devices):
        import operator
        import sys
        from functools import partial
        from types import SimpleNamespace as Thing

        import stand_in_cuda

        class Event(dict):
            record, query, elapsed_time = operator.is_, operator.truth, operator.is_

        class Stream(dict):
            is_capturing = staticmethod(operator.not_)

        # Torch's functions are written in C; Python's handlers run where Python's functions begin.
        stand_in_cuda.install(devices=devices)
        sys.modules["torch"]._C = Thing(
            _CudaEventBase=Event,
            _CudaStreamBase=Stream,
            _cuda_getDevice=partial(int, 0),
            _cuda_getDeviceCount=partial(int, devices),
            _cuda_getCurrentStream=[(7, device, 1) for device in range(devices)].__getitem__,
            _cuda_hasPrimaryContext=[True, *[False] * (devices - 1)].__getitem__,
            _cuda_isCurrentStreamCapturing=bool,
        )
        import marey
        from marey import work_device

        marey.start("out")
        calls = []

        def record():
            section = marey.profile_section("a")
            sys.setprofile(lambda frame, event, _: calls.append(frame.f_code.co_name) if event == "call" else None)
            with section:
                pass
            sys.setprofile(None)

        record()
        with work_device.of(Thing(type="cuda", index=0)):
            record()
        marey._core.note_capture(1, (partial(bool, 0), partial(bool, 1)))
        record()
        marey._core.note_capture(1, None)
        marey.stop()
        return calls

    variables = {"LOCAL_RANK": rank} if rank else {}
    done = finished(interpreter, program, devices, MAREY_SECTION_MEMORY="0", **variables)
    assert done.result == []
    assert spans(done) == [("a", 0, 7, 0.0)] * 2
    assert why_not(done) == "1 not measured: 1 began or ended while a graph was captured"


def test_a_section_on_one_device_costs_nine_calls_of_torch(interpreter: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install(devices=1)
        marey.start("out")
        for _ in range(3):  # The first has no reference; events come from the pool when one pair was read.
            with marey.profile_section("a"):
                pass
        gpu.counts.clear()
        for _ in range(100):
            with marey.profile_section("a"):
                pass
        counts = dict(gpu.counts)
        marey.stop()
        return counts

    counts = finished(interpreter, program, MAREY_SECTION_MEMORY="0").result
    # 2 looks whether a graph is captured, 2 current streams, 2 events, a query, its time and that since the reference.
    assert counts == {"is_capturing": 200, "current_stream": 200, "record": 200, "query": 100, "elapsed": 200}
