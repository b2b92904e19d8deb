"""The stand-in refuses what a driver refuses, and what a recorder must not do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

import stand_in_cuda
from stand_in_driver import Violation, gpu


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Two devices, of which only 0 is used, and nothing queued."""
    gpu.__init__()
    gpu.contexts = {0}
    yield
    gpu.__init__()


def recorded(device: int = 0, stream: int = 0) -> stand_in_cuda.Event:
    """An event that was recorded there."""
    event = stand_in_cuda.Event(enable_timing=True)
    event.record(stand_in_cuda.Stream(stream_id=stream, device_index=device))
    return event


def refused(action: Callable[[], object]) -> str:
    """Why the stand-in refuses it; it is kept, too."""
    with pytest.raises(Violation) as error:
        action()
    assert gpu.violations == [str(error.value)]
    return str(error.value)


def test_an_event_belongs_to_the_device_where_it_was_recorded_first() -> None:
    gpu.contexts = {0, 1}
    event = recorded(0)
    why = refused(lambda: event.record(stand_in_cuda.Stream(device_index=1)))
    assert why == "an event was recorded in the context of another device"


def test_events_of_two_devices_are_not_compared() -> None:
    gpu.contexts = {0, 1}
    first, second = recorded(0), recorded(1)
    assert refused(lambda: first.elapsed_time(second)) == "events of two devices were compared"


def test_a_device_that_the_program_never_used_is_left_alone() -> None:
    assert refused(lambda: recorded(1)) == "an event opened a context on device 1, which the program never used"


def test_peaks_are_reset_on_devices_in_use_only() -> None:
    stand_in_cuda.reset_peaks(0)
    why = refused(lambda: stand_in_cuda.reset_peaks(1))
    assert why == "a reset of peaks opened a context on device 1, which the program never used"


def test_nobody_waits_for_an_event() -> None:
    assert refused(recorded().synchronize) == "somebody waited for an event"


def test_an_event_is_not_recorded_into_a_capture() -> None:
    gpu.begin_capture()
    assert refused(recorded) == "an event was recorded into a capture"


# mode             asked by the thread that captures, by another one
MODES = [("global", False, False), ("thread_local", False, True), ("relaxed", True, True)]


@pytest.mark.parametrize(("mode", "may_own", "may_other"), MODES)
def test_who_may_ask_an_event_during_a_capture(mode: str, may_own: bool, may_other: bool) -> None:
    event = recorded(stream=7)
    gpu.begin_capture(mode)
    answers: list[bool] = []

    def ask() -> None:
        try:
            answers.append(event.query())
        except Violation:
            answers.append(False)

    ask()
    other = threading.Thread(target=ask)
    other.start()
    other.join()
    assert answers == [may_own, may_other]


def test_a_query_of_the_runtime_takes_an_error_away_only_where_the_event_is_not_done() -> None:
    gpu.work(5)
    event = recorded()
    gpu.fail_launch()
    assert not event.query()
    assert gpu.take_last_error() == 0
    gpu.pass_time(5)
    gpu.fail_launch()
    assert event.query()
    assert gpu.take_last_error() == 9


# stream 0   |----- 5 -----|--- 3 ---|
# stream 7   |- 2 -|
# time                      ^ 6
def test_streams_run_side_by_side_and_each_in_order() -> None:
    gpu.work(5)
    gpu.work(2, stream=7)
    first, beside = recorded(), recorded(stream=7)
    gpu.work(3)
    second = recorded()
    gpu.pass_time(6)
    assert [first.query(), beside.query(), second.query()] == [True, True, False]
    gpu.pass_time(2)
    assert first.elapsed_time(second) == 3.0
