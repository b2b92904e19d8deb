"""Sessions under hostile use: `marey.session`, scopes that are shared, endings in odd places, very many of them."""

from __future__ import annotations

import json

from capture_records import recorded
from interpreter import Interpreter, read_capture
from test_profiler_sessions import named, stages


def test_sessions_of_the_process_nest_and_are_those_of_the_decorators(interpreter: Interpreter) -> None:
    def program():
        import marey
        from marey.decorators import profile_method, profile_session

        class Pipeline:
            @profile_method("load")
            def load(self):
                pass

            @profile_session("run")
            def run(self):
                self.load()

        marey.start("out")
        with marey.session("outer", {"a": 1}, b=2):
            with marey.session("inner"):
                Pipeline().load()
            Pipeline().run()
        Pipeline().load()

    records = recorded(interpreter.run(program))
    assert named(records) == [("outer", None), ("inner", "outer"), ("run", "outer")]
    assert records["sessions"][0]["tags"] == {"a": 1, "b": 2}
    assert stages(records) == [("load", "inner"), ("load", "run"), ("load", None)]


def test_how_a_session_ended(interpreter: Interpreter) -> None:
    """An error fails it; what only stops it (Ctrl-C, a cancelled task, the end of the program) cuts it off."""

    def program():
        import asyncio
        import contextlib

        import marey
        from marey.decorators import profile_session

        profiler = marey.Profiler(enabled=True, output_dir="out")

        def leave(name, error):
            with contextlib.suppress(BaseException), profiler.session(name):
                if error:
                    raise error

        leave("done", None)
        leave("error", ValueError())
        leave("Ctrl-C", KeyboardInterrupt())

        async def cancelled():
            with profiler.session("cancelled"):
                await asyncio.sleep(60)

        async def main():
            task = asyncio.create_task(cancelled())
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        asyncio.run(main())

        @profile_session("generator")
        def generator(fails):
            yield 1
            if fails:
                raise ValueError

        for fails in (False, True):
            with contextlib.suppress(ValueError):
                list(generator(fails))
        profiler.start_session("ended by its id")
        profiler.start_session("forgotten in it")
        profiler.end_session("ended by its id")
        profiler.start_session("never ended")
        marey.stop()

    finished = interpreter.run(program)
    assert finished.returncode == 0, finished.stderr
    sessions = read_capture(finished.captures[0])["sessions"]
    outcomes = [(session["name"], session["outcome"]) for session in sessions]
    assert outcomes == [
        ("done", "done"),
        ("error", "failed"),
        ("Ctrl-C", "cut_off"),
        ("cancelled", "cut_off"),
        ("generator", "done"),
        ("generator", "failed"),
        ("ended by its id", "done"),
        ("forgotten in it", "cut_off"),
        ("never ended", "cut_off"),
    ]


def test_one_scope_that_several_threads_enter_ends_the_session_of_each(interpreter: Interpreter) -> None:
    def program():
        import threading

        import marey

        marey.start("out")
        kept = marey.session("shared")
        entered, left = threading.Barrier(2), threading.Event()

        def leaves():
            with kept:
                entered.wait()
            left.set()

        def outlives():
            with kept:
                entered.wait()
                left.wait()
                marey.event("still open", is_open=True)
                with marey.session("nested"):
                    pass

        threads = [threading.Thread(target=target) for target in (outlives, leaves)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    records = recorded(interpreter.run(program))
    assert [name for name, _ in named(records)] == ["shared", "shared", "nested"]
    assert dict(named(records))["nested"] == "shared"
    by_thread = {s["thread"]: s for s in records["sessions"] if s["name"] == "shared"}
    (nested,) = [s for s in records["sessions"] if s["name"] == "nested"]
    outer = by_thread[nested["thread"]]
    (other,) = [s for thread, s in by_thread.items() if thread != nested["thread"]]
    assert other["end_ns"] <= nested["start_ns"] <= nested["end_ns"] <= outer["end_ns"]


def test_a_scope_may_be_left_more_often_than_entered_and_ended_by_other_means(interpreter: Interpreter) -> None:
    def program():
        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False)
        scope = profiler.session("a")
        scope.__exit__(None, None, None)
        with scope:
            with scope:
                assert profiler.end_session() == "a"
            assert profiler.open_sessions == ["a"]
        with scope, profiler.session("b"):
            profiler.cleanup()
            with profiler.stage("after"):
                pass
        scope.__exit__(None, None, None)
        return profiler.open_sessions

    finished = interpreter.run(program)
    assert finished.result == [], finished.stderr
    records = recorded(finished)
    assert named(records) == [("a", None), ("a", "a"), ("a", None), ("b", "a")]
    assert stages(records) == [("after", None)]


def test_a_generator_that_is_closed_elsewhere_ends_its_session_and_no_other(interpreter: Interpreter) -> None:
    def program():
        import threading

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False)

        def frames():
            with profiler.session("frames"):
                yield 1
                yield 2

        running = frames()
        next(running)
        with profiler.session("outer"):
            running.close()
            with profiler.stage("in outer"):
                pass
        running = frames()
        next(running)
        thread = threading.Thread(target=running.close)
        thread.start()
        thread.join()
        with profiler.stage("after"):
            pass
        return profiler.open_sessions

    finished = interpreter.run(program)
    assert finished.result == [], finished.stderr
    records = recorded(finished)
    assert stages(records) == [("in outer", "outer"), ("after", None)]
    assert all(session["end_ns"] is not None for session in records["sessions"])


def test_a_profiler_that_nobody_holds_any_more_ends_its_sessions_and_its_display(interpreter: Interpreter) -> None:
    def program():
        import gc
        import threading

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out")
        profiler.start_session("left open")
        (display,) = [thread for thread in threading.enumerate() if thread.name == "marey-display"]
        del profiler
        gc.collect()
        display.join(60)
        marey.event("after")
        return display.is_alive()

    finished = interpreter.run(program)
    assert finished.result is False, finished.stderr
    (session,) = recorded(finished)["sessions"]
    assert session["end_ns"] is not None


def test_ctrl_c_at_any_moment_leaves_no_session_that_cannot_be_ended(interpreter: Interpreter) -> None:
    def program():
        import sys

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False)

        def interrupted(at):
            """A trace function that interrupts before one line or instruction, where Python handles signals, too."""
            n = 0

            def trace(frame, event, argument):
                nonlocal n
                frame.f_trace_opcodes = True
                n += event in ("line", "opcode")
                if n == at:
                    sys.settrace(None)
                    raise KeyboardInterrupt
                return trace

            return trace

        def work(name):
            profiler.start_session(name)
            with profiler.stage("work"):
                pass
            profiler.end_session()

        work("imports what it needs; Python itself leaves an import that is interrupted half done")
        n_interrupts = 0
        is_whole = False
        while not is_whole:
            sys.settrace(interrupted(n_interrupts + 1))
            try:
                work(f"{n_interrupts}")
                is_whole = True
            except KeyboardInterrupt:
                n_interrupts += 1
            finally:
                sys.settrace(None)
        while profiler.end_session() is not None:
            pass
        with profiler.session("last"), profiler.stage("last"):
            pass
        return n_interrupts, profiler.open_sessions

    finished = interpreter.run(program)
    n_interrupts, still_open = finished.result
    # Before each of the four lines of `work`, and before their instructions where Python tells of them.
    assert (n_interrupts >= 4, still_open) == (True, []), finished.stderr
    records = recorded(finished)
    assert records["losses"]["notes_dropped"] == 0
    assert all(session["end_ns"] is not None for session in records["sessions"])
    assert stages(records)[-1] == ("last", "last")


def test_a_thousand_sessions_have_a_report_each(interpreter: Interpreter) -> None:
    def program():
        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False)
        for number in range(1000):
            with profiler.session("clip"), profiler.stage(f"stage {number % 10}"):
                pass
        return str(marey.stop().parent)

    job = interpreter.folder / interpreter.result(program, env={"MAREY_NOTE_BYTES": str(16 << 20)})
    reports = sorted(job.glob("sessions/*/profiling_report.json"))
    assert len(reports) == 1000
    for name, stage in {"clip": 0, "clip-2": 1, "clip-1000": 9}.items():
        report = json.loads((job / "sessions" / name / "profiling_report.json").read_text())
        assert list(report["timing_stats"]) == [f"stage {stage}"]


def test_what_the_programs_own_objects_raise_stays_with_us(interpreter: Interpreter) -> None:
    def program():
        import marey

        class Refuses(dict):
            def keys(self):
                raise RuntimeError("mine")

            __iter__ = items = __bool__ = keys

        marey.start("out")
        with marey.session("tags", Refuses(a=1)):
            marey.CacheEventRecorder().record_hit("cache", meta=Refuses(a=1))
            with marey.profile_section("section", enabled=Refuses(), sync=Refuses()):
                pass

    records = recorded(interpreter.run(program))
    assert [session["name"] for session in records["sessions"]] == ["tags"]
    assert [section["name"] for section in records["sections"]] == ["section"]
    assert len(records["cache_events"]) == 1


def test_counters_belong_to_the_session_that_they_are_given_in(interpreter: Interpreter) -> None:
    """Two tasks of one thread, and two threads, each with a session, all at the same time."""

    def program():
        import asyncio
        import threading

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False)

        async def task(name):
            with profiler.session(name):
                for value in range(3):
                    marey.counter(name, value)
                    await asyncio.sleep(0)

        async def tasks():
            await asyncio.gather(task("a"), task("b"))

        def work(name):
            with profiler.session(name):
                for value in range(3):
                    both.wait()
                    marey.counter(name, value)

        both = threading.Barrier(2)
        threads = [threading.Thread(target=work, args=(name,)) for name in "cd"]
        for thread in threads:
            thread.start()
        asyncio.run(tasks())
        for thread in threads:
            thread.join()

    finished = interpreter.run(program)
    folder = finished.captures[0].parent / "sessions"
    for name in "abcd":
        counters = json.loads((folder / name / "profiling_report.json").read_text())["counters"]
        assert {key: [counter["count"], counter["last"]] for key, counter in counters.items()} == {name: [3, 2.0]}


def test_lone_surrogates_in_names_and_tags_are_replaced_and_nothing_is_raised(interpreter: Interpreter) -> None:
    def program():
        import marey
        from marey.decorators import profile_method

        bad = "a\ud800"
        marey.start(output_dir="out", job_id="job")
        config = marey.ProfilingConfig(enabled=True, output_dir="out", session_tags={bad: bad, "b": "x"})
        profiler = marey.Profiler(config)
        with profiler.session(bad, {bad: bad}), profiler.stage(bad, {bad: [bad]}), marey.session(bad, **{bad: bad}):
            marey.event(bad, **{bad: bad})
            marey.counter(bad, 1)
        for decorate in (marey.profile_function(bad), profile_method(bad), marey.profile_section(bad, **{bad: bad})):
            decorate(lambda: None)()
        recorder = marey.CacheEventRecorder()
        recorder.record_hit(bad, meta={bad: bad})
        try:
            recorder.record_event("c", kind=bad)
        except ValueError as error:
            said = str(error)
        marey.MemoryTracker(enabled=True).snapshot(bad)
        with marey.IterationProfiler(bad).iteration():
            pass
        profiler.record_model_parameters(bad, model_type=bad)
        profiler.end_session(profiler.start_session(bad))
        return dict(config.session_tags), said, marey.get_global_stats().get_stats(bad)["count"]

    tags, said, count = interpreter.result(program)
    # One for each byte of the surrogate.
    assert tags == {"a\ufffd\ufffd\ufffd": "a\ufffd\ufffd\ufffd", "b": "x"}
    assert said == "outcome must be 'hit', 'miss', 'eviction' or 'lookup', not \"a\ufffd\ufffd\ufffd\""
    assert count == 4
