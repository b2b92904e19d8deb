"""Sections in generators, and decorated generators: they own what they run, not what their consumers do."""

from __future__ import annotations

from interpreter import Interpreter, has_no_negative_self_time, paths_of, read_capture


# generator  ├─inside─ ─ ─ ─ ─ ─ ─┤(closed later)
# consumer   ├─outer────┤ ├─later─┤
def test_suspended_generator_does_not_adopt_later_sections(either: Interpreter) -> None:
    def program():
        import marey

        marey.start("out")

        def items():
            with marey.profile_section("inside"):
                yield 1

        with marey.profile_section("outer"):
            generator = items()
            next(generator)
        with marey.profile_section("later"):
            generator.close()
        with marey.profile_section("last"):
            pass

    either.result(program)
    report = read_capture(either.folder / "out")
    assert paths_of(report) == {"outer": 1, "outer > inside": 1, "later": 1, "last": 1}
    assert has_no_negative_self_time(report)


def test_decorated_generator_is_timed_while_it_runs_alone(interpreter: Interpreter) -> None:
    def program():
        import time

        import marey

        @marey.profile_function("frames")
        def frames():
            for i in range(3):
                begin = time.perf_counter()
                sum(range(100_000))
                inside.append(time.perf_counter() - begin)
                yield i

        inside, around = [], 0.0
        generator = frames()
        items = []
        while True:
            begin = time.perf_counter()
            item = next(generator, None)
            around += time.perf_counter() - begin
            if item is None:
                break
            items.append(item)
            with marey.profile_section("consumer"):
                sum(range(1_000_000))
        row = marey.get_global_stats().get_stats("frames")
        return items, sum(inside), around, row["total"], row["count"], row["errors"]

    items, inside, around, total, count, errors = interpreter.result(program)
    assert items == [0, 1, 2]
    assert (count, errors) == (1, 0)
    assert inside <= total <= around


def test_decorated_generator_restores_its_parent_at_each_resume(interpreter: Interpreter) -> None:
    def program():
        import marey

        marey.start("out")

        @marey.profile_function("frames")
        def frames():
            for _ in range(2):
                with marey.profile_section("inside"):
                    pass
                yield

        with marey.profile_section("outer"):
            generator = frames()
            for _ in generator:
                with marey.profile_section("consumer"):
                    pass

    interpreter.result(program)
    assert paths_of(read_capture(interpreter.folder / "out")) == {
        "outer": 1,
        "outer > frames": 1,
        "outer > frames > inside": 2,
        "outer > consumer": 2,
    }


def test_send_throw_close_and_return_value_work(interpreter: Interpreter) -> None:
    def program():
        import inspect

        import marey

        log = []

        @marey.profile_function("conversation")
        def conversation():
            try:
                got = yield "hello"
                log.append(got)
                try:
                    yield "again"
                except KeyError as error:
                    log.append(repr(error))
                    yield "caught"
            finally:
                log.append("closed")
            return "result"

        def whole():
            return (yield from conversation())

        generator = whole()
        said = [next(generator), generator.send("sent"), generator.throw(KeyError("thrown"))]
        try:
            next(generator)
        except StopIteration as stop:
            said.append(stop.value)
        second = conversation()
        next(second)
        second.close()
        third = conversation()
        error = ValueError("uncaught")
        next(third)
        try:
            third.throw(error)
        except ValueError as caught:
            said.append(caught is error)
        never_started = conversation()
        never_started.close()
        row = marey.get_global_stats().get_stats("conversation")
        return said, log, row["count"], row["errors"], inspect.isgeneratorfunction(conversation)

    said, log, count, errors, is_generator_function = interpreter.result(program)
    assert said == ["hello", "again", "caught", "result", True]
    assert log == ["sent", "KeyError('thrown')", "closed", "closed", "closed"]
    assert (count, errors) == (3, 1)
    assert is_generator_function


def test_exception_of_a_generator_is_the_same_object_with_the_users_frame(interpreter: Interpreter) -> None:
    def program():
        import asyncio
        import traceback

        import marey

        error = ValueError("x")

        @marey.profile_function()
        def generator():
            yield 1
            raise error

        @marey.profile_function()
        async def coroutine():
            raise error

        @marey.profile_function()
        async def async_generator():
            yield 1
            raise error

        @marey.profile_function()
        def function():
            raise error

        async def consume():
            async for _ in async_generator():
                pass

        found = []
        for run in (
            lambda: list(generator()),
            lambda: asyncio.run(coroutine()),
            lambda: asyncio.run(consume()),
            function,
        ):
            error.__traceback__ = None
            try:
                run()
            except ValueError as caught:
                names = [frame.name for frame in traceback.extract_tb(caught.__traceback__)]
                found.append((caught is error, names[-1], caught.__context__ is None, caught.__cause__ is None))
        errors = sorted(
            (name.rsplit(".", 1)[1], row["errors"]) for name, row in marey.get_global_stats().get_all_stats().items()
        )
        return found, errors

    found, errors = interpreter.result(program)
    names = ["generator", "coroutine", "async_generator", "function"]
    assert found == [[True, name, True, True] for name in names]
    assert errors == [[name, 1] for name in sorted(names)]


def test_coroutine_is_timed_from_its_first_step_to_its_end(interpreter: Interpreter) -> None:
    def program():
        import asyncio
        import inspect
        import time

        import marey

        @marey.profile_function("fetch")
        async def fetch():
            begin = time.perf_counter()
            await asyncio.sleep(0.01)
            return time.perf_counter() - begin

        async def main():
            waiting = fetch()
            await asyncio.sleep(0.05)
            begin = time.perf_counter()
            inside = await waiting
            return inside, time.perf_counter() - begin

        inside, around = asyncio.run(main())
        return inside, around, marey.get_global_stats().get_stats("fetch")["total"], inspect.iscoroutinefunction(fetch)

    inside, around, total, is_coroutine_function = interpreter.result(program)
    assert inside <= total <= around
    assert is_coroutine_function


def test_async_generator_keeps_its_protocol(interpreter: Interpreter) -> None:
    def program():
        import asyncio
        import inspect

        import marey

        marey.start("out")
        log = []

        @marey.profile_function("stream")
        async def stream():
            try:
                got = yield "first"
                log.append(got)
                try:
                    yield "second"
                except KeyError:
                    with marey.profile_section("inside"):
                        await asyncio.sleep(0)
                    yield "caught"
            finally:
                await asyncio.sleep(0)
                log.append("closed")

        async def main():
            with marey.profile_section("outer"):
                a = stream()
                said = [await a.__anext__(), await a.asend("sent")]
                with marey.profile_section("consumer"):
                    pass
                said.append(await a.athrow(KeyError("thrown")))
                try:
                    await a.__anext__()
                except StopAsyncIteration:
                    said.append("end")
                b = stream()
                await b.__anext__()
                await b.aclose()
                error = ValueError()
                c = stream()
                await c.__anext__()
                try:
                    await c.athrow(error)
                except ValueError as caught:
                    said.append(caught is error)
                d = stream()
                await d.aclose()
                said += [item async for item in stream()]
            return said

        said = asyncio.run(main())
        row = marey.get_global_stats().get_stats("stream")
        return said, log, row["count"], row["errors"], inspect.isasyncgenfunction(stream)

    said, log, count, errors, is_async_generator_function = interpreter.result(program)
    assert said == ["first", "second", "caught", "end", True, "first", "second"]
    assert log == ["sent", "closed", "closed", "closed", None, "closed"]
    assert (count, errors) == (4, 1)
    assert is_async_generator_function
    paths = paths_of(read_capture(interpreter.folder / "out"))
    assert paths["outer > stream > inside"] == 1
    assert paths["outer > consumer"] == 1


def test_old_style_coroutine_stays_awaitable(interpreter: Interpreter) -> None:
    def program():
        import asyncio
        import types

        import marey

        @marey.profile_function("old")
        @types.coroutine
        def old():
            yield
            return 3

        async def main():
            return await old()

        return asyncio.run(main()), marey.get_global_stats().get_stats("old")["count"]

    assert interpreter.result(program) == [3, 1]


def test_abandoned_generators_are_completed_when_they_are_collected(interpreter: Interpreter) -> None:
    def program():
        import marey

        @marey.profile_function("abandoned")
        def items():
            yield 1
            yield 2

        for _ in range(100):
            next(items())
        row = marey.get_global_stats().get_stats("abandoned")
        return row["count"], row["errors"]

    assert interpreter.result(program) == [100, 0]


def test_generators_in_lockstep_do_not_disturb_each_other(either: Interpreter) -> None:
    def program():
        import marey

        marey.start("out")

        @marey.profile_function("left")
        def left():
            for _ in range(10):
                with marey.profile_section("in left"):
                    yield

        @marey.profile_function("right")
        def right():
            for _ in range(10):
                with marey.profile_section("in right"):
                    pass
                yield

        for _ in zip(left(), right()):  # noqa: B905
            pass

    either.result(program)
    report = read_capture(either.folder / "out")
    paths = paths_of(report)
    assert paths["left"] == paths["right"] == 1
    assert paths["left > in left"] == 10
    assert paths["right > in right"] == 10 or sum(n for path, n in paths.items() if path.endswith("in right")) == 10
    assert has_no_negative_self_time(report)


def test_generator_that_is_closed_early_fails_nothing(either: Interpreter) -> None:
    finished = either.run("""
        import marey
        marey.start("out")
        def frames():
            with marey.profile_section("frame"):
                yield 1
        for _ in frames():
            break
        try:
            with marey.profile_section("broken"):
                raise ValueError
        except ValueError:
            pass
    """)
    assert (finished.returncode, finished.stderr) == (0, "")
    report = read_capture(either.folder / "out")
    assert {row["name"]: row["errors"] for row in report["sections"]} == {"frame": 0, "broken": 1}
