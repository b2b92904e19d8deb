"""`TimingStats` and `IterationProfiler`: the figures, while others record, and of nothing at all."""

from __future__ import annotations

import statistics

import pytest

import marey
from interpreter import Interpreter, read_capture


def test_own_statistics_are_those_of_the_given_durations() -> None:
    stats = marey.TimingStats()
    for duration in (0.3, 0.1, 0.2):
        stats.record("a", duration)
    stats.record("b", 5)
    row = stats.get_stats("a")
    assert row["count"] == 3
    assert row["total"] == pytest.approx(0.6)
    assert row["mean"] == pytest.approx(0.2)
    assert (row["min"], row["max"], row["last"]) == (0.1, 0.3, 0.2)
    assert list(stats.get_all_stats()) == ["b", "a"], "the largest total first"
    stats.clear()
    assert stats.get_all_stats() == {}


def test_unknown_name_has_no_statistics() -> None:
    assert marey.TimingStats().get_stats("never") == {}
    assert marey.get_global_stats().get_stats("never") == {}
    assert marey.get_global_stats().get_stats(3) == {}


def test_a_name_that_found_no_place_has_every_key_and_no_figure(interpreter: Interpreter) -> None:
    def program():
        import marey

        for number in range(5000):
            with marey.profile_section(f"name-{number}"):
                pass
        stats = marey.get_global_stats()
        names = ("name-0", "name-4999", "(other)")
        return [stats.get_stats(name) for name in names]

    first, last, other = interpreter.result(program)
    assert first["count"] == 1
    assert set(last) == set(first)
    assert set(last.values()) == {None}
    # Of 4 096 nodes one is the root and one stands for the others.
    assert other["count"] == 5000 - 4094


def test_a_name_keeps_its_totals_however_many_places_it_is_called_from(interpreter: Interpreter) -> None:
    def program():
        import marey

        def nested(depth: int) -> None:
            with marey.profile_section("work" if depth % 2 else "rest"):
                if depth:
                    nested(depth - 1)

        for depth in range(100, 150):
            with marey.profile_section(f"task-{depth}"):
                nested(depth)
        stats = marey.get_global_stats()
        rows = [stats.get_stats(name) for name in ("work", "rest", "task-149")]
        return [row["count"] for row in rows], stats.get_stats("(other)")

    counts, other = interpreter.result(program)
    depths = range(100, 150)
    works = sum((depth + 1) // 2 for depth in depths)
    assert counts == [works, sum(depth + 1 for depth in depths) - works, 1]
    assert other == {}


@pytest.mark.parametrize("duration", [-1, float("nan"), float("inf"), 1e300, "x", None])
def test_impossible_duration_is_refused(duration: object) -> None:
    with pytest.raises(ValueError, match="duration"):
        marey.TimingStats().record("a", duration)  # type: ignore[arg-type]


def test_own_statistics_do_not_mix_with_the_process() -> None:
    stats = marey.TimingStats()
    stats.record("only mine", 1)
    assert "only mine" not in marey.get_global_stats().get_all_stats()
    assert "PROFILING SUMMARY" in stats.summary()
    assert "only mine" in stats.summary()


def test_process_wide_statistics_take_known_durations(interpreter: Interpreter) -> None:
    def program():
        import marey

        stats = marey.get_global_stats()
        for milliseconds in (1, 2, 3, 10):
            stats.record("known", milliseconds / 1000)
        return stats.get_stats("known")

    row = interpreter.result(program)
    assert row["count"] == 4
    assert row["total"] == pytest.approx(0.016, rel=1e-3)
    assert row["min"] == pytest.approx(0.001, rel=1e-3)
    assert row["max"] == pytest.approx(0.010, rel=1e-3)


def test_own_statistics_are_exact() -> None:
    stats = marey.TimingStats()
    for duration in (20, 10):
        stats.record("two", duration)
    row = stats.get_stats("two")
    assert (row["p50"], row["p95"], row["last"], row["total"]) == (15, 20, 10, 30)


def test_durations_that_reach_back_before_the_recording_keep_their_length(interpreter: Interpreter) -> None:
    """The program timed them itself; what they are under began later, so they took nothing of its time."""

    def program() -> None:
        import marey

        marey.start("out", job_id="job")
        with marey.profile_section("around"):
            for duration in (0.2, 0.4, 0.6):
                marey.get_global_stats().record("upload", duration)

    finished = interpreter.run(program)
    report = read_capture(finished.captures[0])
    upload = report["timing_stats"]["upload"]
    # The file has ticks: with how long one lasts, which the recording measures, a duration comes back as that is known.
    assert (upload["count"], upload["total"]) == (3, pytest.approx(1.2, rel=1e-3))
    # Of a histogram.
    assert upload["median"] == pytest.approx(0.4, rel=0.032)
    assert upload["p95"] == pytest.approx(0.6, rel=0.032)
    assert not upload["percentiles_are_exact"]
    around = next(row for row in report["sections"] if row["name"] == "around")
    assert around["self"] == around["inclusive"]


def test_median_of_an_even_number_of_turns_is_between_the_two_in_the_middle(interpreter: Interpreter) -> None:
    def program():
        import time

        import marey

        profiler = marey.IterationProfiler("turns")
        for milliseconds in (1, 2, 3, 10):
            with profiler.iteration():
                end = time.perf_counter() + milliseconds / 1000
                while time.perf_counter() < end:
                    pass
        path = marey.export_profiling_report("report", iteration_profiler=profiler)
        import json

        return profiler.get_stats(), json.load(open(path))["iteration_stats"]

    stats, exported = interpreter.result(program)
    turns = exported["durations"]
    assert len(turns) == 4
    # Between the two readings the recording may have learned better how long a tick is.
    assert exported["median"] == pytest.approx(statistics.median(turns), abs=1e-9)
    assert stats["median"] == pytest.approx(statistics.median(turns), rel=1e-4)
    assert stats["mean"] == pytest.approx(statistics.mean(turns), rel=1e-4)
    assert stats["std"] == pytest.approx(statistics.stdev(turns), rel=1e-3)
    assert stats["first"] == pytest.approx(turns[0], rel=1e-4)
    assert stats["mean_after_first"] == pytest.approx(statistics.mean(turns[1:]), rel=1e-4)
    assert (stats["count"], stats["errors"]) == (4, 0)


def test_nested_turns_are_all_measured(interpreter: Interpreter) -> None:
    def program():
        import marey

        profiler = marey.IterationProfiler("nested")
        with profiler.iteration(), profiler.iteration():
            pass
        profiler.start_iteration()
        profiler.start_iteration()
        profiler.end_iteration()
        profiler.end_iteration()
        profiler.end_iteration()
        return profiler.get_stats()["count"]

    assert interpreter.result(program) == 4


def test_overlapping_turns_of_tasks_have_their_own_durations(interpreter: Interpreter) -> None:
    def program():
        import asyncio
        import time

        import marey

        profiler = marey.IterationProfiler("overlapping")

        async def turn(i):
            before = time.perf_counter()
            with profiler.iteration():
                begin = time.perf_counter()
                await asyncio.sleep(0.02 * i)
                inside = time.perf_counter() - begin
            return inside, time.perf_counter() - before

        async def main():
            return await asyncio.gather(*(turn(i) for i in (1, 2, 3)))

        return asyncio.run(main()), profiler.get_stats()

    turns, stats = interpreter.result(program)
    inside, around = zip(*turns, strict=True)
    assert stats["count"] == 3
    assert sum(inside) <= stats["total"] <= sum(around)
    assert min(inside) <= stats["min"] <= min(around)
    assert max(inside) <= stats["max"] <= max(around)


def test_failed_turn_is_counted_as_such(interpreter: Interpreter) -> None:
    def program():
        import marey

        profiler = marey.IterationProfiler("failing")
        error = KeyError()
        for i in range(3):
            try:
                with profiler.iteration():
                    if i == 1:
                        raise error
            except KeyError as caught:
                is_same = caught is error
        stats = profiler.get_stats()
        return is_same, stats["count"], stats["errors"]

    assert interpreter.result(program) == [True, 3, 1]


def test_loop_without_turns_has_no_statistics(capsys: pytest.CaptureFixture[str]) -> None:
    profiler = marey.IterationProfiler("empty")
    assert profiler.get_stats() == {}
    profiler.end_iteration()
    profiler.print_summary()
    assert "no iterations were recorded" in capsys.readouterr().out
    off = marey.IterationProfiler("off", enabled=False)
    with off.iteration():
        pass
    assert off.get_stats() == {}


def test_turns_as_short_as_the_clock_divide_by_nothing(interpreter: Interpreter) -> None:
    def program():
        import marey

        profiler = marey.IterationProfiler("short")
        for _ in range(1000):
            with profiler.iteration():
                pass
        profiler.print_summary()
        return profiler.get_stats()["count"]

    assert interpreter.result(program) == 1000


def test_clear_while_threads_record_lets_totals_go_on_right(interpreter: Interpreter) -> None:
    def program():
        import threading

        import marey

        stats = marey.get_global_stats()
        barrier = threading.Barrier(5)

        def work():
            for _ in range(2):
                barrier.wait()
                for _ in range(5000):
                    with marey.profile_section("work"):
                        pass
                barrier.wait()
                barrier.wait()

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        counts = []
        for _ in range(2):
            barrier.wait()
            for _ in range(20):
                stats.clear()
            barrier.wait()
            counts.append(stats.get_all_stats().get("work", {"count": 0})["count"])
            stats.clear()
            barrier.wait()
        for thread in threads:
            thread.join()
        for _ in range(7):
            with marey.profile_section("work"):
                pass
        row = stats.get_stats("work")
        return counts, row["count"], row["min"] <= row["mean"] <= row["max"]

    counts, after, is_ordered = interpreter.result(program)
    assert all(0 <= count <= 20_000 for count in counts)
    assert (after, is_ordered) == (7, True)


def test_readers_see_growing_totals_while_eight_threads_write(interpreter: Interpreter) -> None:
    def program():
        import sys
        import threading

        import marey

        sys.setswitchinterval(1e-5)
        stats = marey.get_global_stats()
        n_done = 0
        lock = threading.Lock()

        def work(i):
            nonlocal n_done
            for j in range(3000):
                with marey.profile_section(f"{i} {j % 50}"), marey.profile_section("inner"):
                    pass
            with lock:
                n_done += 1

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        last = 0
        while n_done < 8:
            count = sum(row["count"] for row in stats.get_all_stats().values())
            assert count >= last
            last = count
            stats.summary()
            stats.get_stats("inner")
        for thread in threads:
            thread.join()
        return sum(row["count"] for row in stats.get_all_stats().values()), stats.get_stats("inner")["count"]

    assert interpreter.result(program) == [48_000, 24_000]


def test_name_whose_repr_waits_for_another_thread_holds_up_nobody(interpreter: Interpreter) -> None:
    def program():
        import threading

        import marey

        stats = marey.TimingStats()
        is_asked, is_done = threading.Event(), threading.Event()

        class Name:
            def __repr__(self):
                is_asked.set()
                is_done.wait()
                return "name"

        def other():
            is_asked.wait()
            stats.record("other", 1.0)
            is_done.set()

        thread = threading.Thread(target=other)
        thread.start()
        stats.record(Name(), 2.0)
        thread.join()
        return {name: row["total"] for name, row in stats.get_all_stats().items()}

    assert interpreter.result(program) == {"name": 2.0, "other": 1.0}


def test_a_duration_that_cannot_be_one_is_counted_and_raises_nothing(interpreter: Interpreter) -> None:
    """``record`` of the process's statistics: no number, too large for one, or longer than the machine is up."""

    def program():
        import marey

        marey.start("out")
        stats = marey.get_global_stats()
        stats.record("kept", 0.25)
        for duration in (10**400, "x", None, float("nan"), float("inf"), -1, 1e15):
            stats.record("refused", duration)
        # A run of milliseconds knows its clock's slope to some millionths.
        assert abs(stats.get_stats("kept")["total"] - 0.25) < 1e-4, stats.get_stats("kept")
        assert stats.get_stats("refused") == {}, stats.get_stats("refused")

    finished = interpreter.run(program)
    assert (finished.returncode, finished.stderr) == (0, "")
    (capture,) = {path.resolve() for path in finished.captures}
    assert read_capture(capture)["data_quality"]["losses"]["notes_dropped"] == 7
