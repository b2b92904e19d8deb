"""A sink calls back with live figures, and what a tracker does there reaches nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from interpreter import TESTS, Interpreter, path_with

ROOT = Path(__file__).resolve().parents[2]
TRACKERS = ("tensorboard", "wandb", "mlflow", "trackio")


def test_the_callback_gets_numbers_by_their_path_and_a_step(interpreter: Interpreter) -> None:
    def program():
        import marey

        class Now:
            def get_current_metrics(self):
                texts = {"timestamp": 1e9, "session": "a", "sessions": ["a"]}
                beyond = {"bad": float("nan"), "worse": float("-inf"), "beyond_all_floats": 10**400}
                return {**texts, **beyond, "fps": 2.5, "gpu": {"GPU-1": {"power_watts": 250}}}

        class Nothing:
            def get_current_metrics(self):
                return {"session": "a"}

        calls = []
        marey.sinks.Sink(lambda *call: calls.append(call), Nothing()).log(0)
        sink = marey.sinks.Sink(lambda *call: calls.append(call), Now())
        for step in (None, 7, None, 3):
            sink.log(step)
        assert sink.failed == 0
        return calls

    both = {"marey/fps": 2.5, "marey/gpu/GPU-1/power_watts": 250}
    assert interpreter.result(program) == [[both, step] for step in (0, 7, 8, 3)]


def test_without_a_profiler_the_figures_are_those_of_the_process(interpreter: Interpreter) -> None:
    def program():
        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out")
        for step in range(3):
            profiler.record_diffusion_step(step=step)
        calls = []
        for given in ((), (profiler,)):
            marey.sinks.Sink(lambda metrics, step: calls.append(metrics), *given).log()
        return ["marey/steps_per_second" in metrics for metrics in calls]

    assert interpreter.result(program) == [True, True]


def test_the_end_tells_the_sections_once_and_nothing_is_called_after_it(interpreter: Interpreter) -> None:
    def program():
        import threading

        import marey

        class Now:
            def get_current_metrics(self):
                return {"fps": 1.0}

        calls = []
        for _ in range(3):
            with marey.profile_section("decode"):
                pass
        with marey.sinks.Sink(lambda metrics, step: calls.append(metrics), Now()) as sink:
            pass
        sink.close()
        sink.log()
        sink.every(0.001)
        [metrics] = calls
        return metrics["marey/section/decode/count"], sink.failed, threading.active_count()

    assert interpreter.result(program) == [3, 0, 1]


def test_a_tracker_that_raises_is_counted_and_said_once(interpreter: Interpreter) -> None:
    def program():
        import marey

        class Now:
            def get_current_metrics(self):
                return {"fps": 1.0}

        def broken(metrics, step):
            raise OSError("no network")

        sink = marey.sinks.Sink(broken, Now())
        sink.log()
        sink.log()
        return sink.failed

    finished = interpreter.run(program)
    assert finished.result == 2
    assert finished.stderr == "Sink: OSError: no network; not said again\n"


def test_a_tracker_that_wants_to_end_the_program_does_not(interpreter: Interpreter) -> None:
    def program():
        import marey

        class Now:
            def get_current_metrics(self):
                return {"fps": 1.0}

        def ends(metrics, step):
            raise SystemExit(3)

        sink = marey.sinks.Sink(ends, Now())
        sink.log()
        return sink.failed

    finished = interpreter.run(program)
    assert finished.result == 1
    assert finished.stderr == "Sink: SystemExit: 3; not said again\n"


def test_an_error_that_cannot_be_said_is_counted(interpreter: Interpreter) -> None:
    def program():
        import marey

        class Now:
            def get_current_metrics(self):
                return {"fps": 1.0}

        class Speechless(Exception):
            def __str__(self):
                raise ValueError

        def broken(metrics, step):
            raise Speechless

        sink = marey.sinks.Sink(broken, Now())
        sink.log()
        return sink.failed

    assert interpreter.result(program) == 1


def test_a_thread_calls_until_the_sink_is_closed_and_a_last_time_then(interpreter: Interpreter) -> None:
    def program():
        import threading

        import marey

        class Now:
            def get_current_metrics(self):
                return {"fps": 1.0}

        calls, thrice = [], threading.Event()

        def call(metrics, step):
            calls.append([next(iter(metrics)), step, threading.current_thread().name])
            if len(calls) == 3:
                thrice.set()

        with marey.profile_section("decode"):
            pass
        with marey.sinks.Sink(call, Now()).every(0.001):
            thrice.wait()
        return calls, threading.active_count()

    calls, threads = interpreter.result(program)
    steps = range(len(calls) - 1)
    assert len(steps) >= 3
    assert calls[:-1] == [["marey/fps", step, "marey-sink"] for step in steps]
    assert calls[-1][0].startswith("marey/section/decode/")
    assert calls[-1][1:] == [len(steps), "marey-sink"]
    assert threads == 1


def test_an_interval_that_is_none_is_refused_before_anything_runs(interpreter: Interpreter) -> None:
    def program():
        import threading

        import marey

        refused = []
        for seconds in (0, -1, float("nan"), float("inf"), 1e300):
            try:
                marey.sinks.Sink(print).every(seconds)
            except ValueError:
                refused.append(threading.active_count())
        return refused

    assert interpreter.result(program) == [1] * 5


def test_a_call_does_not_wait_for_a_tracker_that_hangs_in_another(interpreter: Interpreter) -> None:
    def program():
        import threading

        import marey

        class Now:
            def get_current_metrics(self):
                return {"fps": 1.0}

        inside, release = threading.Event(), threading.Event()

        def hangs(metrics, step):
            inside.set()
            release.wait()

        sink = marey.sinks.Sink(hangs, Now())
        thread = threading.Thread(target=sink.log)
        thread.start()
        inside.wait()
        sink.log()
        skipped = sink.skipped
        release.set()
        thread.join()
        return skipped, sink.failed

    assert interpreter.result(program) == [1, 0]


@pytest.mark.parametrize("is_released", [False, True])
@pytest.mark.parametrize("hangs_at", [0, "the end"])
def test_a_tracker_that_hangs_is_given_up(interpreter: Interpreter, hangs_at: int | str, is_released: bool) -> None:
    """The program ends beside a call that never returns, and one that returns late is the last."""

    def program(hangs_at, is_released):
        import threading

        import marey

        class Now:
            def get_current_metrics(self):
                return {"fps": 1.0}

        calls, inside, release = [], threading.Event(), threading.Event()

        def hangs(metrics, step):
            calls.append(step)
            if hangs_at == 0 or "marey/fps" not in metrics:
                inside.set()
                release.wait()

        with marey.profile_section("decode"):
            pass
        sink = marey.sinks.Sink(hangs, Now()).every(0.001)
        thread = sink._thread
        if hangs_at == 0:
            inside.wait()
        # In place of some seconds.
        join, thread.join = thread.join, lambda timeout: inside.wait()
        sink.close()
        before = len(calls)
        if is_released:
            release.set()
            join()
        return sink.failed, len(calls) - before

    finished = interpreter.run(program, hangs_at, is_released)
    assert (finished.returncode, finished.result) == (0, [1, 0])
    assert finished.stderr == "Sink: TimeoutError: the tracker does not return; not said again\n"


def test_a_forked_child_ends_without_a_call(interpreter: Interpreter) -> None:
    def program():
        import os
        import threading

        import marey

        class Now:
            def get_current_metrics(self):
                return {"fps": 1.0}

        calls, once = [], threading.Event()

        def call(metrics, step):
            calls.append(metrics)
            once.set()

        sink = marey.sinks.Sink(call, Now()).every(0.001)
        once.wait()
        child = os.fork()
        if child == 0:
            before = len(calls)
            with marey.profile_section("of the child"):
                pass
            sink.close()
            os._exit(len(calls) - before + sink.failed)
        status = os.waitpid(child, 0)[1]
        with marey.profile_section("of the parent"):
            pass
        sink.close()
        return os.waitstatus_to_exitcode(status), "marey/section/of the parent/count" in calls[-1]

    # Python warns of any fork beside a thread.
    assert interpreter.result(program, options=("-W", "ignore")) == [0, True]


@pytest.mark.parametrize("tracker", TRACKERS)
def test_the_example_tells_a_tracker_the_sections_before_its_run_ends(interpreter: Interpreter, tracker: str) -> None:
    def program(tracker):
        import trackers

        import marey
        import stand_in_trackers

        def work():
            for _ in range(3):
                with marey.profile_section("<lambda>"):
                    pass

        stand_in_trackers.install()
        getattr(trackers, f"to_{tracker}")(work)
        return stand_in_trackers.calls

    paths = os.pathsep.join([str(ROOT / "examples"), path_with(TESTS)])
    calls = interpreter.result(program, tracker, env={"PYTHONPATH": paths})
    name = f"marey/section/{'_lambda_' if tracker == 'mlflow' else '<lambda>'}/count"
    assert [(metrics[name], step) for metrics, step in calls if name in metrics] == [(3, 0)]
    assert len(calls) == 1 or tracker == "tensorboard"


@pytest.mark.parametrize("tracker", TRACKERS)
def test_the_documentation_shows_the_example(tracker: str) -> None:
    example = (ROOT / "examples/trackers.py").read_text(encoding="utf-8")
    function = next(part for part in example.split("\n\n\n") if part.startswith(f"def to_{tracker}("))
    assert function in (ROOT / "docs/how-to/trackers.md").read_text(encoding="utf-8")
