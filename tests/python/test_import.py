"""`import marey` is cheap and starts nothing; `MAREY_ENABLED=0` keeps everything off."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from interpreter import Interpreter


def test_import_loads_none_of_the_heavy_modules(interpreter: Interpreter) -> None:
    def program():
        import sys

        before = set(sys.modules)
        import marey  # noqa: F401

        return sorted(set(sys.modules) - before)

    loaded = interpreter.result(program, options=("-S",), env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
    heavy = {"torch", "numpy", "typing", "inspect", "pathlib", "contextlib", "functools", "platform", "asyncio", "re"}
    assert not heavy & set(loaded)


def test_import_starts_no_thread_and_makes_no_file(interpreter: Interpreter) -> None:
    def program():
        import os
        import signal
        import sys
        from pathlib import Path

        def seen():
            rings = sorted(str(path) for path in Path(os.environ["MAREY_RING_DIR"]).glob("*"))
            hooks = [
                sys.excepthook is sys.__excepthook__,
                sys.getprofile(),
                sys.gettrace(),
                signal.getsignal(signal.SIGTERM) is signal.SIG_DFL,
            ]
            return len(os.listdir("/proc/self/task")), rings, sorted(os.listdir(".")), hooks

        before = seen()
        import marey
        import marey.diffusers
        import marey.distributed
        import marey.sinks
        import marey.torch

        after = seen()
        with marey.profile_section("first use"):
            pass
        return before == after, seen()[0] > after[0], len(seen()[1]) > 0, seen()[2] == after[2]

    assert interpreter.result(program) == [True, True, True, True]


def test_recording_in_memory_leaves_nothing_behind(interpreter: Interpreter, ring_folder: Path) -> None:
    def program():
        import marey

        with marey.profile_section("a"):
            pass

    interpreter.result(program)
    assert not list(ring_folder.glob("*"))
    assert sorted(path.name for path in interpreter.folder.iterdir()) == ["program.py", "result.json"]


def test_switched_off_by_the_environment_nothing_is_started(interpreter: Interpreter) -> None:
    def program():
        import os
        from pathlib import Path

        import marey

        @marey.profile_function
        def function():
            return 1

        started = marey.start("out")
        tracker = marey.MemoryTracker()
        cache = marey.CacheEventRecorder()
        profiler = marey.IterationProfiler("steps")
        with marey.session("s"), marey.profile_section("a", x=1), marey.profile_section("b"), profiler.iteration():
            function()
            tracker.snapshot("label")
            cache.record_hit("c")
            marey.event("e")
            marey.counter("n", 1)
        marey.get_global_stats().record("r", 1)
        return (
            started,
            marey.get_global_stats().get_all_stats(),
            len(os.listdir("/proc/self/task")),
            [str(path) for path in Path(os.environ["MAREY_RING_DIR"]).glob("*")],
            Path("out").exists(),
            str(marey.stop()),
        )

    for value in ("0", "false", "off"):
        assert interpreter.result(program, env={"MAREY_ENABLED": value}) == [None, {}, 1, [], False, "None"]


def test_module_and_command_are_the_same_program(interpreter: Interpreter) -> None:
    finished = interpreter.run("import marey.__main__, sys; sys.argv = ['marey', '--version']; marey.__main__.main()")
    assert finished.returncode == 0
    assert finished.stdout.startswith("marey 0.")


def test_free_threaded_python_is_refused_in_one_sentence() -> None:
    from marey.interpreter import refusal

    assert refusal("t", is_main=True) == (
        "Marey needs the GIL, and this Python is free-threaded; use the build of the same version without the 't'"
    )
    assert refusal("", is_main=True) is None
    assert refusal("d", is_main=True) is None


def test_this_python_tells_by_its_abi_flags_whether_it_is_free_threaded() -> None:
    import sysconfig

    assert ("t" in sys.abiflags) == bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
