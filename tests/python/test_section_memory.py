"""Peak memory of sections by torch's own peaks, which nobody resets. The allocator is a stand-in."""

from __future__ import annotations

from typing import Any

from capture_records import recorded
from interpreter import Interpreter

ENVIRONMENT = {"MAREY_GPU_TIMES": "0"}


AFTER_A_RESET = 2**64 - 1
"""By how much a peak may have been more, where the program reset torch's."""


def measured(interpreter: Interpreter, program: Any) -> dict[str, tuple[list[int], int]]:
    """Allocated before, most and after on device 0, and by how much the most may have been more; of each last call."""
    done = interpreter.run(program, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    rows = [row for row in recorded(done)["section_memory"] if row["device"] == 0]
    return {row["name"]: (row["allocated"], row["allocated_peak_error"]) for row in rows}


def test_a_peak_is_known_where_torchs_rose_and_otherwise_within_two_figures(either: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        gpu.hold(1)
        marey.start("out")
        # held     1  3  2  5  2      4  2  5
        # torch's  1  3  3  5  5      5  5  5
        # outer    |------------------------|    5
        # inner          |------|                5
        # later                    |----|        2 at least, 5 at most
        # at_most                        |--|    5: what is held at its end
        with marey.profile_section("outer"):
            gpu.hold(3)
            gpu.hold(2)
            with marey.profile_section("inner"):
                gpu.hold(5)
                gpu.hold(2)
            with marey.profile_section("later"):
                gpu.hold(4)
                gpu.hold(2)
            with marey.profile_section("at_most"):
                gpu.hold(5)
        marey.stop()

    assert measured(either, program) == {
        "inner": ([2, 5, 2], 0),
        "later": ([2, 2, 2], 3),
        "at_most": ([2, 5, 5], 0),
        "outer": ([1, 5, 5], 0),
    }


def test_torchs_functions_and_peaks_stay_the_programs(interpreter: Interpreter) -> None:
    def program():
        import marey
        import stand_in_cuda

        gpu = stand_in_cuda.install()
        import torch

        before = dict(vars(torch._C))

        def peak():
            return torch._C._cuda_memoryStats(0)["allocated_bytes"]["all"]["peak"]

        seen = []
        gpu.hold(9)
        gpu.hold(1)
        marey.start("out")
        # held     1   5   2       4   1   3
        # torch's  9   9   9  2    4   4   4
        # outer    |-----------------------|    4 at least: nobody knows what was before the reset
        # inner                        |---|    3 at least, 4 at most
        with marey.profile_section("outer"):
            seen.append(peak())  # 9, of before the recording
            gpu.hold(5)
            gpu.hold(2)
            torch._C._cuda_resetPeakMemoryStats(0)
            seen.append(peak())  # 2: the program's own reset
            gpu.hold(4)
            gpu.hold(1)
            with marey.profile_section("inner"):
                seen.append(peak())
                gpu.hold(3)
        torch._C._accelerator_resetPeakStats(0)
        seen.append(peak())  # 3
        marey.stop()
        assert vars(torch._C) == before
        assert gpu.calls.count("reset") == 2
        return seen

    done = interpreter.run(program, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    assert done.result == [9, 2, 4, 3]
    rows = {row["name"]: (row["allocated"], row["allocated_peak_error"]) for row in recorded(done)["section_memory"]}
    assert rows == {"inner": ([1, 3, 3], 1), "outer": ([1, 4, 3], AFTER_A_RESET)}


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
    assert {(row["allocated_peak_error"], row["reserved_peak_error"]) for row in rows} == {(0, 0)}


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
        return [deep, gpu.calls.count("stats")]

    deep, reads = interpreter.result(program, env=ENVIRONMENT)
    assert deep == 0
    # Both ends of the three, and of 209 (199 of the level, 10 of their own) at once; what a slow machine allows later.
    assert 2 * 212 <= reads < 10_000


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
