"""``torch_ranges``: sections are ranges of torch's profiler and of NVTX, here by a stand-in of both."""

from __future__ import annotations

import pytest

from interpreter import Interpreter


def ranges() -> list[list[str]]:
    """What torch is told of two sections, one in the other, and of a third in a recording that begins anew."""
    import sys
    import types

    import marey

    told = []

    class Recorded:
        def __init__(self, name: str) -> None:
            self.name = name

        def __enter__(self) -> None:
            told.append(["record_function", self.name])

        def __exit__(self, *_: object) -> None:
            told.append(["recorded", self.name])

    def start(name: str) -> str:
        told.append(["nvtx", name])
        return name.upper()

    torch = types.ModuleType("torch")
    torch.__spec__ = types.SimpleNamespace(_initializing=False)
    torch._C = types.SimpleNamespace(_cuda_getDeviceCount=lambda: 1)
    nvtx = types.SimpleNamespace(range_start=start, range_end=lambda number: told.append(["ended", number]))
    torch.cuda = types.SimpleNamespace(nvtx=nvtx, is_initialized=bool, _lazy_call=id)
    torch.autograd = types.SimpleNamespace(profiler=types.SimpleNamespace(record_function=Recorded))
    sys.modules["torch"] = torch
    with marey.profile_section("outer"), marey.profile_section("inner"):
        pass
    marey.stop()
    marey.start("out", profiling=marey.ProfilingConfig(torch_ranges=True))
    with marey.profile_section("asked"):
        pass
    marey.stop()
    return told


def range_of(name: str, *inner: list[str]) -> list[list[str]]:
    return [
        ["record_function", name],
        ["nvtx", name],
        *inner,
        ["ended", name.upper()],
        ["recorded", name],
    ]


@pytest.mark.parametrize("is_on", [True, False])
def test_each_section_is_a_range_where_that_is_asked_for(interpreter: Interpreter, is_on: bool) -> None:
    told = interpreter.result(ranges, env={"MAREY_TORCH_RANGES": "1"} if is_on else None)
    assert told == (range_of("outer", *range_of("inner")) if is_on else []) + range_of("asked")
