"""Sessions and stages of `marey.Profiler`: nested, at the same time, in threads and tasks, with any id."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capture_records import of_kind, recorded, recorded_in
from interpreter import Interpreter, read_capture


def named(records: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Each session with the one that it is nested in."""
    sessions = records["sessions"]
    return [(s["name"], None if s["parent"] is None else sessions[s["parent"]]["name"]) for s in sessions]


def stages(records: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Each section with the session that it was opened for."""
    sessions = records["sessions"]
    rows = records["sections"]
    return [(row["name"], None if row["session"] is None else sessions[row["session"]]["name"]) for row in rows]


def test_a_second_session_nests_in_the_first(interpreter: Interpreter) -> None:
    def program():
        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out")
        assert profiler.start_session("outer", {"mode": "t2v"}) == "outer"
        with profiler.stage("a"):
            pass
        profiler.start_session("inner")
        with profiler.stage("b", {"block": 1}):
            pass
        ended = [profiler.end_session()]
        with profiler.stage("c"):
            pass
        ended += [profiler.end_session(), profiler.end_session()]
        with profiler.stage("d"):
            pass
        return ended

    finished = interpreter.run(program)
    assert finished.result == ["inner", "outer", None]
    records = recorded(finished)
    assert named(records) == [("outer", None), ("inner", "outer")]
    assert stages(records) == [("a", "outer"), ("b", "inner"), ("c", "outer"), ("d", None)]
    assert records["sections"][1]["attributes"] == {"block": 1}
    outer, inner = records["sessions"]
    assert outer["tags"] == {"mode": "t2v"}
    assert outer["start_ns"] <= inner["start_ns"] <= inner["end_ns"] <= outer["end_ns"]


def test_what_is_outside_of_a_session_is_recorded_and_belongs_to_none(interpreter: Interpreter) -> None:
    def program():
        import marey

        with marey.Profiler(enabled=True, output_dir="out") as profiler:
            with profiler.stage("pipeline_initialization"):
                profiler.add_event("loaded")
            profiler.record_diffusion_step(0, 0.5, 1, 2.0)

    records = recorded(interpreter.run(program))
    assert stages(records) == [("pipeline_initialization", None)]
    assert [(event["name"], event["session"]) for event in records["events"]] == [("loaded", None)]
    assert of_kind(records, "step")[0]["session"] is None


def test_any_id_is_an_id_and_repeated_ids_are_sessions_of_their_own(interpreter: Interpreter) -> None:
    def program():
        import marey

        class Hostile:
            def __str__(self):
                raise RuntimeError("no str")

            __repr__ = __str__

        ids = [
            "",
            "../x",
            "\x1b[2J",
            "</script>",
            "x" * 10_240,
            "\ud800",
            7,
            None,
            None,
            Hostile(),
            "same",
            "same",
            ("a", 1),
        ]
        profiler = marey.Profiler(enabled=True, output_dir="out")
        given = []
        for number, session_id in enumerate(ids):
            text = profiler.start_session(session_id, {"number": number})
            with profiler.stage("work"):
                pass
            assert profiler.end_session(text if number % 2 else session_id) == text
            given.append(text)
        with profiler.session() as made_up:
            given.append(made_up)
        return given

    finished = interpreter.run(program)
    given = finished.result
    assert given[:5] == ["", "../x", "\x1b[2J", "</script>", "x" * 10_240]
    assert given[6] == "7"
    assert given[9:13] == ["Hostile", "same", "same", "('a', 1)"]
    made_up = [given[7], given[8], given[13]]
    assert len(set(made_up)) == 3
    assert all(text.isascii() and text.replace("_", "").isalnum() for text in made_up)
    records = recorded(finished)
    assert [session["tags"].get("number") for session in records["sessions"]] == [*range(13), None]
    assert [row["session"] for row in records["sections"]] == list(range(13))
    assert all(session["parent"] is None and session["end_ns"] is not None for session in records["sessions"])


def test_a_session_ended_inside_a_stage_hides_no_exception(either: Interpreter) -> None:
    def program():
        import asyncio

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out")
        seen = []
        for kind in (ValueError, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError, SystemExit):
            error = kind("mine")
            try:
                profiler.start_session("s")
                with profiler.stage("x"):
                    profiler.end_session()
                    raise error
            except BaseException as caught:
                seen.append(caught is error and caught.__context__ is None)
            try:
                with profiler.session("t"), profiler.stage("y"):
                    profiler.end_session()
                    profiler.end_session()
                    profiler.cleanup()
                    raise error
            except BaseException as caught:
                seen.append(caught is error and caught.__context__ is None)
        return seen

    finished = either.run(program)
    assert finished.result == [True] * 10
    records = recorded(finished)
    assert [row["is_failed"] for row in records["sections"]] == [True, True, True, True, False, False] + [True] * 4
    assert stages(records) == [("x", "s"), ("y", "t")] * 5


def test_ending_an_outer_session_ends_what_an_exception_left_open_in_it(interpreter: Interpreter) -> None:
    def program():
        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out")
        try:
            with profiler.session("outer"):
                profiler.start_session("forgotten")
                raise ValueError
        except ValueError:
            pass
        with profiler.session("next"), profiler.stage("x"):
            return profiler.get_current_metrics()["sessions"]

    finished = interpreter.run(program)
    assert finished.result == ["next"]
    records = recorded(finished)
    assert named(records) == [("outer", None), ("forgotten", "outer"), ("next", None)]
    assert all(session["end_ns"] is not None for session in records["sessions"])
    assert stages(records) == [("x", "next")]


def test_threads_keep_their_sessions_apart(interpreter: Interpreter) -> None:
    def program():
        import threading

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out")
        n_threads, barrier = 8, threading.Barrier(8)

        def generate(number):
            for turn in range(20):
                with profiler.session(f"{number}", {"turn": turn}):
                    barrier.wait()
                    with profiler.stage(f"stage {number}"):
                        barrier.wait()
                        profiler.add_event(f"event {number}")
                        profiler.record_diffusion_step(step=number)

        threads = [threading.Thread(target=generate, args=(n,)) for n in range(n_threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    records = recorded(interpreter.run(program))
    sessions = records["sessions"]
    assert len(sessions) == 160
    assert all(session["parent"] is None and session["flow"] == 0 for session in sessions)
    assert [row["name"] for row in records["sections"]] == [
        f"stage {sessions[row['session']]['name']}" for row in records["sections"]
    ]
    assert all(row["thread"] == sessions[row["session"]]["thread"] for row in records["sections"])
    assert sorted({row["session"] for row in records["sections"]}) == list(range(160))
    assert all(event["name"] == f"event {sessions[event['session']]['name']}" for event in records["events"])
    assert all(str(row["step"]) == sessions[row["session"]]["name"] for row in of_kind(records, "step"))


def test_a_bare_thread_belongs_to_the_only_open_session(interpreter: Interpreter) -> None:
    def program():
        import threading

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out")
        other = marey.Profiler(enabled=True)

        def in_thread(work):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()

        def stage(name):
            with profiler.stage(name):
                pass

        in_thread(lambda: stage("none open"))
        with profiler.session("one"):
            in_thread(lambda: stage("one open"))
            with profiler.session("inside"):
                in_thread(lambda: stage("one in the other"))
            with other.session("another profiler's"):
                in_thread(lambda: stage("of another profiler"))

            def beside():
                with profiler.session("beside"):
                    in_thread(lambda: stage("two open"))
                stage("had one itself")

            in_thread(beside)

    records = recorded(interpreter.run(program))
    assert dict(stages(records)) == {
        "none open": None,
        "one open": "one",
        "one in the other": "inside",
        "of another profiler": "one",
        "two open": "beside",
        "had one itself": "one",
    }
    assert dict(named(records))["beside"] == "one"


def test_asyncio_tasks_keep_their_sessions_apart(interpreter: Interpreter) -> None:
    def program():
        import asyncio

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out")

        async def generate(name, started, other):
            with profiler.session(name):
                started.set()
                await other.wait()
                with profiler.stage(f"{name} stage"):
                    await asyncio.sleep(0)
                    with marey.profile_section(f"{name} section"):
                        await asyncio.sleep(0)
                await asyncio.create_task(child(name))

        async def child(name):
            with profiler.stage(f"{name} child"):
                await asyncio.sleep(0)

        async def bystander(started):
            await started.wait()
            with profiler.stage("bystander"):
                pass

        async def main():
            a, b = asyncio.Event(), asyncio.Event()
            await asyncio.gather(generate("a", a, b), bystander(a), generate("b", b, a))
            with profiler.stage("after"):
                pass

        asyncio.run(main())

    records = recorded(interpreter.run(program))
    found = dict(stages(records))
    assert found == {
        "a stage": "a",
        "b stage": "b",
        "a section": "a",
        "b section": "b",
        "a child": "a",
        "b child": "b",
        "bystander": None,
        "after": None,
    }
    flows = {session["name"]: session["flow"] for session in records["sessions"]}
    assert len({0, *flows.values()}) == 3
    for row in records["sections"]:
        if row["name"].endswith((" stage", " section")):
            assert row["flow"] == flows[row["name"][0]]


def test_a_task_that_outlives_its_session_still_works_for_it(interpreter: Interpreter) -> None:
    def program():
        import asyncio

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out")

        async def late(over):
            await over.wait()
            with profiler.stage("late"):
                pass

        async def main():
            over = asyncio.Event()
            with profiler.session("outer"):
                with profiler.session("inner"):
                    task = asyncio.create_task(late(over))
                    await asyncio.sleep(0)
                over.set()
                await task

        asyncio.run(main())

    assert stages(recorded(interpreter.run(program))) == [("late", "inner")]


def test_a_session_can_be_ended_by_another_thread_and_by_its_id(interpreter: Interpreter) -> None:
    def program():
        import threading

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out")
        ended = []
        profiler.start_session("a")
        thread = threading.Thread(target=lambda: ended.append(profiler.end_session()))
        thread.start()
        thread.join()
        with profiler.stage("after a"):
            pass
        profiler.start_session("b")
        profiler.start_session("c")
        ended.append(profiler.end_session("unknown"))
        ended.append(profiler.end_session("b"))
        with profiler.stage("after b"):
            pass
        ended.append(profiler.end_session("c"))
        return ended

    finished = interpreter.run(program)
    assert finished.result == ["a", None, "b", None]
    assert stages(recorded(finished)) == [("after a", None), ("after b", None)]


def test_the_only_open_session_is_not_said_with_each_stage_and_known_all_the_same(interpreter: Interpreter) -> None:
    def program():
        import threading

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out")

        def stage(name, session):
            return profiler.stage(f"{name} of {session}")

        with profiler.session("alone"):
            for _ in range(3000):
                with stage("plain", "alone"), stage("inner", "alone"):
                    pass
            with profiler.session("nested"), stage("plain", "nested"):
                pass
            with stage("after the nested one", "alone"):
                pass
        begun, seen, may_begin = threading.Event(), threading.Event(), threading.Event()

        def beside():
            may_begin.wait()
            with profiler.session("beside"):
                begun.set()
                with stage("plain", "beside"):
                    seen.wait()

        # A thread that was started in it would be of the session.
        thread = threading.Thread(target=beside)
        thread.start()
        with profiler.session("overtaken"), stage("begun alone", "overtaken"):
            may_begin.set()
            begun.wait()
            with stage("plain", "overtaken"):
                pass
            seen.set()
            thread.join()
        profiler.start_session("ended inside")
        with stage("outlives it", "ended inside"):
            profiler.end_session("ended inside")
        with profiler.session("early"):
            made = stage("made early, entered late", "early")
        with profiler.session("late"), made, stage("plain", "late"):
            pass

    finished = interpreter.run(program)
    found = recorded(finished)
    n_of = {"alone": 6001, "nested": 1, "overtaken": 2, "beside": 1, "ended inside": 1, "early": 1, "late": 1}
    assert {name: sum(row[0].endswith(f" of {name}") for row in stages(found)) for name in n_of} == n_of
    assert [row for row in stages(found) if not row[0].endswith(f" of {row[1]}")] == []
    (capture,) = {path.resolve() for path in finished.captures}
    assert capture.stat().st_size < 20 * 6000  # a note of each would have 40 bytes
    for session in read_capture(capture)["sessions"]:
        shown = {name: row["call_count"] for name, row in session["stage_analysis"]["stages"].items()}
        within = {"alone": ("alone", "nested")}.get(session["name"], (session["name"],))
        assert sum(shown.values()) == sum(n_of[name] for name in within), shown
        assert all(name.rsplit(" of ")[1] in within for name in shown), shown


def test_profilers_do_not_see_each_others_sessions(interpreter: Interpreter) -> None:
    def program():
        import marey

        one, two = marey.Profiler(enabled=True, output_dir="out"), marey.Profiler(enabled=True)
        with one.session("one"):
            with two.session("two"):
                with one.stage("of one"), two.stage("of two"):
                    pass
            assert two.end_session() is None
            with two.stage("two has none"):
                pass

    records = recorded(interpreter.run(program))
    assert named(records) == [("one", None), ("two", None)]
    assert stages(records) == [("of one", "one"), ("of two", "two"), ("two has none", "one")]  # lies within it


def test_sessions_of_a_parent_do_not_exist_in_a_child(interpreter: Interpreter) -> None:
    def program():
        import os

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out")
        with profiler.session("parent's"):
            pid = os.fork()
            if pid == 0:
                assert profiler.end_session() is None
                with profiler.stage("first"):
                    pass
                with profiler.session("child's"), profiler.stage("second"):
                    pass
                marey.stop()
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
            with profiler.stage("third"):
                pass

    finished = interpreter.run(program)
    assert finished.returncode == 0, finished.stderr
    by_name = {"child" in path.name: recorded_in(path) for path in finished.captures}
    assert stages(by_name[False]) == [("third", "parent's")]
    assert named(by_name[True]) == [("child's", None)]
    assert stages(by_name[True]) == [("first", None), ("second", "child's")]


def test_a_session_that_is_open_at_a_kill_is_open_in_the_capture(interpreter: Interpreter) -> None:
    def program():
        import os
        import signal

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out")
        profiler.start_session("killed", {"seed": 7})
        with profiler.stage("denoise"):
            os.kill(os.getpid(), signal.SIGKILL)

    finished = interpreter.run(program)
    assert finished.returncode == -9
    finished.returncode = 0
    sessions = recorded(finished)["sessions"]
    assert [(s["name"], s["tags"], s["end_ns"]) for s in sessions] == [("killed", {"seed": 7}, None)]


def test_ending_a_session_reads_and_writes_nothing_and_the_end_of_the_recording_writes_its_report(
    interpreter: Interpreter,
) -> None:
    def program():
        import os
        from pathlib import Path

        import marey

        def bytes_read_by_this_thread():
            return int(Path("/proc/thread-self/io").read_text().split()[1])

        profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False, save_raw_data=True)
        folder = os.path.realpath(os.path.join("out", "latest"))
        profiler.start_session("outer")
        profiler.start_session("inner")
        for number in range(2000):
            with profiler.stage("work", {"prompt": "x" * 1000, "number": number}):
                pass
        read = bytes_read_by_this_thread()
        profiler.end_session("outer")
        read = bytes_read_by_this_thread() - read
        before = [read < 1000, [name for name in os.listdir(folder) if not name.endswith(".marey")]]
        marey.stop()
        sessions = os.path.join(folder, "sessions")
        written = {name: sorted(os.listdir(os.path.join(sessions, name))) for name in os.listdir(sessions)}
        raw = sorted(name for name in os.listdir(folder) if name.startswith("raw"))
        return before, written, raw

    before, written, raw = interpreter.result(program)
    assert before == [True, []]
    documents = ["profiling_report.json", "report.html", "timing_summary.txt"]
    assert written == {"outer": documents, "inner": documents}
    assert raw == ["raw_profiling_data_inner.json", "raw_profiling_data_outer.json"]


def test_other_ranks_write_the_reports_of_their_sessions_beside_those_of_the_first(interpreter: Interpreter) -> None:
    def program():
        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False, report_format="json")
        with profiler.session("clip"), profiler.stage("work"):
            pass

    for rank in ("0", "1"):
        finished = interpreter.run(program, env={"RANK": rank, "WORLD_SIZE": "2", "MAREY_JOB_ID": "job"})
        assert (finished.returncode, finished.stderr) == (0, "")
    job = interpreter.folder / "out" / "job"
    for folder in (job, job / "rank1"):
        report = json.loads((folder / "sessions" / "clip" / "profiling_report.json").read_text())
        assert list(report["timing_stats"]) == ["work"]


@pytest.mark.parametrize(
    ("report_format", "expected"),
    [
        ("html", {"report.html"}),
        ("json", {"profiling_report.json"}),
        ("both", {"report.html", "profiling_report.json"}),
    ],
)
def test_the_report_format_decides_which_reports_are_written(
    interpreter: Interpreter, report_format: str, expected: set[str]
) -> None:
    def program(report_format: str):
        import os

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False, report_format=report_format)
        profiler.start_session("clip")
        with profiler.stage("work"):
            pass
        profiler.end_session("clip")
        marey.stop()
        reports = {"report.html", "profiling_report.json"}
        folders = ["out", "out/latest", "out/latest/sessions/clip"]
        return [sorted(reports & set(os.listdir(folder))) for folder in folders]

    assert interpreter.result(program, report_format) == [sorted(expected)] * 3
