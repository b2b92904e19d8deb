"""Greenlets (greenlet itself, gevent): each is a flow of its own, however they interleave on one thread."""

from __future__ import annotations

from capture_records import recorded
from interpreter import Interpreter, has_no_negative_self_time, paths_of, read_capture


# main  ├───────────────────M───────────────────┤
# a        ├──A──┤··········├──A──┤                   the dots: the other one runs
# b              ├──B──┤··········├──B──┤
def test_interleaved_greenlets_do_not_nest_into_each_other(either: Interpreter) -> None:
    def program():
        import greenlet

        import marey

        main = greenlet.getcurrent()

        def work(name):
            with marey.profile_section(name):
                main.switch()
                with marey.profile_section("inside"):
                    main.switch()
            main.switch()
            with marey.profile_section("after"):
                pass

        marey.start("out")
        with marey.profile_section("M"):
            both = [greenlet.greenlet(work), greenlet.greenlet(work)]
            for one, name in zip(both, "AB", strict=True):
                one.switch(name)
            for _ in range(3):
                for one in both:
                    one.switch()
            with marey.profile_section("own"):
                pass
        marey.stop()

    finished = either.run(program)
    report = read_capture(finished.captures[0])
    assert paths_of(report) == {
        "M": 1,
        "M > A": 1,
        "M > A > inside": 1,
        "M > B": 1,
        "M > B > inside": 1,
        "M > after": 2,
        "M > own": 1,
    }
    assert has_no_negative_self_time(report)
    calls = recorded(finished)["sections"]
    flows = {call["name"]: call["flow"] for call in calls if call["name"] != "inside"}
    assert flows["M"] == flows["own"] == 0
    assert len({flows["M"], flows["A"], flows["B"]}) == 3


def test_greenlets_without_a_section_around_them_are_outermost(either: Interpreter) -> None:
    def program():
        import greenlet

        import marey

        main = greenlet.getcurrent()

        def work(name):
            with marey.profile_section(name):
                main.switch()

        marey.start("out")
        a, b = greenlet.greenlet(work), greenlet.greenlet(work)
        # The first section of the process is one of a greenlet.
        a.switch("A")
        b.switch("B")
        with marey.profile_section("main"):
            a.switch()
        b.switch()
        with marey.profile_section("main"):
            pass
        marey.stop()

    finished = either.run(program)
    assert paths_of(read_capture(finished.captures[0])) == {"A": 1, "B": 1, "main": 2}


def test_greenlets_that_come_after_a_thousand_sections_of_the_thread_are_told_from_it(either: Interpreter) -> None:
    def program():
        import sys

        import marey

        marey.start("out")
        for _ in range(1000):
            with marey.profile_section("early"):
                pass
        assert "greenlet" not in sys.modules
        import greenlet

        main = greenlet.getcurrent()

        def work(name):
            with marey.profile_section(name):
                main.switch()

        a, b = greenlet.greenlet(work), greenlet.greenlet(work)
        a.switch("A")
        b.switch("B")
        a.switch()
        b.switch()
        marey.stop()

    finished = either.run(program)
    assert paths_of(read_capture(finished.captures[0])) == {"early": 1000, "A": 1, "B": 1}


def test_greenlet_that_sets_context_variables_is_still_a_flow_of_its_own(either: Interpreter) -> None:
    def program():
        import contextvars

        import greenlet

        import marey

        main = greenlet.getcurrent()
        variable = contextvars.ContextVar("variable")

        def work(name):
            variable.set(name)
            with marey.profile_section(name):
                main.switch()
            assert dict(contextvars.copy_context().items())[variable] == name

        marey.start("out")
        with marey.profile_section("M"):
            variable.set("main")
            a, b = greenlet.greenlet(work), greenlet.greenlet(work)
            a.switch("A")
            b.switch("B")
            a.switch()
            b.switch()
            assert variable.get() == "main"
        marey.stop()

    finished = either.run(program)
    assert paths_of(read_capture(finished.captures[0])) == {"M": 1, "M > A": 1, "M > B": 1}


def test_sections_by_decorator_of_interleaved_greenlets_stay_apart(interpreter: Interpreter) -> None:
    def program():
        import greenlet

        import marey

        main = greenlet.getcurrent()

        @marey.profile_function("call")
        def call(name):
            with marey.profile_section(name):
                main.switch()

        marey.start("out")
        a, b = greenlet.greenlet(call), greenlet.greenlet(call)
        a.switch("A")
        b.switch("B")
        a.switch()
        b.switch()
        marey.stop()

    finished = interpreter.run(program)
    assert paths_of(read_capture(finished.captures[0])) == {"call": 2, "call > A": 1, "call > B": 1}


# Each of the two waits for what the other does, so they interleave in the same way each time.
def test_gevent_greenlets_have_their_own_sections_and_sessions(interpreter: Interpreter) -> None:
    def program():
        import gevent
        from gevent.event import Event

        import marey

        first, second, third = Event(), Event(), Event()

        def a():
            with marey.session("request a"), marey.profile_section("A"):
                first.set()
                second.wait()
                with marey.profile_section("inside"):
                    pass
            third.set()

        def b():
            first.wait()
            with marey.session("request b"), marey.profile_section("B"):
                second.set()
                third.wait()
                with marey.profile_section("inside"):
                    pass

        marey.start("out")
        with marey.profile_section("serve"):
            gevent.joinall([gevent.spawn(a), gevent.spawn(b)], raise_error=True)
        marey.stop()

    finished = interpreter.run(program)
    report = read_capture(finished.captures[0])
    assert paths_of(report) == {
        "serve": 1,
        "serve > A": 1,
        "serve > A > inside": 1,
        "serve > B": 1,
        "serve > B > inside": 1,
    }
    sessions = recorded(finished)["sessions"]
    assert [(row["name"], row["parent"]) for row in sessions] == [("request a", None), ("request b", None)]


def test_patched_threads_of_gevent_are_flows_like_any_thread(interpreter: Interpreter) -> None:
    program = """
        from gevent import monkey

        monkey.patch_all()

        import threading

        import marey

        meet = threading.Barrier(3)

        def work(name):
            with marey.profile_section(name):
                meet.wait()

        marey.start("out")
        threads = [threading.Thread(target=work, args=(name,)) for name in "ABC"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        marey.stop()
    """
    finished = interpreter.run(program)
    assert finished.returncode == 0, finished.stderr
    assert paths_of(read_capture(finished.captures[0])) == {"A": 1, "B": 1, "C": 1}


def test_program_that_has_greenlet_and_uses_threads_records_as_ever(interpreter: Interpreter) -> None:
    def program():
        import threading

        import greenlet  # noqa: F401

        import marey

        marey.start("out")

        def work():
            for _ in range(3):
                with marey.profile_section("outer"), marey.profile_section("inner"):
                    pass

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        work()
        marey.stop()

    finished = interpreter.run(program)
    assert paths_of(read_capture(finished.captures[0])) == {"outer": 9, "outer > inner": 9}
    assert {call["flow"] for call in recorded(finished)["sections"]} == {0}
