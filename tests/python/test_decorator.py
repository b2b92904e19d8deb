"""`@marey.profile_function`: whatever it decorates behaves as before."""

from __future__ import annotations

from interpreter import Interpreter


def test_function_keeps_signature_documentation_and_identity(interpreter: Interpreter) -> None:
    def program():
        import inspect
        import typing
        import weakref

        import marey

        def plain(a: int, /, b: str = "x", *rest: float, c: bool, **more: int) -> str:
            """Documented."""

        decorated = marey.profile_function("name")(plain)
        plain.attribute = decorated.attribute = 3
        again = marey.profile_function("again")(decorated)
        keeps = [
            inspect.signature(decorated) == inspect.signature(plain),
            inspect.signature(again) == inspect.signature(plain),
            typing.get_type_hints(decorated) == typing.get_type_hints(plain),
            decorated.__doc__ == "Documented.",
            decorated.__name__ == "plain",
            decorated.__qualname__ == plain.__qualname__,
            decorated.__module__ == "__main__",
            decorated.__wrapped__ is plain,
            inspect.unwrap(again) is plain,
            decorated.__dict__["attribute"] == 3,
            weakref.ref(decorated)() is decorated,
            callable(decorated),
            hash(decorated) == hash(decorated),
            not inspect.iscoroutinefunction(decorated),
        ]
        return [i for i, is_kept in enumerate(keeps) if not is_kept]

    assert interpreter.result(program) == []


def test_function_has_the_code_and_the_defaults_of_the_one_it_wraps(interpreter: Interpreter) -> None:
    def program():
        import marey

        factor = 3

        def plain(a, b="x", *, c=2):
            return a, b, c * factor

        decorated = marey.profile_function("again")(marey.profile_function(plain))
        names = ["__code__", "__defaults__", "__kwdefaults__", "__globals__", "__closure__"]
        keeps = [getattr(decorated, name) is getattr(plain, name) for name in names]
        parameters = decorated.__code__.co_varnames[: decorated.__code__.co_argcount]
        decorated.__defaults__ = ("y",)
        decorated.__kwdefaults__["c"] = 4
        called = decorated(1)

        class Called:
            def __call__(self):
                return 5

        of_an_object = marey.profile_function("object")(Called())
        return keeps, parameters, called, of_an_object(), [hasattr(of_an_object, name) for name in names]

    assert interpreter.result(program) == [[True] * 5, ["a", "b"], [1, "y", 12], 5, [False] * 5]


def test_arguments_and_results_are_handed_on_as_they_came(interpreter: Interpreter) -> None:
    def program():
        import marey

        @marey.profile_function
        def echo(*args, **kwargs):
            return args, kwargs

        @marey.profile_function()
        def only_keywords(*, a, b=2):
            return a + b

        token = object()
        assert echo(1, token, x=token) == ((1, token), {"x": token})
        assert echo(*range(100), **{str(i): i for i in range(100)}) == (
            tuple(range(100)),
            {str(i): i for i in range(100)},
        )
        assert only_keywords(a=1) == 3
        messages = []
        for call in (lambda: only_keywords(1), lambda: only_keywords(b=1), lambda: only_keywords(a=1, c=1)):
            try:
                call()
            except TypeError as error:
                messages.append(str(error))
        stats = {name.rsplit(".", 1)[1]: row["count"] for name, row in marey.get_global_stats().get_all_stats().items()}
        return messages, stats

    messages, counts = interpreter.result(program)
    assert messages == [
        "program.<locals>.only_keywords() takes 0 positional arguments but 1 was given",
        "program.<locals>.only_keywords() missing 1 required keyword-only argument: 'a'",
        "program.<locals>.only_keywords() got an unexpected keyword argument 'c'",
    ]
    assert counts == {"echo": 2, "only_keywords": 4}


def test_methods_of_every_kind_in_both_orders(interpreter: Interpreter) -> None:
    def program():
        import inspect

        import marey

        class Base:
            scale = 2

            def __init__(self, value):
                self.value = value

            @marey.profile_function("method")
            def method(self, x, *, y=0):
                return self.value * x + y

            @staticmethod
            @marey.profile_function("static inside")
            def static_inside(x):
                return x

            @marey.profile_function("static outside")
            @staticmethod
            def static_outside(x):
                return x

            @classmethod
            @marey.profile_function("class inside")
            def class_inside(cls, x):
                return cls.__name__, x

            @marey.profile_function("class outside")
            @classmethod
            def class_outside(cls, x):
                return cls.__name__, x

            @marey.profile_function
            @classmethod
            def class_bare(cls):
                return cls.__name__

            @property
            @marey.profile_function("property inside")
            def property_inside(self):
                return self.value

            @marey.profile_function("property outside")
            @property
            def property_outside(self):
                """The value."""
                return self.value

            @property_outside.setter
            def property_outside(self, value):
                self.value = value

            @marey.profile_function("call")
            def __call__(self, x):
                return x

        class Derived(Base):
            def method(self, x, *, y=0):
                return super().method(x, y=y) + 1

        found = []
        for cls in (Base, Derived):
            instance = cls(3)
            bound = instance.method
            instance.property_outside = 4
            found.append(
                [
                    instance.method(2, y=1),
                    bound(2),
                    cls.method(instance, 2),
                    Base.method(instance, x=2),
                    instance.static_inside(5),
                    cls.static_outside(5),
                    instance.class_inside(1),
                    cls.class_outside(1),
                    cls.class_bare(),
                    instance.property_inside,
                    instance.property_outside,
                    instance(7),
                    str(inspect.signature(instance.method)),
                    cls.property_outside.__doc__,
                    bound.__self__ is instance,
                    instance.method == instance.method,
                ]
            )
        return found, {name: row["count"] for name, row in marey.get_global_stats().get_all_stats().items()}

    found, counts = interpreter.result(program)
    signature = "(x, *, y=0)"
    shared = [5, 5, ["{}", 1], ["{}", 1], "{}", 4, 4, 7, signature, "The value.", True, True]

    def named(name: str) -> list[object]:
        return [[name, 1] if item == ["{}", 1] else name if item == "{}" else item for item in shared]

    assert found == [[9, 8, 8, 8, *named("Base")], [10, 9, 9, 8, *named("Derived")]]
    bare = {name: count for name, count in counts.items() if name.endswith("class_bare")}
    assert list(bare.values()) == [2]
    kinds = [
        "static inside",
        "static outside",
        "class inside",
        "class outside",
        "property inside",
        "property outside",
        "call",
    ]
    assert {name: counts[name] for name in kinds} == dict.fromkeys(kinds, 2)
    assert counts["method"] == 8


def test_callables_without_names_are_decorated_all_the_same(interpreter: Interpreter) -> None:
    def program():
        import functools
        import operator

        import marey

        class Model:
            def __call__(self, x):
                return x + 1

        class Hidden:
            __slots__ = ()

            def __getattr__(self, name):
                raise AttributeError(name)

            def __call__(self):
                return "hidden"

        def add(a, b):
            return a + b

        decorate = marey.profile_function()
        results = [
            decorate(Model())(1),
            decorate(Hidden())(),
            decorate(functools.partial(add, 1))(2),
            decorate(functools.partial(functools.partial(add, 1), 2))(),
            decorate(lambda: "lambda")(),
            decorate(len)([1, 2]),
            decorate(operator.itemgetter(1))([1, 2]),
            decorate([].append)(1),
            decorate(functools.lru_cache(add))(1, 2),
            decorate(Model().__call__)(1),
        ]
        return results, sorted(marey.get_global_stats().get_all_stats())

    results, names = interpreter.result(program)
    assert results == [2, "hidden", 3, 3, "lambda", 2, 2, None, 3, 2]
    assert "builtins.len" in names
    assert "__main__.program.<locals>.add" in names
    assert "__main__.program.<locals>.Model" in names


def test_kinds_of_functions_stay_what_they_are(interpreter: Interpreter) -> None:
    def program():
        import asyncio
        import functools
        import inspect

        import marey

        async def coroutine():
            return 1

        def generator():
            yield 1

        async def async_generator():
            yield 1

        class Async:
            async def __call__(self):
                return 1

            @marey.profile_function("method")
            async def method(self):
                return 1

        class Made:
            """A class whose instances are asynchronous; making one is not."""

            async def __call__(self):
                return 1

        decorate = marey.profile_function("any")
        checks = [
            inspect.iscoroutinefunction(decorate(coroutine)),
            inspect.isgeneratorfunction(decorate(generator)),
            inspect.isasyncgenfunction(decorate(async_generator)),
            inspect.iscoroutinefunction(decorate(functools.partial(coroutine))),
            inspect.iscoroutinefunction(decorate(decorate(coroutine))),
            inspect.isgeneratorfunction(decorate(decorate(generator))),
            inspect.isasyncgenfunction(decorate(decorate(async_generator))),
            inspect.iscoroutinefunction(Async().method),
            asyncio.run(decorate(Async())()) == 1,
            asyncio.run(Async().method()) == 1,
            isinstance(decorate(Made)(), Made),
            not inspect.iscoroutinefunction(decorate(lambda: 1)),
        ]
        return [i for i, is_kept in enumerate(checks) if not is_kept]

    assert interpreter.result(program) == []


def test_decorated_functions_pickle_and_copy_by_name(interpreter: Interpreter) -> None:
    finished = interpreter.run("""
        import asyncio, copy, multiprocessing, pickle
        import marey

        @marey.profile_function("double")
        def double(x):
            return 2 * x

        @marey.profile_function
        async def coroutine():
            return 1

        @marey.profile_function
        def generator():
            yield 1

        class Model:
            @marey.profile_function("method")
            def method(self, x):
                return 3 * x

            def __eq__(self, other):
                return isinstance(other, Model)

        if __name__ == "__main__":
            for function in (double, coroutine, generator, Model.method):
                for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
                    assert pickle.loads(pickle.dumps(function, protocol)) is function
                assert copy.copy(function) is function
                assert copy.deepcopy(function) is function
            assert pickle.loads(pickle.dumps(Model().method))(2) == 6
            for method in ("fork", "spawn", "forkserver"):
                with multiprocessing.get_context(method).Pool(2) as pool:
                    assert pool.map(double, range(10)) == [2 * i for i in range(10)]
                    assert pool.map(Model().method, range(3)) == [0, 3, 6]
            print("done")
    """)
    assert (finished.stdout, finished.stderr, finished.returncode) == ("done\n", "", 0)


def test_disabled_decorator_returns_the_function_itself(interpreter: Interpreter) -> None:
    def program():
        import marey

        def function():
            pass

        return [
            marey.profile_function("name", enabled=False)(function) is function,
            marey.profile_function(enabled=False)(function) is function,
            marey.profile_function(function, enabled=False) is function,
            marey.profile_function("name", False)(function) is function,
        ]

    assert interpreter.result(program) == [True] * 4


def test_wrappers_are_collected_with_their_cycles(interpreter: Interpreter) -> None:
    def program():
        import gc
        import weakref

        import marey

        class Owner:
            def __init__(self):
                self.function = marey.profile_function("cycle")(lambda: self)
                self.function.owner = self

        dead = [weakref.ref(Owner()) for _ in range(100)]
        wrappers = [weakref.ref(marey.profile_function("plain")(lambda: None)) for _ in range(100)]
        gc.collect()
        return sum(ref() is not None for ref in dead), sum(ref() is not None for ref in wrappers)

    assert interpreter.result(program) == [0, 0]


def test_wrappers_do_not_leak_what_they_call(interpreter: Interpreter) -> None:
    def program():
        import sys

        import marey

        token = object()

        @marey.profile_function
        def function(x, *, y=None):
            if y is not None:
                raise ValueError
            return x

        before = sys.getrefcount(token), sys.getrefcount(function)
        for _ in range(10_000):
            function(token)
            try:
                function(token, y=token)
            except ValueError:
                pass
        return sys.getrefcount(token) - before[0], sys.getrefcount(function) - before[1]

    assert interpreter.result(program) == [0, 0]


def test_recursion_is_one_path_a_level_and_the_limit_is_the_programs_own(interpreter: Interpreter) -> None:
    def program():
        import marey

        @marey.profile_function("factorial")
        def factorial(n):
            return n * factorial(n - 1) if n else 1

        @marey.profile_function("endless")
        def endless():
            return endless()

        value = factorial(50)
        try:
            endless()
        except RecursionError:
            is_limited = True
        with marey.profile_section("afterwards"):
            pass
        stats = marey.get_global_stats().get_all_stats()
        return (
            value,
            is_limited,
            stats["factorial"]["count"],
            stats["endless"]["errors"] > 100,
            stats["factorial"]["self"] >= 0,
        )

    import math

    assert interpreter.result(program) == [math.factorial(50), True, 51, True, True]


def test_decorating_while_recording_is_switched_off_returns_the_function(interpreter: Interpreter) -> None:
    def program():
        import marey

        def function():
            return 1

        return marey.profile_function("a")(function) is function

    assert interpreter.result(program, env={"MAREY_ENABLED": "0"}) is True


def test_cached_properties_partial_methods_and_classes_stay_what_they_are(interpreter: Interpreter) -> None:
    def program():
        import functools
        from dataclasses import dataclass

        import marey

        decorators = [marey.profile_function, marey.profile_function("x"), marey.decorators.profile_method]
        decorators += [marey.decorators.profile_diffusion_step, marey.profile_section("x")]
        found = []
        for decorate in decorators:

            class Pipeline:
                n_made = 0

                def __init__(self, size):
                    self.size = size

                @decorate
                @functools.cached_property
                def parts(self):
                    self.n_made += 1
                    return [self.size]

                def resize(self, factor, by=1):
                    return self.size * factor + by

                double = decorate(functools.partialmethod(resize, 2, by=3))

            made = decorate(Pipeline)
            pipeline = made(5)
            found.append((pipeline.parts is pipeline.parts, pipeline.n_made, pipeline.double(), made is Pipeline))

            @decorate
            @dataclass
            class Point:
                x: int

            class Below(Point):
                pass

            found.append((Below(1) == Below(1), isinstance(Below(2), Point), decorate(int) is int))
        counts = {name: stats["count"] for name, stats in marey.get_global_stats().get_all_stats().items()}
        return found, {name.rpartition(".")[2]: count for name, count in counts.items()}

    found, counts = interpreter.result(program)
    assert found == [[True, 1, 13, True], [True, True, True]] * 5
    # By their own names with profile_function, profile_method; as "x" with the two that have that name.
    assert counts == {"parts": 1, "resize": 1, "Pipeline": 1, "Point": 3, "x": 12}
