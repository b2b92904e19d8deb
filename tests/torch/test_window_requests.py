"""Windows that are asked for while the program runs, with torch's own profiler."""

from __future__ import annotations

import threading

import pytest
import torch
from traces import marks_of, operations_of

import marey.torch

pytestmark = pytest.mark.usefixtures("recording")


def test_steps_of_a_scheduler_that_nobody_instrumented_open_it() -> None:
    from diffusers import DDIMScheduler

    scheduler = DDIMScheduler()
    scheduler.set_timesteps(10)
    request = marey.torch.request_window(steps=2, activities=["CPU"])
    sample = torch.ones(1, 1, 2, 2)
    for timestep in scheduler.timesteps:
        sample = scheduler.step(sample.cos(), timestep, sample).prev_sample
    assert request.wait(), request.why_not
    assert request.trace_path is not None
    assert marks_of(request.trace_path) == [1, 2]
    assert "aten::cos" in operations_of(request.trace_path)
    assert type(scheduler).step.__qualname__ == "DDIMScheduler.step"


def test_seconds_have_the_operations_of_all_threads() -> None:
    request = marey.torch.request_window(seconds=0.5, activities=["CPU"])

    def work() -> None:
        while request.trace_path is None and request.why_not is None:
            torch.ones(2).sin()

    thread = threading.Thread(target=work)
    thread.start()
    while not request.wait(0):
        assert request.why_not is None
        torch.ones(2).cos()
    thread.join()
    assert request.trace_path is not None
    assert {"aten::sin", "aten::cos"} <= operations_of(request.trace_path)
