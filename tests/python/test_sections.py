"""`with marey.profile_section(...)`: what it records, and that it leaves the program alone."""

from __future__ import annotations

import json
import sys

import pytest

from interpreter import Interpreter, has_no_negative_self_time, paths_of, read_capture


def test_nested_section_time_is_not_counted_twice(either: Interpreter) -> None:
    def program():
        import time

        import marey

        with marey.profile_section("outer"):
            before = time.perf_counter()
            with marey.profile_section("inner"):
                begin = time.perf_counter()
                sum(range(200_000))
                inside = time.perf_counter() - begin
            around = time.perf_counter() - before
        stats = marey.get_global_stats().get_all_stats()
        return inside, around, stats

    inside, around, stats = either.result(program)
    assert inside <= stats["inner"]["total"] <= around
    assert stats["outer"]["total"] >= stats["inner"]["total"]
    assert stats["outer"]["self"] == pytest.approx(stats["outer"]["total"] - stats["inner"]["total"], abs=2e-9)
    assert stats["inner"]["self"] == stats["inner"]["total"]


def test_exception_passes_through_unchanged_and_is_counted(either: Interpreter) -> None:
    def program():
        import traceback

        import marey

        error = ValueError("the user's own")
        try:
            with marey.profile_section("fails"), marey.profile_section("inner", step=1):
                raise error
        except ValueError as caught:
            is_same = caught is error
            functions = [frame.name for frame in traceback.extract_tb(caught.__traceback__)]
        with marey.profile_section("fails"):
            pass
        stats = marey.get_global_stats().get_all_stats()
        return is_same, functions, {name: (row["count"], row["errors"]) for name, row in stats.items()}

    is_same, functions, counts = either.result(program)
    assert is_same
    assert functions == ["program"]
    assert counts == {"fails": [2, 1], "inner": [1, 1]}


@pytest.mark.parametrize("leave", ["return", "break", "continue"])
def test_leaving_by_control_flow_is_no_error(either: Interpreter, leave: str) -> None:
    def program(leave):
        import marey

        def body():
            for _ in range(2):
                with marey.profile_section("body"):
                    if leave == "return":
                        return
                    if leave == "break":
                        break
                    continue

        body()
        row = marey.get_global_stats().get_stats("body")
        return row["count"], row["errors"]

    assert either.result(program, leave) == [2 if leave == "continue" else 1, 0]


def test_exit_stack_enters_and_leaves_sections(either: Interpreter) -> None:
    def program():
        from contextlib import ExitStack

        import marey

        marey.start("out")
        with ExitStack() as stack:
            for name in ("a", "b", "c"):
                stack.enter_context(marey.profile_section(name))
        try:
            with ExitStack() as stack:
                stack.enter_context(marey.profile_section("a"))
                raise KeyError
        except KeyError:
            pass
        return marey.get_global_stats().get_stats("a")["errors"]

    assert either.result(program) == 1
    assert paths_of(read_capture(either.folder / "out")) == {"a": 2, "a > b": 1, "a > b > c": 1}


def test_with_as_gives_none_like_the_function_it_stands_for(either: Interpreter) -> None:
    def program():
        import marey

        with marey.profile_section("a") as plain, marey.profile_section("b", n=1) as with_attributes:
            pass
        with marey.profile_section("c", enabled=False) as off:
            pass
        return plain, with_attributes, off

    assert either.result(program) == [None, None, None]


def test_kept_object_is_entered_again_and_again(either: Interpreter) -> None:
    def program():
        import marey

        kept = marey.profile_section("kept")
        others = [marey.profile_section(f"other {i}") for i in range(10)]
        for _ in range(5):
            with kept, marey.profile_section("inside"):
                pass
        for other in others:
            with other:
                pass
        stats = marey.get_global_stats().get_all_stats()
        return {name: row["count"] for name, row in stats.items()}

    counts = either.result(program)
    assert counts == {"kept": 5, "inside": 5} | {f"other {i}": 1 for i in range(10)}


def test_same_object_nested_in_itself_counts_each_entry(either: Interpreter) -> None:
    def program():
        import marey

        marey.start("out")
        again = marey.profile_section("again")
        with again, again, again, marey.profile_section("leaf"):
            pass
        with again:
            pass
        return marey.get_global_stats().get_stats("again")["count"]

    assert either.result(program) == 4
    assert paths_of(read_capture(either.folder / "out")) == {
        "again": 2,
        "again > again": 1,
        "again > again > again": 1,
        "again > again > again > leaf": 1,
    }


# thread 1   ├────────────────┤
# thread 2        ├──────────────────┤      one object; each end belongs to its own thread's beginning
@pytest.mark.parametrize("first_to_leave", [0, 1])
def test_object_shared_by_two_threads_gives_each_its_own_time(either: Interpreter, first_to_leave: int) -> None:
    def program(first_to_leave):
        import threading

        import marey

        marey.start("out")
        shared = marey.profile_section("shared")
        entered = [threading.Event(), threading.Event()]
        leave = [threading.Event(), threading.Event()]
        left = [threading.Event(), threading.Event()]

        def work(i):
            if i == 1:
                entered[0].wait()
            with marey.profile_section(f"thread {i}"):
                with shared:
                    entered[i].set()
                    leave[i].wait()
                left[i].set()
                with marey.profile_section("after"):
                    pass
            with marey.profile_section("outside"):
                pass

        threads = [threading.Thread(target=work, args=(i,)) for i in (0, 1)]
        for thread in threads:
            thread.start()
        entered[0].wait()
        entered[1].wait()
        for i in (first_to_leave, 1 - first_to_leave):
            leave[i].set()
            left[i].wait()
        for thread in threads:
            thread.join()
        with shared:
            pass
        return marey.get_global_stats().get_stats("shared")["count"]

    assert either.result(program, first_to_leave) == 3
    report = read_capture(either.folder / "out")
    assert paths_of(report) == {
        "shared": 1,
        "thread 0": 1,
        "thread 0 > shared": 1,
        "thread 0 > after": 1,
        "thread 1": 1,
        "thread 1 > shared": 1,
        "thread 1 > after": 1,
        "outside": 2,
    }
    rows = {row["id"]: row for row in report["sections"]}
    for row in rows.values():
        parent = rows.get(row["parent"])
        assert parent is None or row["total"] <= parent["total"]
    assert has_no_negative_self_time(report)


def test_objects_that_are_never_entered_do_not_use_up_the_pool(either: Interpreter) -> None:
    def program():
        import marey

        for i in range(50_000):
            marey.profile_section("never entered", i=i) if i % 2 else marey.profile_section("never entered")
        with marey.profile_section("entered"):
            pass
        return marey._core.losses(), list(marey.get_global_stats().get_all_stats())

    losses, names = either.result(program)
    assert names == ["entered"]
    assert not any(losses.values())


def test_sections_beyond_what_can_be_open_are_counted_and_nothing_is_raised(either: Interpreter) -> None:
    def program():
        import marey

        sections = [marey.profile_section("many") for _ in range(10_000)]
        for section in sections:
            section.__enter__()
        for section in reversed(sections):
            section.__exit__(None, None, None)
        lost = marey._core.losses()["sections_unrecorded"]
        recorded = marey.get_global_stats().get_stats("many")["count"]
        del section, sections
        with marey.profile_section("afterwards"):
            pass
        return recorded, lost, marey.get_global_stats().get_stats("afterwards")["count"]

    # Each is inside the one before, so each has a call path of its own.
    recorded, lost, afterwards = either.result(program, env={"MAREY_MAX_NODES": "20000"})
    assert recorded + lost == 10_000
    assert recorded >= 4000
    assert afterwards == 1


def test_disabled_section_records_nothing_and_looks_at_nothing(interpreter: Interpreter) -> None:
    def program():
        import marey

        class Explodes:
            def __repr__(self):
                raise RuntimeError

        for section in (
            marey.profile_section("off", False),
            marey.profile_section("off", enabled=False),
            marey.profile_section(name="off", enabled=0),
            marey.profile_section("off", enabled=False, sync=True, value=Explodes()),
        ):
            with section:
                pass
        with marey.profile_section("on", True), marey.profile_section("on", enabled=1):
            pass
        return {name: row["count"] for name, row in marey.get_global_stats().get_all_stats().items()}

    assert interpreter.result(program) == {"on": 2}


def test_sync_without_torch_is_a_section_that_says_so(interpreter: Interpreter) -> None:
    def program():
        import sys

        import marey

        marey.start("out")
        with marey.profile_section("synchronised", sync=True):
            pass
        with marey.profile_section("ordinary"):
            pass
        return "torch" in sys.modules

    assert interpreter.result(program) is False
    report = read_capture(interpreter.folder / "out")
    assert [given["attributes"] for given in report["section_attributes"]] == [{"sync": True}]
    assert [section["calls"] for section in report["data_quality"]["synchronised_sections"]] == [1]


def test_sync_waits_for_the_gpu_at_both_ends_and_survives_a_broken_torch(either: Interpreter) -> None:
    def program():
        import sys
        import types

        import marey

        calls = []
        torch = types.ModuleType("torch")
        torch.cuda = types.SimpleNamespace(is_initialized=lambda: True, synchronize=lambda: calls.append("sync"))
        sys.modules["torch"] = torch
        with marey.profile_section("a", sync=True):
            calls.append("body")
        torch.cuda = None
        with marey.profile_section("b", sync=True):
            calls.append("body")
        return calls, list(marey.get_global_stats().get_all_stats())

    calls, names = either.result(program)
    assert calls == ["sync", "body", "sync", "body"]
    assert sorted(names) == ["a", "b"]


def test_an_interrupt_while_a_section_waits_for_the_gpu_is_the_programs(either: Interpreter) -> None:
    def program():
        import signal
        import sys
        import types

        import marey

        def synchronize():
            raise KeyboardInterrupt

        signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
        with marey.profile_section("before"):
            pass
        torch = types.ModuleType("torch")
        torch.cuda = types.SimpleNamespace(is_initialized=lambda: True, synchronize=synchronize)
        sys.modules["torch"] = torch
        try:
            with marey.profile_section("before", sync=True):
                pass
            for _ in range(1000):
                pass
        except KeyboardInterrupt:
            return "interrupted"
        return "swallowed"

    assert either.result(program) == "interrupted"


def test_attributes_of_every_kind_are_kept_or_described(interpreter: Interpreter) -> None:
    def program():
        import enum

        import marey

        class Shape(enum.IntEnum):
            SQUARE = 4

        class Unreprable:
            def __repr__(self):
                raise RuntimeError("no")

        class Strange(str):
            pass

        marey.start("out")
        with marey.profile_section(
            "attributes",
            a_bool=True,
            an_int=-3,
            a_big_int=10**40,
            a_huge_int=10**400,
            a_float=0.5,
            a_nan=float("nan"),
            an_inf=float("-inf"),
            a_text="grün",
            a_none=None,
            a_list=[1, 2],
            an_enum=Shape.SQUARE,
            a_str_subclass=Strange("text"),
            unreprable=Unreprable(),
            long_text="x" * 100_000,
            surrogate="\ud800",
            some_bytes=b"\x00\xff",
            name_="kept",
        ):
            pass
        for i in range(3):
            with marey.profile_section("attributes", i=i):
                pass
        return marey.get_global_stats().get_stats("attributes")["count"]

    assert interpreter.result(program) == 4
    report = read_capture(interpreter.folder / "out")
    assert report["timing_stats"]["attributes"]["count"] == 4
    assert report["data_quality"]["losses"] == {}
    first, *others = [given["attributes"] for given in report["section_attributes"]]
    assert others == [{"i": 0}, {"i": 1}, {"i": 2}]
    expected = {
        "a_bool": True,
        "an_int": -3,
        "a_big_int": "1" + "0" * 40,
        "a_float": 0.5,
        "a_nan": None,
        "an_inf": None,
        "a_text": "grün",
        "a_none": None,
        "a_list": [1, 2],
        "an_enum": 4,
        "a_str_subclass": "text",
        "unreprable": "Unreprable",
        "some_bytes": "b'\\x00\\xff'",
        "name_": "kept",
    }
    assert {name: first[name] for name in expected} == expected


def test_wrong_arguments_are_the_type_errors_of_any_function(interpreter: Interpreter) -> None:
    def program():
        import marey

        messages = []
        for arguments, keywords in [((), {}), (("a", True, 3), {}), (("a",), {"name": "b"}), ((), {"nam": "a"})]:
            try:
                marey.profile_section(*arguments, **keywords)
            except TypeError as error:
                messages.append(str(error))
        return messages

    assert interpreter.result(program) == [
        "profile_section() missing 1 required positional argument: 'name'",
        "profile_section() takes from 1 to 2 positional arguments but 3 were given",
        "profile_section() got multiple values for argument 'name'",
        "profile_section() missing 1 required positional argument: 'name'",
    ]


NAMES = {
    "empty": "''",
    "a number": "3",
    "none": "None",
    "a tuple": "('vae', 1)",
    "a surrogate": "'a\\ud800b'",
    "nul": "'a\\x00b'",
    "terminal codes": "'\\x1b]0;title\\x07\\x1b[31mred\\r\\n'",
    "markup": "'</script><img src=x onerror=alert(1)>'",
    "right to left": "'\\u202egnp.exe'",
    "a table row": "'a | b\\n| c'",
    "emoji": "'\\U0001f3ac'",
    "a megabyte": "'m' * 1_000_000",
    "a path": "'../../etc/passwd'",
}


@pytest.mark.parametrize("kind", NAMES)
def test_any_name_is_recorded_and_shown_without_harm(interpreter: Interpreter, kind: str) -> None:
    finished = interpreter.run(f"""
        import marey
        marey.start("out")
        name = {NAMES[kind]}
        for _ in range(2):
            with marey.profile_section(name):
                pass
        with marey.profile_section(name, attribute=name):
            pass
        marey.get_global_stats().print_summary()
        marey.export_profiling_report("report")
        (row,) = marey.get_global_stats().get_all_stats().values()
        assert row["count"] == 3, row
    """)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert not set(finished.stdout) & (set(map(chr, range(32))) - {"\n"}), "control characters reached the terminal"
    assert "\u202e" not in finished.stdout
    report = read_capture(finished.captures[0])
    ((name, row),) = report["timing_stats"].items()
    assert row["count"] == 3
    assert len(name.encode()) <= 1200
    assert json.loads((finished.folder / "report" / "profiling_report.json").read_text())["timing_stats"].keys() == {
        name
    }


def test_name_whose_repr_fails_is_known_by_its_type(interpreter: Interpreter) -> None:
    def program():
        import marey

        class Unreprable:
            def __repr__(self):
                raise RuntimeError("no")

        with marey.profile_section(Unreprable()):
            pass
        return list(marey.get_global_stats().get_all_stats())

    assert interpreter.result(program) == ["Unreprable"]


def test_sections_opened_while_recording_was_off_do_nothing(either: Interpreter) -> None:
    def program():
        import marey

        with marey.profile_section("first"):
            marey.stop()
        off = marey.profile_section("off")
        with off:
            marey.start("out")
        with off, marey.profile_section("on"):
            pass
        return list(marey.get_global_stats().get_all_stats())

    assert either.result(program) == ["on"]


def test_thread_that_found_recording_off_records_after_a_start_and_a_fork(either: Interpreter) -> None:
    def program():
        import os

        import marey

        with marey.profile_section("before"):
            pass
        marey.stop()
        with marey.profile_section("off"):
            pass
        marey.start("out")
        child = os.fork()
        if child == 0:
            with marey.profile_section("in the child"):
                pass
            marey.stop()
            os._exit(0)
        os.waitpid(child, 0)
        with marey.profile_section("in the parent"):
            pass

    either.result(program)
    reports = [read_capture(path) for path in (either.folder / "out").glob("2*/*.marey")]
    assert sorted(list(report["timing_stats"]) for report in reports) == [["in the child"], ["in the parent"]]


def test_section_moved_to_another_thread_is_completed_there(either: Interpreter) -> None:
    def program():
        import threading

        import marey

        section = marey.profile_section("moved")
        section.__enter__()
        thread = threading.Thread(target=section.__exit__, args=(None, None, None))
        thread.start()
        thread.join()
        with marey.profile_section("later"):
            pass
        return {name: row["count"] for name, row in marey.get_global_stats().get_all_stats().items()}

    assert either.result(program) == {"moved": 1, "later": 1}


def test_leaving_more_often_than_entering_is_harmless(either: Interpreter) -> None:
    def program():
        import marey

        section = marey.profile_section("once")
        section.__exit__(None, None, None)
        with section:
            pass
        section.__exit__(None, None, None)
        section.__exit__(ValueError, ValueError(), None)
        return marey.get_global_stats().get_stats("once")["count"]

    assert either.result(program) == 1


def test_both_kinds_of_section_objects_exist_on_this_python(interpreter: Interpreter) -> None:
    def program():
        import marey

        fast = type(marey.profile_section("a"))
        marey._core.use_fast_sections(False)
        plain = type(marey.profile_section("a"))
        return fast.__name__, plain.__name__, fast is plain

    fast, plain, is_same = interpreter.result(program)
    assert (fast, plain) == ("section", "section")
    assert not is_same, f"the fast section objects are not used on {sys.version}"


def test_a_section_as_a_decorator_is_opened_by_each_call_of_whatever_it_decorates(either: Interpreter) -> None:
    def program():
        import asyncio

        import marey

        marey.start(output_dir="out", job_id="job")

        @marey.profile_section("plain", part=1)
        def plain(a, *, b):
            """Documented."""
            return recursive(a) if b else a

        @marey.profile_section("recursive")
        def recursive(n):
            return n and recursive(n - 1)

        @marey.profile_section("generator")
        def generator():
            for item in range(3):
                with marey.profile_section("within"):
                    yield item

        @marey.profile_section("coroutine")
        async def coroutine(n):
            await asyncio.sleep(0)
            return n

        @marey.profile_section("off", enabled=False)
        def off():
            return 5

        class Pipeline:
            @marey.profile_section("method")
            def method(self):
                return 6

            @property
            @marey.profile_section("property")
            def value(self):
                return 7

            @marey.profile_section("class method")
            @classmethod
            def of_class(cls):
                return cls

        async def several():
            return await asyncio.gather(*(coroutine(n) for n in range(4)))

        pipeline = Pipeline()
        found = [plain(3, b=True), plain.__name__, plain.__doc__, list(generator()), asyncio.run(several()), off()]
        found += [pipeline.method(), pipeline.value, pipeline.of_class() is Pipeline]
        try:
            marey.profile_section("wrong")(1, 2)
        except TypeError as error:
            found.append(str(error))
        return found

    assert either.result(program) == [
        *(0, "plain", "Documented.", [0, 1, 2], [0, 1, 2, 3], 5),
        *(6, 7, True, "a section decorates one function"),
    ]
    report = read_capture(either.folder / "out")
    counts = {}
    for row in report["sections"]:
        counts[row["name"]] = counts.get(row["name"], 0) + row["count"]
    assert counts == {
        **{"plain": 1, "recursive": 4, "generator": 1, "within": 3, "coroutine": 4},
        **{"method": 1, "property": 1, "class method": 1},
    }
    assert [given["attributes"] for given in report["section_attributes"]] == [{"part": 1}]
