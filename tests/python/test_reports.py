"""Sessions, events, counters and the report files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import marey
from interpreter import Interpreter, environment, read_capture

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "schema" / "profiling_report.schema.json").read_text())


def holds_to_the_schema(report: dict[str, Any]) -> bool:
    """Says in a line each where the report departs from its published schema."""
    errors = jsonschema.Draft202012Validator(SCHEMA).iter_errors(report)
    found = [f"{error.json_path}: {error.message[:300]}" for error in errors]
    assert found == []
    return True


def test_events_and_counters_take_any_value(interpreter: Interpreter) -> None:
    def program():
        import marey

        marey.start("out")
        marey.event("loaded", model="wan", gigabytes=1.5, name="kept")
        marey.event(3)
        for value in (1, 2.5, True, float("nan"), float("inf"), "text", None, object(), 10**400):
            marey.counter("queue", value)

    interpreter.result(program)
    report = read_capture(interpreter.folder / "out")
    assert [event["name"] for event in report["events"]] == ["loaded", "3"]
    assert report["events"][0]["data"] == {"model": "wan", "gigabytes": 1.5, "name": "kept"}


def test_report_files_have_the_documented_names_and_hold_to_the_schema(interpreter: Interpreter) -> None:
    def program():
        import marey

        profiler = marey.IterationProfiler("steps")
        tracker = marey.MemoryTracker()
        cache = marey.CacheEventRecorder()
        with marey.session("generation", seed=1):
            for i in range(3):
                with profiler.iteration(), marey.profile_section("denoise", i=i):
                    tracker.snapshot(f"step {i}")
                    cache.record_hit("teacache", score=0.1)
        marey.event("done", ok=True)
        with marey.profile_section("still open"):
            return marey.export_profiling_report("report", memory_tracker=tracker, iteration_profiler=profiler)

    path = interpreter.result(program)
    folder = interpreter.folder / "report"
    assert path == os.path.join("report", "profiling_report.json")
    assert sorted(file.name for file in folder.iterdir()) == [
        "memory_log.json",
        "profiling_report.json",
        "timing_summary.txt",
    ]
    report = json.loads((folder / "profiling_report.json").read_text())
    assert holds_to_the_schema(report)
    assert report["iteration_stats"]["count"] == 3
    assert [row["label"] for row in report["memory_snapshots"]] == ["step 0", "step 1", "step 2"]
    assert report["data_quality"]["open_sections"][0]["path"] == ["still open"]


def test_report_of_a_process_that_recorded_nothing_holds_to_the_schema(interpreter: Interpreter) -> None:
    def program():
        import marey

        marey.export_profiling_report("report")

    for env in ({}, {"MAREY_ENABLED": "0"}):
        interpreter.result(program, env=env)
        report = json.loads((interpreter.folder / "report" / "profiling_report.json").read_text())
        assert holds_to_the_schema(report)
        assert report["timing_stats"] == {}
        assert report["iteration_stats"] == {}
        assert report["memory_snapshots"] == []


def test_folder_that_cannot_be_written_is_an_error_of_marey(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(marey.Error, match="file"):
        marey.export_profiling_report(tmp_path / "file")
    with pytest.raises(marey.Error):
        marey.export_profiling_report("/proc/nowhere")


def test_start_into_a_folder_that_cannot_be_made_is_an_error_and_the_program_records_on(
    interpreter: Interpreter,
) -> None:
    def program():
        from pathlib import Path

        import marey

        Path("file").write_text("in the way")
        try:
            marey.start("file")
        except marey.CaptureError as error:
            message = str(error)
            is_error = isinstance(error, marey.Error)
        with marey.profile_section("a"):
            pass
        return message, is_error, marey.get_global_stats().get_stats("a").get("count")

    message, is_error, count = interpreter.result(program)
    assert "file" in message
    assert is_error
    assert count == 1


def test_second_start_joins_the_first_and_stop_names_the_capture(interpreter: Interpreter) -> None:
    def program():
        import marey

        with marey.profile_section("in memory"):
            pass
        first = marey.start("out", job_id="job")
        second = marey.start("out")
        with marey.profile_section("in the file"):
            pass
        capture = marey.stop()
        return str(first), first == second, str(capture), marey.stop() is None

    first, is_same, capture, is_stopped = interpreter.result(program)
    assert Path(first).name == "job"
    assert is_same
    assert is_stopped
    report = read_capture(interpreter.folder / capture)
    assert list(report["timing_stats"]) != []
    assert set(report["timing_stats"]) == {"in memory", "in the file"}


def test_report_without_a_folder_is_of_the_newest_recording(interpreter: Interpreter) -> None:
    for name in ("first", "second"):
        finished = interpreter.run(f"import marey\nmarey.start()\nwith marey.profile_section('{name}'): pass\n")
        assert (finished.returncode, finished.stderr) == (0, "")
    shown = subprocess.run(
        [sys.executable, "-m", "marey", "report", "--format", "json"],
        cwd=interpreter.folder,
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )
    assert shown.returncode == 0, shown.stderr
    assert list(json.loads(shown.stdout)["timing_stats"]) == ["second"]
