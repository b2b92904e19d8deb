"""The guide to profile-guided optimisation: each of its Python examples runs, and shows what it says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time

import pytest

from interpreter import Interpreter, read_capture
from test_reports import holds_to_the_schema


def blocks(text: str) -> dict[str, list[str]]:
    """The console blocks of a text: the lines between the rules, by title."""
    lines = text.splitlines()
    rules = [i for i, line in enumerate(lines) if set(line) == {"="}]
    starts = [i for i in rules if i + 2 in rules and lines[i + 1]]
    found = {}
    for start in starts:
        end = next(i for i in range(start + 3, len(lines)) if set(lines[i]) == {"="})
        found[lines[start + 1]] = lines[start : end + 1]
    return found


def check_table(lines: list[str], columns: list[str]) -> list[list[str]]:
    """Checks that rules and rows are equally wide and columns line up; the cells of the rows."""
    rule, _, _, header, dashes, *rows, last = lines
    assert rule == last
    assert {len(line) for line in (rule, header, dashes, *rows)} == {len(rule)}
    assert set(dashes) == {"-"}
    assert header.replace("Max Alloc", "MaxAlloc").split() == [column.replace(" ", "") for column in columns]
    for column in columns[1:]:
        end = header.index(column) + len(column)
        assert all(row[end - 1] != " " and (end == len(row) or row[end] == " ") for row in rows)
    return [row.split() for row in rows]


def test_quick_start_with_sections_and_memory(interpreter: Interpreter) -> None:
    finished = interpreter.run("""
        from marey import (
            profile_section,
            get_global_stats,
            MemoryTracker,
        )

        def expensive_operation():
            return sum(range(100_000))

        def load_model():
            global model
            model = bytearray(8 << 20)

        with profile_section("my_operation"):
            result = expensive_operation()

        tracker = MemoryTracker()
        tracker.snapshot("before_model_load")
        load_model()
        tracker.snapshot("after_model_load")
        tracker.print_summary()

        get_global_stats().print_summary()
    """)
    assert (finished.returncode, finished.stderr) == (0, "")
    found = blocks(finished.stdout)
    assert list(found) == ["MEMORY USAGE SUMMARY", "PROFILING SUMMARY - Top Operations by Total Time"]
    memory = check_table(found["MEMORY USAGE SUMMARY"], ["Label", "Allocated", "Reserved", "Max Alloc"])
    assert [row[0] for row in memory] == ["before_model_load", "after_model_load"]
    assert all(row[1].endswith("M") for row in memory)
    columns = ["Operation", "Count", "Total", "Mean", "Min", "Max"]
    ((name, count, *_),) = check_table(found["PROFILING SUMMARY - Top Operations by Total Time"], columns)
    assert (name, count) == ("my_operation", "1")
    assert not (interpreter.folder / "profiling_results").exists(), "statistics alone write no folder"


def test_timing_report_is_sorted_by_total_and_lined_up(interpreter: Interpreter) -> None:
    def program():
        import marey

        stats = marey.TimingStats()
        for _ in range(12):
            stats.record("vae_decode", 3.769)
        stats.record("text_encoder_forward", 6.1)
        stats.record("text_encoder_forward", 6.356)
        for _ in range(150):
            stats.record("transformer_forward", 0.055)
        stats.record("a name that is a good deal longer than the column which it has to fit into, and then some", 0.001)
        stats.print_summary(top_n=20)
        stats.print_summary(top_n=2)

    finished = interpreter.run(program)
    assert finished.stderr == ""
    lines = finished.stdout.splitlines()
    ends = [i for i, line in enumerate(lines) if set(line) == {"="}]
    columns = ["Operation", "Count", "Total", "Mean", "Min", "Max"]
    rows = check_table(lines[ends[0] : ends[2] + 1], columns)
    assert [row[0] for row in rows[:3]] == ["vae_decode", "text_encoder_forward", "transformer_forward"]
    assert rows[0][1] == "12"
    assert rows[1][1:3] == ["2", "12.456s"]
    assert rows[1][4:] == ["6.100s", "6.356s"]
    *top, more, rule = lines[ends[3] : ends[5] + 1]
    assert len(check_table([*top, rule], columns)) == 2
    assert more == "… and 2 more"


def test_reference_of_timing_stats(interpreter: Interpreter) -> None:
    def program():
        from marey import get_global_stats, profile_section

        def expensive_function():
            pass

        stats = get_global_stats()

        with profile_section("my_op"):
            expensive_function()

        stats.print_summary(top_n=20)
        all_stats = stats.get_all_stats()
        return all_stats

    all_stats = interpreter.result(program)
    assert {"count", "total", "mean", "min", "max", "last"} <= all_stats["my_op"].keys()


def test_reference_of_memory_tracker(interpreter: Interpreter) -> None:
    def program():
        from marey import MemoryTracker

        def load_models():
            pass

        tracker = MemoryTracker()

        tracker.snapshot("start")
        load_models()
        tracker.snapshot("after_load")

        tracker.print_summary()
        tracker.export_json("memory_log.json")

    interpreter.result(program)
    log = json.loads((interpreter.folder / "memory_log.json").read_text())
    assert [reading["label"] for reading in log] == ["start", "after_load"]
    for reading in log:
        assert {"label", "timestamp", "allocated_mb", "reserved_mb", "max_allocated_mb"} <= reading.keys()


def test_reference_of_iteration_profiler(interpreter: Interpreter) -> None:
    finished = interpreter.run("""
        from marey import IterationProfiler

        num_steps = 5

        def denoise_step():
            sum(range(10_000))

        profiler = IterationProfiler("denoising_steps")

        for step in range(num_steps):
            with profiler.iteration():
                denoise_step()

        profiler.print_summary()
    """)
    assert (finished.returncode, finished.stderr) == (0, "")
    ((title, lines),) = blocks(finished.stdout).items()
    assert title == "ITERATION PROFILING: denoising_steps"
    assert lines[3] == "Total iterations: 5"
    assert [line.split(":")[0] for line in lines[3:-1]] == [
        "Total iterations",
        "Total time",
        "Mean time/iter",
        "Min time",
        "Max time",
        "Median time",
    ]
    assert lines[5].endswith(" it/s)")


def test_specific_sections_are_analysed_later(interpreter: Interpreter) -> None:
    finished = interpreter.run("""
        from types import SimpleNamespace
        from marey import profile_section, get_global_stats

        prompt, latent_chunk = "a cat", [0]
        encode_text = len
        vae = SimpleNamespace(decode=list)

        with profile_section("text_encoding"):
            text_embeds = encode_text(prompt)

        with profile_section("vae_decode_chunk_1"):
            frame = vae.decode(latent_chunk)

        stats = get_global_stats()
        print(f"Text encoding took: {stats.get_stats('text_encoding')['total']}s")
    """)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert finished.stdout.startswith("Text encoding took: ")
    assert float(finished.stdout.removeprefix("Text encoding took: ").removesuffix("s\n")) > 0


def test_decorator_records_by_itself(interpreter: Interpreter) -> None:
    def program():
        from marey import get_global_stats, profile_function

        @profile_function("my_expensive_function")
        def process_video(frames):
            result = len(frames)
            return result

        return process_video([1, 2]), get_global_stats().get_stats("my_expensive_function")["count"]

    assert interpreter.result(program) == [2, 1]


def test_output_files_of_the_guide(interpreter: Interpreter) -> None:
    def program():
        from marey import export_profiling_report, profile_section

        with profile_section("vae_decode"):
            pass
        return export_profiling_report()

    path = interpreter.result(program)
    folder = interpreter.folder / "profiling_results"
    assert (interpreter.folder / path) == folder / "profiling_report.json"
    assert holds_to_the_schema(json.loads((folder / "profiling_report.json").read_text()))
    assert json.loads((folder / "memory_log.json").read_text()) == []
    summary = (folder / "timing_summary.txt").read_text()
    assert "PROFILING SUMMARY - Top Operations by Total Time" in summary
    assert "vae_decode" in summary


@pytest.mark.parametrize("kind", ["hit", "miss"])
def test_cache_timeline_tells_hits_from_misses(interpreter: Interpreter, kind: str) -> None:
    def program(kind):
        from marey import CacheEventRecorder

        recorder = CacheEventRecorder()
        recorder.start_chunk(start_frame=0, steps=20)
        recorder.mark_step(3)
        recorder.record_event("teacache", {"delta": 0.1}, kind=kind)
        recorder.finalize_chunk(end_frame=33)
        return recorder.to_markdown()

    assert f"| teacache | {kind} |" in interpreter.result(program, kind)


def test_what_came_before_the_recording_has_a_row_of_its_own(interpreter: Interpreter) -> None:
    """A program that imports for a while, and starts then: its age is known to 10 ms."""

    def program() -> float:
        import time

        begun = time.monotonic()
        while time.monotonic() - begun < 0.3:
            pass
        import marey

        took = time.monotonic() - begun
        marey.start("out")
        with marey.profile_section("work"):
            pass
        return took

    begun = time.monotonic()
    finished = interpreter.run(program)
    most = time.monotonic() - begun
    before = read_capture(finished.captures[0])["run"]["before_recording"]
    assert finished.result - 0.02 <= before <= most + 0.02
    text = subprocess.run(
        [sys.executable, "-m", "marey", "report", "--full", str(finished.captures[0])],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert re.search(rf"\(before the recording\) +{before * 1000:.0f} ms", text)
    assert "before_recording" not in json.dumps(read_capture(finished.captures[0])["run"]["facts"])


def test_what_was_recorded_in_memory_is_not_from_before_the_recording(interpreter: Interpreter) -> None:
    """
    process    |-- age --|                        of the interpreter and imports
    sections             |-- 0.5 s --|
    file                             | start()
    """

    def program():
        import os
        import time
        from pathlib import Path

        import marey

        def age():
            after_name = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
            return time.clock_gettime(time.CLOCK_BOOTTIME) - int(after_name[19]) / os.sysconf("SC_CLK_TCK")

        with marey.profile_section("warm_up"):
            at_first = age()
            time.sleep(0.5)
        marey.start("out")
        return at_first

    at_first = interpreter.result(program)
    (capture,) = interpreter.folder.glob("out/latest/*.marey")
    before = read_capture(capture)["run"]["before_recording"]
    # The kernel counts in hundredths.
    assert before <= at_first + 0.03
