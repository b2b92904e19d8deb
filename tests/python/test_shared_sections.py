"""One section object, used by several threads at once, while its beginning or end has let go of the GIL."""

from __future__ import annotations

from capture_records import recorded
from interpreter import Interpreter, has_no_negative_self_time, paths_of, read_capture


# thread 0  sync ├──x──┤ sync        all four wait for each other in every sync, so each call of the object begins and
# thread 1  sync ├──x──┤ sync        ends while the others do
def test_four_threads_share_a_synchronised_object_and_no_call_is_lost(either: Interpreter) -> None:
    def program():
        import sys
        import threading
        import types

        import marey

        everybody = threading.Barrier(4)
        torch = types.ModuleType("torch")
        torch.cuda = types.SimpleNamespace(is_initialized=lambda: True, synchronize=everybody.wait)
        marey.start("out")
        shared = marey.profile_section("x", sync=True)
        sys.modules["torch"] = torch

        def work():
            for _ in range(5):
                with shared:
                    pass

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        marey.stop()

    finished = either.run(program)
    calls = recorded(finished)["sections"]
    assert [call["name"] for call in calls] == ["x"] * 20
    assert sorted(sum(call["thread"] == thread for call in calls) for thread in {c["thread"] for c in calls}) == [5] * 4
    report = read_capture(finished.captures[0])
    (row,) = report["sections"]
    assert row["count"] == 20
    # Ticks become nanoseconds once for the sum, and once for each call, by the slope of the clock there.
    total_ns = round(row["total"] * 1e9)
    assert abs(total_ns - sum(call["duration_ns"] for call in calls)) <= 20 + total_ns / 10_000
    assert [given["attributes"] for given in report["section_attributes"]] == [{"sync": True}] * 20


# first   sync ├──────────x──────────┤ sync      the second enters while the first is inside its first sync, fails,
# second     ├──x──┤ sync                        and is out again before the first comes back
def test_object_is_left_by_an_exception_while_another_thread_is_inside_its_sync(either: Interpreter) -> None:
    def program():
        import sys
        import threading
        import types

        import marey

        is_inside, may_go_on = threading.Event(), threading.Event()
        first = threading.Thread(target=lambda: work())

        def synchronize():
            if threading.current_thread() is first and not is_inside.is_set():
                is_inside.set()
                may_go_on.wait()

        torch = types.ModuleType("torch")
        torch.cuda = types.SimpleNamespace(is_initialized=lambda: True, synchronize=synchronize)
        marey.start("out")
        shared = marey.profile_section("x", sync=True)
        sys.modules["torch"] = torch

        def work():
            with shared, marey.profile_section("inside"):
                pass

        first.start()
        is_inside.wait()
        try:
            with shared:
                raise ValueError
        except ValueError:
            may_go_on.set()
        first.join()
        # The object is kept, and as good as new.
        with shared:
            pass
        marey.stop()

    finished = either.run(program)
    calls = recorded(finished)["sections"]
    assert [(call["name"], call["is_failed"]) for call in calls] == [
        ("x", True),
        ("x", False),
        ("inside", False),
        ("x", False),
    ]
    report = read_capture(finished.captures[0])
    assert paths_of(report) == {"x": 3, "x > inside": 1}
    assert has_no_negative_self_time(report)


# first   ├──x── sync ┈┈┈┈┈┈┈┈┈┈┈┤        the first is inside its last sync when the second enters and leaves
# second                ├──x──┤
def test_object_is_entered_while_another_thread_leaves_it(either: Interpreter) -> None:
    def program():
        import sys
        import threading
        import types

        import marey

        is_leaving, may_go_on = threading.Event(), threading.Event()

        def synchronize():
            if threading.current_thread() is first and has_body_run:
                is_leaving.set()
                may_go_on.wait()

        has_body_run = []
        torch = types.ModuleType("torch")
        torch.cuda = types.SimpleNamespace(is_initialized=lambda: True, synchronize=synchronize)
        marey.start("out")
        shared = marey.profile_section("x", sync=True)
        sys.modules["torch"] = torch

        def work():
            with shared:
                has_body_run.append(True)

        first = threading.Thread(target=work)
        first.start()
        is_leaving.wait()
        for _ in range(3):
            with shared:
                pass
        may_go_on.set()
        first.join()
        marey.stop()

    finished = either.run(program)
    calls = recorded(finished)["sections"]
    assert len(calls) == 4
    assert sorted(sum(call["thread"] == thread for call in calls) for thread in {c["thread"] for c in calls}) == [1, 3]
    longest = max(calls, key=lambda call: call["duration_ns"])
    assert longest is calls[0]


def test_objects_that_are_dropped_and_made_by_code_of_the_program_inside_sync_stay_apart(either: Interpreter) -> None:
    def program():
        import gc
        import sys
        import types

        import marey

        kept = []

        def synchronize():
            # Uses the pool of objects while the section that waits is being entered or left.
            with marey.profile_section("in sync"):
                kept.append([marey.profile_section(f"kept {len(kept)}") for _ in range(40)])
                gc.collect()
            if len(kept) % 2 == 0:
                kept.clear()

        torch = types.ModuleType("torch")
        torch.cuda = types.SimpleNamespace(is_initialized=lambda: True, synchronize=synchronize)
        marey.start("out")
        with marey.profile_section("before"):
            pass
        sys.modules["torch"] = torch
        for _ in range(10):
            with marey.profile_section("x", sync=True):
                pass
        del sys.modules["torch"]
        marey.stop()

    finished = either.run(program)
    assert finished.returncode == 0, finished.stderr
    assert paths_of(read_capture(finished.captures[0])) == {"before": 1, "in sync": 10, "x": 10, "x > in sync": 10}
