"""Sections in asyncio tasks and copied contexts: durations, parents and self times where stacks interleave."""

from __future__ import annotations

import sys

import pytest

from interpreter import Interpreter, has_no_negative_self_time, paths_of, read_capture


def test_tasks_that_share_an_object_have_their_own_durations(either: Interpreter) -> None:
    def program():
        import asyncio
        import time

        import marey

        marey.start("out")
        shared = marey.profile_section("shared")

        async def task(i, seen):
            with marey.profile_section(f"task {i}"):
                before = time.perf_counter()
                with shared:
                    begin = time.perf_counter()
                    await asyncio.sleep(0.02 * (i + 1))
                    inside = time.perf_counter() - begin
                seen.append((inside, time.perf_counter() - before))
                with marey.profile_section("after"):
                    pass

        async def main():
            seen = []
            await asyncio.gather(*(task(i, seen) for i in range(3)))
            return seen

        seen = asyncio.run(main())
        row = marey.get_global_stats().get_stats("shared")
        return seen, row["total"], row["min"], row["max"]

    seen, total, shortest, longest = either.result(program)
    inside, around = zip(*seen, strict=True)
    assert sum(inside) <= total <= sum(around)
    assert min(inside) <= shortest <= min(around)
    assert max(inside) <= longest <= max(around)
    assert paths_of(read_capture(either.folder / "out")) == {
        path: 1 for i in range(3) for path in (f"task {i}", f"task {i} > shared", f"task {i} > after")
    }


WAYS_TO_START = {
    "gather": "await asyncio.gather(child(1), child(2))",
    "create_task": "await asyncio.wait([asyncio.create_task(child(i)) for i in (1, 2)])",
    "to_thread": "await asyncio.gather(asyncio.to_thread(work, 1), asyncio.to_thread(work, 2))",
    "awaited directly": "await child(1); await child(2)",
    "wait_for": "await asyncio.wait_for(child(1), 60); await asyncio.wait_for(child(2), 60)",
    "call_soon": (
        "done = asyncio.Event(); loop = asyncio.get_running_loop(); "
        "loop.call_soon(work, 1); loop.call_soon(work, 2); loop.call_soon(done.set); await done.wait()"
    ),
}
if sys.version_info >= (3, 11):
    WAYS_TO_START["TaskGroup"] = """
        async with asyncio.TaskGroup() as group:
            group.create_task(child(1)); group.create_task(child(2))"""


@pytest.mark.parametrize("way", WAYS_TO_START)
def test_child_belongs_to_the_section_that_started_it(either: Interpreter, way: str) -> None:
    start = WAYS_TO_START[way].strip().replace("\n", "\n    ")
    finished = either.run(f"""
import asyncio, marey
marey.start("out")

def work(i):
    with marey.profile_section(f"child {{i}}"), marey.profile_section("leaf"):
        pass

async def child(i):
    with marey.profile_section(f"child {{i}}"):
        await asyncio.sleep(0.001 * i)
        with marey.profile_section("leaf"):
            await asyncio.sleep(0.002)

async def main():
    with marey.profile_section("request"):
        {start}
        with marey.profile_section("after"):
            pass

with marey.profile_section("program"):
    asyncio.run(main())
with marey.profile_section("end"):
    pass
""")
    assert (finished.returncode, finished.stderr) == (0, "")
    report = read_capture(finished.captures[0])
    assert paths_of(report) == {
        "program": 1,
        "program > request": 1,
        "program > request > child 1": 1,
        "program > request > child 1 > leaf": 1,
        "program > request > child 2": 1,
        "program > request > child 2 > leaf": 1,
        "program > request > after": 1,
        "end": 1,
    }
    assert has_no_negative_self_time(report)


def test_section_in_an_executor_has_no_parent_because_nobody_knows_it(interpreter: Interpreter) -> None:
    def program():
        import asyncio

        import marey

        marey.start("out")

        def work():
            with marey.profile_section("in the executor"):
                pass

        async def main():
            with marey.profile_section("request"):
                await asyncio.get_running_loop().run_in_executor(None, work)

        asyncio.run(main())

    interpreter.result(program)
    assert paths_of(read_capture(interpreter.folder / "out")) == {"request": 1, "in the executor": 1}


def test_event_loop_in_another_thread_is_a_flow_of_its_own(interpreter: Interpreter) -> None:
    def program():
        import asyncio
        import threading

        import marey

        marey.start("out")

        async def inner():
            with marey.profile_section("inner"):
                await asyncio.sleep(0)

        async def main():
            with marey.profile_section("outer"):
                thread = threading.Thread(target=asyncio.run, args=(inner(),))
                thread.start()
                await asyncio.to_thread(thread.join)

        asyncio.run(main())
        with marey.profile_section("after"):
            asyncio.run(inner())

    interpreter.result(program)
    assert paths_of(read_capture(interpreter.folder / "out")) == {
        "outer": 1,
        "inner": 1,
        "after": 1,
        "after > inner": 1,
    }


def test_loop_run_inside_a_loop_goes_under_the_section_around_it(interpreter: Interpreter) -> None:
    def program():
        import asyncio

        import marey

        marey.start("out")

        async def inner():
            with marey.profile_section("inner"):
                await asyncio.sleep(0)

        async def main():
            with marey.profile_section("outer"):
                running = asyncio.get_running_loop()
                asyncio._set_running_loop(None)
                loop = asyncio.new_event_loop()
                try:
                    loop.run_until_complete(inner())
                finally:
                    loop.close()
                    asyncio._set_running_loop(running)
                with marey.profile_section("after"):
                    pass

        asyncio.run(main())

    interpreter.result(program)
    paths = paths_of(read_capture(interpreter.folder / "out"))
    assert paths == {"outer": 1, "outer > inner": 1, "outer > after": 1}


def test_copied_context_goes_under_the_section_around_it(interpreter: Interpreter) -> None:
    def program():
        import contextvars

        import marey

        marey.start("out")
        user_variable = contextvars.ContextVar("user")
        user_variable.set(1)

        def work():
            with marey.profile_section("inner"):
                contextvars.copy_context().run(leaf)

        def leaf():
            with marey.profile_section("leaf"):
                pass

        with marey.profile_section("outer"):
            contextvars.copy_context().run(work)
            with marey.profile_section("after"):
                pass
        contextvars.copy_context().run(work)
        with marey.profile_section("end"):
            pass

    interpreter.result(program)
    assert paths_of(read_capture(interpreter.folder / "out")) == {
        "outer": 1,
        "outer > inner": 1,
        "outer > inner > leaf": 1,
        "outer > after": 1,
        "inner": 1,
        "inner > leaf": 1,
        "end": 1,
    }


def test_what_returns_before_its_caller_goes_on_is_under_it_and_not_beside(either: Interpreter) -> None:
    """Web frameworks call handlers like this; nothing of it can be suspended, so its time is its caller's."""

    def program():
        import asyncio
        import contextvars
        import threading

        import marey

        def handler(name):
            with marey.profile_section(name), marey.profile_section(name + " inner"):
                pass

        def in_thread():
            contextvars.Context().run(handler, "of a thread")

        async def task():
            # The task may be suspended, and with it whatever it calls.
            contextvars.copy_context().run(handler, "of a task")
            asyncio.get_running_loop().call_soon(handler, "callback")
            await asyncio.sleep(0)

        class Turn:
            def __await__(self):
                yield

        async def of_another_library(name):
            with marey.profile_section(name):
                await Turn()

        marey.start("out")
        with marey.profile_section("outer"):
            contextvars.copy_context().run(handler, "of a handler")
            asyncio.run(task())
            turns = [(contextvars.copy_context(), of_another_library(name)) for name in ("first", "second")]
            for _ in range(2):
                for context, turn in turns:
                    try:
                        context.run(turn.send, None)
                    except StopIteration:
                        pass
        thread = threading.Thread(target=in_thread)
        thread.start()
        thread.join()

    either.result(program)
    report = read_capture(either.folder / "out")
    assert paths_of(report, "is_detached") == {
        "outer": False,
        "outer > of a handler": False,
        "outer > of a handler > of a handler inner": False,
        "outer > of a task": True,
        "outer > of a task > of a task inner": False,
        "outer > callback": True,
        "outer > callback > callback inner": False,
        "outer > first": True,
        "outer > second": True,
        "of a thread": False,
        "of a thread > of a thread inner": False,
    }


def test_recording_leaves_the_context_of_the_program_alone(interpreter: Interpreter) -> None:
    def program():
        import asyncio
        import contextvars

        import marey

        variable = contextvars.ContextVar("user", default="unset")

        async def task(i):
            variable.set(i)
            with marey.profile_section("step"):
                await asyncio.sleep(0)
                return variable.get()

        async def main():
            with marey.profile_section("all"):
                return await asyncio.gather(*(task(i) for i in range(5)))

        return asyncio.run(main()), variable.get()

    assert interpreter.result(program) == [[0, 1, 2, 3, 4], "unset"]


def test_task_that_outlives_its_parent_section_is_still_under_it(either: Interpreter) -> None:
    def program():
        import asyncio

        import marey

        marey.start("out")

        async def child(go):
            await go.wait()
            with marey.profile_section("late"):
                pass

        async def main():
            go = asyncio.Event()
            with marey.profile_section("request"):
                running = asyncio.create_task(child(go))
            with marey.profile_section("next"):
                go.set()
                await running

        asyncio.run(main())

    either.result(program)
    report = read_capture(either.folder / "out")
    assert set(paths_of(report)) in ({"request", "next", "late"}, {"request", "request > late", "next"})
    assert has_no_negative_self_time(report)


def test_what_a_task_hands_on_belongs_to_its_session(interpreter: Interpreter) -> None:
    """Two requests at once: child tasks, ``to_thread``, events and cache decisions have their makers' session."""

    def program() -> None:
        import asyncio

        import marey

        caches = marey.CacheEventRecorder()

        def blocking(name: str) -> None:
            with marey.profile_section("thread-" + name), marey.profile_section("within-" + name):
                pass

        async def sub(name: str) -> None:
            with marey.profile_section("sub-" + name):
                await asyncio.sleep(0)
                marey.event("seen-" + name)
                caches.record_hit("cache-" + name)

        async def request(name: str, mine: asyncio.Event, other: asyncio.Event) -> None:
            with marey.session(name):
                with marey.profile_section("own-" + name):
                    mine.set()
                    await other.wait()
                marey.event("own-" + name)
                await asyncio.gather(sub(name), sub(name), asyncio.to_thread(blocking, name))
                other.clear()
                while mine.is_set():
                    await asyncio.sleep(0)

        async def main() -> None:
            a, b = asyncio.Event(), asyncio.Event()
            await asyncio.gather(request("A", a, b), request("B", b, a))

        marey.start("out", job_id="job")
        asyncio.run(main())

    finished = interpreter.run(program)
    assert finished.returncode == 0, finished.stderr
    report = read_capture(finished.captures[0])
    of_sessions = {session["name"]: session for session in report["sessions"]}
    for name in ("A", "B"):
        session = of_sessions[name]
        counts = {path: row["call_count"] for path, row in session["stage_analysis"]["stages"].items()}
        assert counts == {f"own-{name}": 1, f"sub-{name}": 2, f"thread-{name}": 1, f"within-{name}": 1}
        assert sorted(event["name"] for event in session["events"]) == sorted(
            [f"own-{name}", f"seen-{name}", f"seen-{name}"]
        )
        caches = session["cache_analysis"]["caches"]
        assert {cache: found["hits"] for cache, found in caches.items()} == {f"cache-{name}": 2}
