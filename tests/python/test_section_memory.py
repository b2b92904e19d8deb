"""Peak memory of sections, and the peaks that others see. The allocator is a stand-in."""

from __future__ import annotations

from typing import Any

from capture_records import recorded
from interpreter import Interpreter

ENVIRONMENT = {"MAREY_GPU_TIMES": "0"}


def measured(interpreter: Interpreter, program: Any) -> dict[str, list[int]]:
    """Allocated before, at most and after, by section; the last call's on device 0."""
    done = interpreter.run(program, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return {row["name"]: row["allocated"] for row in recorded(done)["section_memory"] if row["device"] == 0}


def test_nested_sections_each_have_their_own_peak(either: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        gpu.hold(1)
        marey.start("out")
        # held   1  3  2  5  2      4  2
        # outer  |------------------------|    5
        # inner        |------|                5
        # later                  |----|        4
        with marey.profile_section("outer"):
            gpu.hold(3)
            gpu.hold(2)
            with marey.profile_section("inner"):
                gpu.hold(5)
                gpu.hold(2)
            with marey.profile_section("later"):
                gpu.hold(4)
                gpu.hold(2)
        marey.stop()

    assert measured(either, program) == {"inner": [2, 5, 2], "later": [2, 4, 2], "outer": [1, 5, 2]}


def test_the_program_sees_the_peaks_that_it_would_see_without(interpreter: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        import torch

        def peak():
            return torch._C._cuda_memoryStats(0)["allocated_bytes"]["all"]["peak"]

        seen = []
        gpu.hold(9)
        gpu.hold(1)
        marey.start("out")
        with marey.profile_section("outer"):
            seen.append(peak())  # 9, of before the recording
            gpu.hold(5)
            gpu.hold(2)
            torch._C._cuda_resetPeakMemoryStats(0)
            seen.append(peak())  # 2: the program's own reset
            gpu.hold(4)
            gpu.hold(1)
            with marey.profile_section("inner"):
                seen.append(peak())  # 4: not that of the section
                seen.append(torch._C._accelerator_getDeviceStats(0)["active_bytes"]["large_pool"]["peak"])
                gpu.hold(3)
        torch._C._accelerator_resetPeakStats(0)
        seen.append(peak())  # 3
        marey.stop()
        return seen

    done = interpreter.run(program, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    assert done.result == [9, 2, 4, 4, 3]
    rows = {row["name"]: row["allocated"] for row in recorded(done)["section_memory"]}
    assert rows == {"inner": [1, 3, 3], "outer": [1, 5, 3]}


def test_torch_gets_its_functions_back_once_its_own_peaks_are_right(interpreter: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        import torch

        gpu.hold(9)
        gpu.hold(1)
        marey.start("out")
        with marey.profile_section("a"):
            pass
        marey.stop()
        peak = torch._C._cuda_memoryStats(0)["allocated_bytes"]["all"]["peak"]
        is_back = torch._C._cuda_memoryStats is stand_in_cuda.memory_stats
        torch._C._cuda_resetPeakMemoryStats(0)
        is_back_after_reset = torch._C._cuda_memoryStats is stand_in_cuda.memory_stats
        return [peak, is_back, is_back_after_reset]

    assert interpreter.result(program, env=ENVIRONMENT) == [9, False, True]


def test_all_devices_in_use_are_measured_with_what_is_reserved_and_split(interpreter: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        gpu.hold(10, 16)
        gpu.hold(4, device=1)
        marey.start("out")
        with marey.profile_section("a"):
            gpu.hold(12, 20)
            gpu.hold(10)
        marey.stop()

    done = interpreter.run(program, env=ENVIRONMENT)
    rows = recorded(done)["section_memory"]
    assert [(row["device"], row["allocated"], row["reserved"], row["inactive_split"]) for row in rows] == [
        (0, [10, 12, 10], [16, 20, 20], 10),
        (1, [4, 4, 4], [4, 4, 4], 0),
    ]


def test_blocks_take_no_measurement_from_steps_and_stages(interpreter: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        mib = 1 << 20
        gpu.hold(100 * mib)
        marey.start("out")
        steps = marey.IterationProfiler("denoising_step")
        # held     100            100 → 700 → 100                100 → 900 → 100
        # step     |-- 1 --| ...  |------ 5 ------| ... |-- 8 --|
        # block     ||||||||       ||||||||||||||||      ||||||||
        # decode                                                 |-------------|
        for step in range(8):
            with steps.iteration(), marey.profile_section("transformer"):
                for number in range(57):
                    with marey.profile_section("block"), marey.profile_section("attention"):
                        if (step, number) == (4, 30):
                            gpu.hold(700 * mib)
                            gpu.hold(100 * mib)
        with marey.profile_section("vae_decode"):
            gpu.hold(900 * mib)
            gpu.hold(100 * mib)
        marey.stop()

    done = interpreter.run(program, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    peaks: dict[str, list[int]] = {}
    for row in recorded(done)["section_memory"]:
        if row["device"] == 0:
            peaks.setdefault(row["name"], []).append(row["allocated"][1] >> 20)
    assert peaks["denoising_step"] == [100] * 4 + [700] + [100] * 3
    assert peaks["transformer"] == peaks["denoising_step"]
    assert peaks["vae_decode"] == [900]
    # 50 of the level and 10 of its own at once; what a slow machine allows later.
    assert 60 <= len(peaks["block"]) < 8 * 57
    assert "attention" not in peaks


def test_inner_sections_read_only_devices_that_are_in_use(interpreter: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        gpu.hold(1)
        marey.start("out")
        reads = []
        for _ in range(2):
            with marey.profile_section("outer"):
                before = gpu.calls.count("stats")
                with marey.profile_section("inner"):
                    pass
                reads.append(gpu.calls.count("stats") - before)
                gpu.hold(5, device=1)
        marey.stop()
        return reads

    # Begin and end of the one device, then of both.
    assert interpreter.result(program, env=ENVIRONMENT) == [2, 4]


def test_deep_and_frequent_sections_are_left_out_and_not_read(interpreter: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        gpu.hold(1)
        marey.start("out")
        with marey.profile_section("1"), marey.profile_section("2"), marey.profile_section("3"):
            before = gpu.calls.count("stats")
            with marey.profile_section("4"):
                pass
            deep = gpu.calls.count("stats") - before
        for _ in range(10_000):
            with marey.profile_section("often"):
                pass
        marey.stop()
        return [deep, gpu.calls.count("reset")]

    deep, resets = interpreter.result(program, env=ENVIRONMENT)
    assert deep == 0
    # The three and 209 (199 of the level, 10 of their own) at once, and what a slow machine allows later.
    assert 212 <= resets < 5000


def test_an_error_switches_it_off_and_reaches_nobody(interpreter: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        gpu.hold(1)
        marey.start("out")
        gpu.fails["stats"] = RuntimeError("no such device")
        for _ in range(2):
            with marey.profile_section("a"):
                pass
        gpu.fails.clear()
        marey.stop()

    done = interpreter.run(program, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    found = recorded(done)
    assert found["section_memory"] == []
    assert ["peak memory of sections", "switched off after an error: RuntimeError: no such device"] in found[
        "unavailable"
    ]
