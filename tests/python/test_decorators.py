"""`marey.decorators`: what they record, and that what they decorate behaves as before."""

from __future__ import annotations

import pytest

from capture_records import of_kind, recorded
from interpreter import Interpreter


def test_event_functions_get_arguments_by_name_place_or_as_they_came(interpreter: Interpreter) -> None:
    def program():
        import marey
        from marey.decorators import add_profiling_event

        class Pipeline:
            @add_profiling_event("kwargs", lambda result, **kwargs: {"r": result, **kwargs})
            @add_profiling_event("named", lambda result, path, **kwargs: {"path": path, **kwargs})
            @add_profiling_event("by place", lambda _, other: {"other": other})
            @add_profiling_event("as it came", lambda result, *args, **kwargs: {"n": len(args), **kwargs})
            @add_profiling_event("none", lambda: {"x": 1})
            @add_profiling_event("bare")
            def load(self, path, strict=True):
                return 5

        marey.start("out")
        Pipeline().load("a")
        Pipeline().load("b", strict=False)

    finished = interpreter.run(program)
    assert finished.stderr == ""
    data = [(row["name"], row["data"]) for row in recorded(finished)["events"]]
    assert data == [
        ("bare", {}),
        ("none", {"x": 1}),
        ("as it came", {"n": 1}),
        ("by place", {"other": "a"}),
        ("named", {"path": "a"}),
        ("kwargs", {"r": 5, "path": "a"}),
        ("bare", {}),
        ("none", {"x": 1}),
        ("as it came", {"n": 1, "strict": False}),
        ("by place", {"other": "b"}),
        ("named", {"path": "b", "strict": False}),
        ("kwargs", {"r": 5, "path": "b", "strict": False}),
    ]


@pytest.mark.parametrize("error", ["TimeoutError", "SystemExit"])
def test_what_a_handler_of_signals_raises_in_a_metadata_function_reaches_the_program(
    interpreter: Interpreter, error: str
) -> None:
    def program(error):
        import builtins
        import signal

        import marey
        from marey.decorators import add_profiling_event, profile_diffusion_step, profile_method

        def handler(*_signal):
            raise getattr(builtins, error)

        def interrupted(*_args, **_kwargs):
            signal.raise_signal(signal.SIGALRM)

        signal.signal(signal.SIGALRM, handler)
        marey.start("out")
        raised = []
        for decorator in (
            profile_method("stage", interrupted),
            profile_diffusion_step(interrupted),
            add_profiling_event("done", interrupted),
        ):
            try:
                decorator(lambda: None)()
            except BaseException as caught:
                raised.append(type(caught).__name__)
        return raised

    assert interpreter.run(program, error).result == [error] * 3


@pytest.mark.parametrize("error", ["ValueError", "SystemExit"])
def test_a_failing_metadata_function_is_counted_shown_once_and_changes_nothing(
    interpreter: Interpreter, error: str
) -> None:
    def program(error):
        import builtins

        import marey
        from marey.decorators import add_profiling_event, profile_diffusion_step, profile_method

        def fails(*_args, **_kwargs):
            raise getattr(builtins, error)("a secret prompt")

        @profile_method("stage", fails)
        @profile_diffusion_step(fails)
        @add_profiling_event("done", fails)
        def work(x):
            return x + 1

        marey.start("out")
        return [work(1), work(2), work(3)], marey._core.losses()["notes_dropped"]

    finished = interpreter.run(program, error)
    assert finished.result == [[2, 3, 4], 9]
    lines = finished.stderr.splitlines()
    assert [line.split(":")[0] for line in lines] == ["profile_method", "add_profiling_event", "profile_diffusion_step"]
    assert "secret" not in finished.stderr
    records = recorded(finished)
    assert [row["name"] for row in records["sections"]] == ["stage"] * 3
    assert len(of_kind(records, "step")) == 3
    assert [(row["name"], row["data"]) for row in records["events"]] == [("done", {})] * 3


def test_every_kind_of_function_is_measured_while_it_runs(interpreter: Interpreter) -> None:
    def program():
        import asyncio
        import inspect

        import marey
        from marey.decorators import profile_diffusion_step, profile_method, profile_session

        def all_of(function):
            return profile_session("session")(profile_method("stage")(profile_diffusion_step()(function)))

        @all_of
        async def coroutine():
            await asyncio.sleep(0)
            return 1

        @all_of
        def generator():
            got = yield 1
            assert got == "sent"
            return 2

        @all_of
        async def async_generator():
            yield 1
            yield 2

        marey.start("out")

        async def main():
            assert await coroutine() == 1
            assert [item async for item in async_generator()] == [1, 2]

        asyncio.run(main())
        run = generator()
        assert next(run) == 1
        with marey.profile_section("consumer"):
            pass
        returned = None
        try:
            run.send("sent")
        except StopIteration as stop:
            returned = stop.value
        return [
            returned == 2,
            inspect.iscoroutinefunction(coroutine),
            inspect.isgeneratorfunction(generator),
            inspect.isasyncgenfunction(async_generator),
        ]

    finished = interpreter.run(program)
    assert finished.result == [True, True, True, True]
    records = recorded(finished)
    found = [(r["session"], r["has_pauses"]) for r in records["sections"] if r["name"] == "stage"]
    assert found == [(0, False), (1, True), (2, True)]
    assert [row["session"] for row in of_kind(records, "step")] == [0, 1, 2]
    assert all(session["end_ns"] is not None for session in records["sessions"])


def test_exceptions_pass_through_and_failed_calls_are_no_steps(interpreter: Interpreter) -> None:
    def program():
        import asyncio

        import marey
        from marey.decorators import add_profiling_event, profile_diffusion_step, profile_method, profile_session

        @profile_session("s")
        @profile_method("x")
        @profile_diffusion_step()
        @add_profiling_event("done")
        def fails(error):
            raise error

        marey.start("out")
        same = []
        for kind in (ValueError, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError):
            error = kind("mine")
            try:
                fails(error)
            except BaseException as caught:
                same.append(caught is error)
        return same

    finished = interpreter.run(program)
    assert finished.result == [True] * 4
    records = recorded(finished)
    assert [row["is_failed"] for row in records["sections"]] == [True, True, False, True]
    assert (records["events"], of_kind(records, "step")) == ([], [])
    assert all(session["end_ns"] is not None for session in records["sessions"])


def test_looks_stay_and_functions_methods_and_pickles_work(interpreter: Interpreter) -> None:
    def program():
        import inspect
        import pickle

        from marey import decorators as d

        makers = [
            d.profile_method(),
            d.profile_session("s"),
            d.add_profiling_event("e"),
            d.profile_diffusion_step(),
            d.profile_model_parameters(),
            d.profile_block_computation(),
            d.profile_layer(),
            d.profile_streaming(),
        ]

        def plain(a: int, /, b: str = "x", *, c: bool = True) -> str:
            """Documented."""
            return b

        global pickled
        results = []
        for make in makers:
            decorated = make(plain)
            results += [
                inspect.signature(decorated) == inspect.signature(plain),
                decorated.__doc__ == "Documented.",
                decorated(1, "y") == "y",
            ]

            class Pipeline:
                static = staticmethod(make(lambda x: x))
                outside = make(staticmethod(lambda x: x))
                of_class = make(classmethod(lambda cls, x: (cls.__name__, x)))

            results += [Pipeline.static(1) == 1, Pipeline().outside(2) == 2, Pipeline.of_class(3) == ("Pipeline", 3)]

            def pickled():
                pass

            pickled.__qualname__ = "pickled"
            pickled = make(pickled)
            results.append(pickle.loads(pickle.dumps(pickled)) is pickled)
        return results

    assert interpreter.result(program) == [True] * 56


def test_an_object_without_an_enabled_profiler_uses_the_processs_recorder(interpreter: Interpreter) -> None:
    def program():
        import marey
        from marey.decorators import profile_method

        class Pipeline:
            @profile_method("stage")
            def work(self):
                pass

        off, none, other = Pipeline(), Pipeline(), Pipeline()
        off._profiler = marey.Profiler(enabled=False)
        none._profiler = None
        other._profiler = object()
        off.work()
        before = marey._core.capture_path(), marey._core.losses()
        marey.start("out")
        for pipeline in (off, none, other):
            pipeline.work()
        return before[0]

    finished = interpreter.run(program)
    assert finished.result is None
    assert [row["name"] for row in recorded(finished)["sections"]] == ["stage"] * 3


def test_layers_and_streams_have_their_time_and_size(interpreter: Interpreter) -> None:
    def program():
        import marey
        from marey.decorators import profile_layer, profile_streaming

        @profile_layer("attention", 1000)
        def attention():
            pass

        @profile_layer
        def named():
            pass

        @profile_streaming(lambda args, kwargs: len(args[0]))
        def stream(frames):
            pass

        marey.start("out")
        attention()
        named()
        stream([1, 2, 3])

    records = recorded(interpreter.run(program))
    layers = of_kind(records, "layer")
    assert [(row["name"], row["parameters"]) for row in layers] == [("attention", 1000), ("named", None)]
    (event,) = of_kind(records, "streaming")
    assert event["frames"] == 3
    assert all(ns > 0 for ns in [event["encoding_ns"], *(row["computation_ns"] for row in layers)])


@pytest.mark.parametrize(
    ("decorator", "kind"),
    [
        ("profile_method", "sections"),
        ("profile_session", "sessions"),
        ("add_profiling_event", "events"),
        ("profile_diffusion_step", "step"),
        ("profile_block_computation", "block"),
        ("profile_model_parameters", None),
        ("profile_layer", "layer"),
        ("profile_streaming", "streaming"),
        ("profile_function", "sections"),
    ],
)
def test_a_decorator_without_parentheses_computes_and_records(
    interpreter: Interpreter, decorator: str, kind: str | None
) -> None:
    def program(decorator):
        import marey
        from marey import decorators

        bare = getattr(decorators, decorator, None) or getattr(marey, decorator)
        marey.start("out")

        @bare
        def one(x):
            return x + 1

        @bare
        def two(latents, timestep):
            return latents + timestep

        @bare
        def takes_a_function(function, x=3):
            return function(x) if callable(function) else x

        @bare
        def any_arguments(*args, **kwargs):
            return [*args, *kwargs]

        @bare
        def generator(n, step):
            yield from range(0, n, step)

        class Pipeline:
            def __call__(self):
                return "called"

            @bare
            def method(self, function):
                return function(2)

            @bare
            def without_arguments(this, x=7):
                return x

            @bare
            @classmethod
            def of_class(cls):
                return cls.__name__

            static = bare(staticmethod(lambda x, y: (x, y)))

            @property
            @bare
            def size(self):
                return 5

        pipeline = Pipeline()
        return [
            one(1),
            two(1, timestep=2),
            two(3, 4),
            takes_a_function(one.__wrapped__, 5),
            any_arguments(1, 2, a=3),
            list(generator(4, 2)),
            pipeline.method(lambda x: x * 2),
            pipeline.without_arguments(),
            pipeline.of_class(),
            Pipeline.static(1, 2),
            pipeline.size,
        ]

    finished = interpreter.run(program, decorator)
    assert finished.stderr == ""
    assert finished.result == [2, 3, 7, 6, [1, 2, "a"], [0, 2], 4, 7, "Pipeline", [1, 2], 5]
    records = recorded(finished)
    if kind in records:
        assert len(records[kind]) == 11
    else:
        assert len(of_kind(records, kind)) == (0 if kind is None else 11)


def test_a_function_that_tells_about_calls_is_not_decorated_itself(interpreter: Interpreter) -> None:
    def program():
        import marey
        from marey.decorators import profile_diffusion_step, profile_streaming

        def tell(args, kwargs):
            return {"step": args[0]}

        def by_other_names(call, by_name):
            return {"step": call[0] + 10}

        class Tells:
            def __call__(self, args, kwargs):
                return {"step": args[0] + 20}

        marey.start("out")
        made = []
        for about in (tell, by_other_names, Tells(), lambda a, k: {"step": a[0] + 30}):

            @profile_diffusion_step(about)
            def step(number, unused=None):
                made.append(number)

            step(1)
            step(number := 2, unused=number)

        @profile_streaming(lambda args, kwargs: len(args[0]))
        def deliver(frames):
            made.append(len(frames))

        deliver([1, 2, 3])
        return made

    finished = interpreter.run(program)
    assert finished.stderr == ""
    assert finished.result == [1, 2] * 4 + [3]
    records = recorded(finished)
    assert [row["step"] for row in of_kind(records, "step")] == [1, 2, 11, 12, 21, 22, 31, 32]
    assert [row["frames"] for row in of_kind(records, "streaming")] == [3]
