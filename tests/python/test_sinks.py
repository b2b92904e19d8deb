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
        for seconds in (0, -1, float("nan")):
            try:
                marey.sinks.WandbSink(object()).every(seconds)
            except ValueError:
                refused.append(True)
        return refused

    assert interpreter.result(program) == [True, True, True]
