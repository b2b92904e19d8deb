"""Sinks hand live figures to trackers that stand in for TensorBoard, Weights & Biases, MLflow and Trackio."""

from __future__ import annotations

from interpreter import Interpreter


def test_each_tracker_gets_the_figures_in_its_own_way(interpreter: Interpreter) -> None:
    def program():
        import marey

        class Now:
            def get_current_metrics(self):
                gpu = {"GPU-1": {"power_watts": 250.0}}
                return {
                    "timestamp": 1e9,
                    "session": "a",
                    "sessions": ["a"],
                    "fps": 2.5,
                    "gpu": gpu,
                    "bad": float("nan"),
                }

        calls = []

        class Tracker:
            def add_scalar(self, tag, value, global_step=None):
                calls.append(["tensorboard", tag, value, global_step])

            def log(self, values, step=None):
                calls.append(["log", values, step])

            def log_metrics(self, values, step=None):
                calls.append(["mlflow", values, step])

            def log_metric(self, run_id, key, value, step=None):
                calls.append(["client", run_id, key, value, step])

        tracker, now = Tracker(), Now()
        marey.sinks.TensorBoardSink(tracker, now).log(step=7)
        marey.sinks.WandbSink(tracker, now).log()
        marey.sinks.TrackioSink(tracker, now, prefix="").log(step=3)
        marey.sinks.MlflowSink(tracker, now).log(step=4)
        marey.sinks.MlflowSink(tracker, now, run_id="r").log(step=5)
        return calls

    fps, power = "marey/fps", "marey/gpu/GPU-1/power_watts"
    both = {fps: 2.5, power: 250.0}
    assert interpreter.result(program) == [
        ["tensorboard", fps, 2.5, 7],
        ["tensorboard", power, 250.0, 7],
        ["log", both, 0],
        ["log", {"fps": 2.5, "gpu/GPU-1/power_watts": 250.0}, 3],
        ["mlflow", both, 4],
        ["client", "r", fps, 2.5, 5],
        ["client", "r", power, 250.0, 5],
    ]


def test_the_end_tells_the_sections_once_with_names_that_the_tracker_takes(interpreter: Interpreter) -> None:
    def program():
        import marey

        calls = []

        class Tracker:
            def log_metrics(self, values, step=None):
                calls.append(values)

        for _ in range(3):
            with marey.profile_section("de:code<é>"):
                pass
        with marey.sinks.MlflowSink(Tracker()) as sink:
            pass
        sink.close()
        [values] = calls
        return values["marey/section/de_code___/count"], sink.failed

    assert interpreter.result(program) == [3, 0]


def test_a_tracker_that_raises_is_counted_and_said_once(interpreter: Interpreter) -> None:
    def program():
        import marey

        class Now:
            def get_current_metrics(self):
                return {"fps": 1.0}

        class Broken:
            def log(self, values, step=None):
                raise OSError("no network")

        sink = marey.sinks.WandbSink(Broken(), Now())
        sink.log()
        sink.log()
        return sink.failed

    finished = interpreter.run(program)
    assert finished.result == 2
    assert finished.stderr == "WandbSink: OSError: no network; not said again\n"


def test_a_thread_sends_until_the_sink_is_closed(interpreter: Interpreter) -> None:
    def program():
        import threading

        import marey

        class Now:
            def get_current_metrics(self):
                return {"fps": 1.0}

        steps, thrice = [], threading.Event()

        class Tracker:
            def log(self, values, step=None):
                if "marey/fps" in values:
                    steps.append(step)
                if len(steps) == 3:
                    thrice.set()

        with marey.sinks.TrackioSink(Tracker(), Now()).every(0.001):
            thrice.wait()
        threads = [thread.name for thread in threading.enumerate()]
        return steps[:3], "marey-sink" in threads

    assert interpreter.result(program) == [[0, 1, 2], False]


def test_an_interval_that_is_none_is_refused_before_anything_runs(interpreter: Interpreter) -> None:
    def program():
        import marey

        refused = []
        for seconds in (0, -1, float("nan"), float("inf"), 1e300):
            try:
                marey.sinks.WandbSink(object()).every(seconds)
            except ValueError:
                refused.append(True)
        return refused

    assert interpreter.result(program) == [True] * 5


def test_a_tracker_that_wants_to_end_the_program_does_not(interpreter: Interpreter) -> None:
    def program():
        import marey

        class Now:
            def get_current_metrics(self):
                return {"fps": 1.0, "beyond_all_floats": 10**400}

        sent = []

        class Ends:
            def log(self, values, step=None):
                sent.append(values)
                raise SystemExit(3)

        sink = marey.sinks.WandbSink(Ends(), Now())
        sink.log()
        return sink.failed, sent

    finished = interpreter.run(program)
    assert finished.result == [1, [{"marey/fps": 1.0}]]
    assert finished.stderr == "WandbSink: SystemExit: 3; not said again\n"


def test_a_call_does_not_wait_for_a_tracker_that_hangs_in_another(interpreter: Interpreter) -> None:
    def program():
        import threading

        import marey

        class Now:
            def get_current_metrics(self):
                return {"fps": 1.0}

        inside, release = threading.Event(), threading.Event()

        class Hangs:
            def log(self, values, step=None):
                inside.set()
                release.wait()

        sink = marey.sinks.WandbSink(Hangs(), Now())
        thread = threading.Thread(target=sink.log)
        thread.start()
        inside.wait()
        sink.log()
        skipped = sink.skipped
        release.set()
        thread.join()
        return skipped, sink.failed

    assert interpreter.result(program) == [1, 0]


def test_names_that_become_equal_for_mlflow_are_kept_apart(interpreter: Interpreter) -> None:
    def program():
        import marey

        class Now:
            def get_current_metrics(self):
                return {"a:b": 1.0, "a_b": 2.0, "a?b": 3.0}

        sent = {}

        class Mlflow:
            def log_metrics(self, values, step=None):
                sent.update(values)

        marey.sinks.MlflowSink(Mlflow(), Now()).log()
        return sent

    assert interpreter.result(program) == {"marey/a_b": 2.0, "marey/a_b_2": 1.0, "marey/a_b_3": 3.0}
