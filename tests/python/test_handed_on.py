"""What threads and tasks of pools that a session starts record belongs to it, whatever other sessions there are."""

from __future__ import annotations

from typing import Any

import pytest

from capture_records import recorded
from interpreter import Interpreter, read_capture


def belonging(records: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Each section with the session that readers put it into."""
    sessions: dict[int | None, str | None] = {None: None}
    sessions |= {place: session["name"] for place, session in enumerate(records["sessions"])}
    return [(row["name"], sessions[row["belongs_to"]]) for row in records["sections"]]


def test_threads_and_tasks_of_pools_are_of_the_session_that_started_them(interpreter: Interpreter) -> None:
    """Two sessions at once, each in a thread of its own, and one pool for both, whose workers the first one made."""

    def program():
        import asyncio
        import concurrent.futures
        import threading

        import marey

        def work(name):
            with marey.profile_section(name), marey.profile_section(name + " inner"):
                marey.event(name)

        class Own(threading.Thread):
            def run(self):
                work(self.name)

        async def in_a_loop(name):
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, work, name + " run_in_executor")
            await asyncio.to_thread(work, name + " to_thread")
            with concurrent.futures.ThreadPoolExecutor(1) as own:
                await loop.run_in_executor(own, work, name + " own pool")

        def generation(name, pool, other):
            with marey.session(name):
                other.wait()  # Both sessions are open.
                threads = [
                    threading.Thread(target=work, args=(name + " thread",)),
                    Own(name=name + " subclass"),
                    threading.Timer(0, work, (name + " timer",)),
                ]
                for thread in threads:
                    thread.start()
                pool.submit(work, name + " submit").result()
                list(pool.map(work, [name + " map"]))
                asyncio.run(in_a_loop(name))
                for thread in threads:
                    thread.join()
                other.wait()

        marey.start("out")
        both = threading.Barrier(2)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            generations = [threading.Thread(target=generation, args=(name, pool, both)) for name in "ab"]
            for thread in generations:
                thread.start()
            for thread in generations:
                thread.join()
            pool.submit(work, "outside").result()

    records = recorded(interpreter.run(program))
    kinds = ["thread", "subclass", "timer", "submit", "map", "run_in_executor", "to_thread", "own pool"]
    expected = {(f"{session} {kind}", session) for session in "ab" for kind in kinds}
    expected |= {(f"{name} inner", session) for name, session in expected}
    assert set(belonging(records)) == expected | {("outside", None), ("outside inner", None)}
    sessions = [session["name"] for session in records["sessions"]]
    of_events = {(event["name"], event["session"]) for event in records["events"]}
    named = {(name, None if session is None else sessions[session]) for name, session in of_events}
    assert named == {(name, session) for name, session in expected if "inner" not in name} | {("outside", None)}


def test_a_thread_is_its_sessions_only_as_long_as_that_lasts(interpreter: Interpreter) -> None:
    def program():
        import threading

        import marey

        go_on, has_ended = threading.Event(), threading.Event()

        def work():
            with marey.profile_section("within"):
                pass
            with marey.session("nested"), marey.profile_section("in its own"):
                pass
            go_on.set()
            has_ended.wait()
            with marey.profile_section("after"):
                pass

        marey.start("out")
        with marey.session("a"):
            thread = threading.Thread(target=work)
            thread.start()
            go_on.wait()
        with marey.session("b"):
            has_ended.set()
            thread.join()

    records = recorded(interpreter.run(program))
    assert belonging(records) == [("within", "a"), ("in its own", "nested"), ("after", None)]
    assert [(s["name"], s["parent"]) for s in records["sessions"]] == [("a", None), ("nested", 0), ("b", None)]


@pytest.mark.parametrize("how", ["pool", "to_thread", "task", "context", "thread", "thread of a thread"])
def test_what_outlives_its_session_is_never_the_next_ones(interpreter: Interpreter, how: str) -> None:
    """A context and a task of a pool stay their session's; a thread may serve others later, so nobody knows."""

    def program(how):
        import asyncio
        import concurrent.futures
        import contextvars
        import threading

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False)
        has_begun, go_on = threading.Event(), threading.Event()

        def work():
            has_begun.set()
            go_on.wait()
            with marey.profile_section("late"):
                pass
            with profiler.stage("late stage"):
                pass
            marey.event("late")
            profiler.record_diffusion_step(0, timestep=1, computation_time_ms=1.0)
            marey.CacheEventRecorder().record_hit("late")

        def starts_another():
            has_begun.set()
            go_on.wait()
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()

        async def in_a_loop():
            is_time = asyncio.Event()

            async def later():
                await is_time.wait()
                work()

            with profiler.session("a"):
                waits = later() if how == "task" else asyncio.to_thread(work)
                waits = asyncio.ensure_future(waits)
                await asyncio.sleep(0)
                if how == "to_thread":
                    has_begun.wait()
            with profiler.session("b"):
                is_time.set()
                go_on.set()
                await waits

        if how in ("task", "to_thread"):
            asyncio.run(in_a_loop())
            return
        pool = concurrent.futures.ThreadPoolExecutor(1)
        with profiler.session("a"):
            context = contextvars.copy_context()
            if how == "pool":
                waits = pool.submit(work).result
            elif how != "context":
                thread = threading.Thread(target=work if how == "thread" else starts_another)
                thread.start()
                waits = thread.join
            if how != "context":
                has_begun.wait()
        with profiler.session("b"):
            go_on.set()
            context.run(work) if how == "context" else waits()

    records = recorded(interpreter.run(program, how))
    whose = None if "thread" in how.split() else "a"
    assert belonging(records) == [("late", whose), ("late stage", whose)]
    names = [session["name"] for session in records["sessions"]]
    said = [record["session"] for kind in ("events", "generation", "cache_events") for record in records[kind]]
    assert [None if session is None else names[session] for session in said] == [whose] * 3


def test_threads_that_serve_several_sessions_are_their_callers(interpreter: Interpreter) -> None:
    """A worker that runs jobs in their callers' contexts, and a pool of threads: both made while "a" is open."""

    def program():
        import contextvars
        import multiprocessing.pool
        import queue
        import threading

        import marey

        jobs = queue.Queue()

        def serve():
            for context, function, argument, done in iter(jobs.get, None):
                context.run(function, argument)
                done.set()

        def work(name):
            with marey.profile_section(name):
                marey.event(name)

        def call(name):
            done = threading.Event()
            jobs.put((contextvars.copy_context(), work, name, done))
            done.wait()

        marey.start("out")
        has_begun, may_end = threading.Event(), threading.Event()

        def first():
            with marey.session("a"):
                server = threading.Thread(target=serve)
                server.start()
                pools.append(multiprocessing.pool.ThreadPool(1))
                call("a job")
                has_begun.set()
                may_end.wait()

        pools = []
        thread = threading.Thread(target=first)
        thread.start()
        has_begun.wait()
        with marey.session("b"):
            call("b job")
            pools[0].apply(work, ("of one of two",))
        may_end.set()
        thread.join()
        jobs.put(None)
        pools[0].terminate()

    records = recorded(interpreter.run(program))
    assert set(belonging(records)) == {("a job", "a"), ("b job", "b"), ("of one of two", None)}
    assert {event["session"] for event in records["events"] if event["name"] == "of one of two"} == {None}


def test_generators_sessions_are_what_they_do_themselves(interpreter: Interpreter) -> None:
    """Two of them in turn, with sections that reach over what their consumer does between their items."""

    def program():
        import asyncio
        import itertools

        import marey
        from marey.decorators import profile_session

        profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False)

        def work(name):
            with marey.profile_section(name), profiler.stage(name):
                profiler.add_event(name)

        class Pipeline:
            _profiler = profiler

            @profile_session("a")
            def a(self):
                work("a1")
                yield
                work("a2")

            @profile_session("b")
            def b(self):
                with marey.profile_section("b over"):
                    yield
                work("b2")

            @profile_session("c")
            async def c(self):
                work("c1")
                await asyncio.sleep(0)
                yield
                work("c2")

            @profile_session("d")
            async def d(self):
                work("d1")
                yield
                await asyncio.sleep(0)
                work("d2")

        async def consume(items, n):
            async for _ in items:
                work(f"none {n}")
                await asyncio.sleep(0)

        async def both(pipeline):
            await asyncio.gather(consume(pipeline.c(), 2), consume(pipeline.d(), 3))

        pipeline = Pipeline()
        for _ in itertools.zip_longest(pipeline.a(), pipeline.b()):
            work("none 1")
        asyncio.run(both(pipeline))

    records = recorded(interpreter.run(program))
    found = belonging(records)
    names = [session["name"] for session in records["sessions"]]
    found += [(e["name"], None if e["session"] is None else names[e["session"]]) for e in records["events"]]
    expected = {(f"{session}{n}", session) for session in "abcd" for n in (1, 2)} - {("b1", "b")}
    assert set(found) == expected | {("b over", "b")} | {(f"none {n}", None) for n in (1, 2, 3)}


def test_the_first_sessions_of_a_recording_hand_on_what_they_start(interpreter: Interpreter) -> None:
    """They begin at the same moment in four threads."""

    def program():
        import concurrent.futures
        import threading

        import marey

        pool, at_once = concurrent.futures.ThreadPoolExecutor(4), threading.Barrier(4)

        def work(name):
            with marey.profile_section(name):
                pass

        def request(name):
            at_once.wait()
            with marey.session(name):
                pool.submit(work, name).result()
                thread = threading.Thread(target=work, args=(name,))
                thread.start()
                thread.join()

        marey.start("out")
        requests = [threading.Thread(target=request, args=(name,)) for name in "abcd"]
        for thread in requests:
            thread.start()
        for thread in requests:
            thread.join()

    found = belonging(recorded(interpreter.run(program)))
    assert sorted(found) == sorted((name, name) for name in "abcd" for _ in range(2))


def test_a_task_raises_and_returns_as_it_would_and_its_context_is_as_before(interpreter: Interpreter) -> None:
    def program():
        import concurrent.futures
        import contextvars
        import traceback

        import marey

        variable = contextvars.ContextVar("variable", default=0)

        def fails():
            raise ValueError("of the task")

        def count(*more, by=1):
            variable.set(variable.get() + by)
            return variable.get(), more

        marey.start("out")
        with marey.session("a"), concurrent.futures.ThreadPoolExecutor(1) as pool:
            failed = pool.submit(fails).exception()
            frames = [frame.name for frame in traceback.extract_tb(failed.__traceback__)]
            # A worker keeps its context from task to task, as without Marey.
            counts = [pool.submit(count, "x", by=2).result() for _ in range(2)]
            not_callable = type(pool.submit(3).exception()).__name__
        return [str(failed), frames[-1], counts, not_callable]

    result = interpreter.run(program).result
    assert result == ["of the task", "fails", [[2, ["x"]], [4, ["x"]]], "TypeError"]


def test_the_programs_methods_come_back_with_the_end_of_the_recording(interpreter: Interpreter) -> None:
    def program():
        import concurrent.futures
        import threading

        import marey

        pool = concurrent.futures.ThreadPoolExecutor
        own = threading.Thread.start, pool.submit

        def is_own():
            return (threading.Thread.start, pool.submit) == own

        marey.start("out")
        found = [is_own()]
        for name in ("first", "second"):
            with marey.session(name):
                found.append(is_own())
            marey.stop()
            found.append(is_own())
            marey.start("out")

        with marey.session("third"):
            # Somebody else wraps what is there, for good.
            ours = threading.Thread.start
            threading.Thread.start = lambda self: ours(self)
        marey.stop()
        marey.start("out")
        ran = []
        with marey.session("fourth"):
            thread = threading.Thread(target=ran.append, args=(1,))
            thread.start()
            thread.join()
        return [found, ran]

    assert interpreter.run(program).result == [[True, False, True, False, True], [1]]


def test_a_child_that_is_forked_as_the_first_session_begins_goes_on(interpreter: Interpreter) -> None:
    def program():
        import os
        import threading

        import marey

        marey.start("out")
        begins = threading.Event()

        def first():
            begins.wait()
            with marey.session("first"):
                pass

        thread = threading.Thread(target=first)
        thread.start()
        begins.set()
        children = []
        while thread.is_alive() and len(children) < 50:
            child = os.fork()
            if child == 0:
                with marey.session("child"):
                    pass
                os._exit(7)
            children.append(child)
            os.sched_yield()
        thread.join()
        return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]

    assert set(interpreter.run(program).result) <= {7}


def test_a_thread_whose_target_cannot_be_asked_starts_as_ever(interpreter: Interpreter) -> None:
    def program() -> list[str]:
        import threading

        import marey

        class Odd(threading.Thread):
            @property
            def _target(self) -> object:
                raise RuntimeError

            @_target.setter
            def _target(self, value: object) -> None:
                pass

            def run(self) -> None:
                ran.append(self.name)

        ran: list[str] = []
        marey.start("out", job_id="job")
        with marey.session("one"):
            thread = Odd(name="odd")
            thread.start()
            thread.join()
        return ran

    assert interpreter.result(program) == ["odd"]


def test_a_task_does_not_end_the_session_that_its_submitter_holds(interpreter: Interpreter) -> None:
    def program() -> bool:
        from concurrent.futures import ThreadPoolExecutor

        import marey

        marey.start("out", job_id="job")
        profiler = marey.Profiler(enabled=True, real_time_display=False)
        with ThreadPoolExecutor(1) as pool, profiler.session("held"):
            ended = pool.submit(profiler.end_session).result()
            marey.event("still in it")
        return ended is None

    assert interpreter.result(program)
    [capture] = (interpreter.folder / "out").glob("job/*.marey")
    report = read_capture(capture)
    assert [(session["name"], session["outcome"]) for session in report["sessions"]] == [("held", "done")]
    assert [event["name"] for event in report["sessions"][0]["events"]] == ["still in it"]


def test_sessions_that_each_begin_the_next_one_keep_none_of_those_before(interpreter: Interpreter) -> None:
    """A chain of them would be let go of one within the other, deeper than the stack is."""

    def program() -> int:
        import asyncio
        import threading

        import marey

        marey.start("out", job_id="job")
        n = 0

        async def main() -> None:
            loop, done = asyncio.get_running_loop(), asyncio.Event()

            def tick() -> None:
                nonlocal n
                n += 1
                with marey.session("frame"):
                    if n < 8_000:
                        loop.call_soon(tick)
                    else:
                        done.set()

            tick()
            await done.wait()

        threading.stack_size(256 << 10)
        thread = threading.Thread(target=lambda: asyncio.run(main()))
        thread.start()
        thread.join()
        return n

    assert interpreter.result(program) == 8_000


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "Timeout"])
def test_what_a_handler_of_a_signal_raises_while_sessions_are_handed_on_is_the_programs(
    interpreter: Interpreter, error: str
) -> None:
    """A signal comes in the middle of our import: its exception goes on, and later sessions are as ever."""
    program = f"""
        import os, signal, sys
        import marey

        class Timeout(Exception):
            pass

        def stop(*_):
            raise {error}("it is time")

        class Finder:
            is_done = False

            def find_spec(self, name, path=None, target=None):
                if name == "marey.handed_on" and not self.is_done:
                    self.is_done = True
                    os.kill(os.getpid(), signal.SIGALRM)

        signal.signal(signal.SIGALRM, stop)
        sys.meta_path.insert(0, Finder())
        said = []
        for number in range(3):
            try:
                with marey.session("clip"):
                    said.append(number)
            except {error} as arrived:
                said.append(str(arrived))
        print(said)
    """
    finished = interpreter.run(program)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert finished.stdout == "['it is time', 1, 2]\n"
