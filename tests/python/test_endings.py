"""However a process ends, what was complete is in the capture."""

from __future__ import annotations

import mmap
import random
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from held_memory import ENVIRONMENT as HELD_MEMORY
from interpreter import Interpreter, environment, paths_of, read_capture
from patience import eventually

N_KILLS = 3

# Counts completed sections in a file of its own, outside of Marey: once before and once after each section.
COUNTED_WORK = """
import mmap, os, sys
import marey

with open("counter", "r+b") as file:
    counter = memoryview(mmap.mmap(file.fileno(), 16)).cast("q")  # writes whole numbers, as struct does not
marey.start("out")
n = 0
while True:
    counter[0] = n + 1
    with marey.profile_section("outer"), marey.profile_section("inner"):
        pass
    n += 1
    counter[1] = n
"""


@pytest.mark.parametrize("trial", range(N_KILLS))
def test_kill_at_any_moment_loses_nothing_that_was_complete(either: Interpreter, trial: int) -> None:
    folder = either.folder
    (folder / "counter").write_bytes(bytes(16))
    choose = "" if either.use_fast_sections else "import marey\nmarey._core.use_fast_sections(False)\n"
    (folder / "program.py").write_text(choose + COUNTED_WORK)
    with (folder / "counter").open("r+b") as file, mmap.mmap(file.fileno(), 16) as counter:
        process = subprocess.Popen([sys.executable, "program.py"], cwd=folder, env=environment())
        wanted = random.Random(trial).randrange(1, 200_000)
        eventually(lambda: struct.unpack("<qq", counter[:])[1], lambda n: n >= wanted or process.poll() is not None)
        assert process.poll() is None
        process.kill()
        process.wait()
        begun, completed = struct.unpack("<qq", counter[:])
    report = read_capture(folder / "out")
    for name in ("outer", "inner"):
        assert completed <= report["timing_stats"][name]["count"] <= begun
    assert report["status"]["kind"] in ("killed", "ended_without_closing")
    assert len(report["data_quality"]["open_sections"]) <= 2


WAYS_TO_END = {
    "os._exit": ("os._exit(3)", 3, "ended_without_closing"),
    "sys.exit": ("sys.exit(4)", 4, "finished"),
    "exception": ("raise ZeroDivisionError('secret prompt')", 1, "failed"),
    "exception of a library": ("import json; json.loads('{')", 1, "failed"),
    "interrupt": ("raise KeyboardInterrupt", -2, "failed"),
    "end of the script": ("pass", 0, "finished"),
}


@pytest.mark.parametrize("way", WAYS_TO_END)
def test_each_way_to_end_keeps_complete_sections_and_names_itself(interpreter: Interpreter, way: str) -> None:
    end, code, status = WAYS_TO_END[way]
    finished = interpreter.run(f"""
        import os, sys, marey
        marey.start("out")
        for _ in range(1000):
            with marey.profile_section("complete"):
                pass
        with marey.profile_section("last"):
            {end}
    """)
    assert finished.returncode == code
    report = read_capture(interpreter.folder / "out")
    assert report["timing_stats"]["complete"]["count"] == 1000
    assert report["status"]["kind"] == status
    if status == "ended_without_closing":
        assert [section["path"] for section in report["data_quality"]["open_sections"]] == [["last"]]
    reasons = {"exception": "ZeroDivisionError", "exception of a library": "json.decoder.JSONDecodeError"}
    if way in reasons:
        assert report["status"]["reason"] == reasons[way]
        assert "secret" not in str(report)
        assert reasons[way] in finished.stderr, "Python's own message is there as ever"


def test_users_exception_hook_stays_the_users(interpreter: Interpreter) -> None:
    finished = interpreter.run("""
        import sys, marey
        marey.start("out")
        assert sys.excepthook is sys.__excepthook__
        sys.excepthook = lambda kind, value, traceback: print("mine", kind.__name__)
        raise KeyError
    """)
    assert (finished.returncode, finished.stdout, finished.stderr) == (1, "mine KeyError\n", "")
    assert read_capture(interpreter.folder / "out")["status"]["reason"] == "KeyError"


def test_interpreter_ends_while_daemon_threads_record(either: Interpreter) -> None:
    finished = either.run("""
        import threading, marey
        marey.start("out")
        started = threading.Barrier(9)
        def work():
            started.wait()
            while True:
                with marey.profile_section("forever"), marey.profile_section("inner", x=1):
                    pass
        for _ in range(8):
            threading.Thread(target=work, daemon=True).start()
        started.wait()
        for _ in range(20_000):
            with marey.profile_section("main"):
                pass
    """)
    assert (finished.returncode, finished.stderr) == (0, "")
    report = read_capture(either.folder / "out")
    assert report["timing_stats"]["main"]["count"] == 20_000
    assert report["status"]["kind"] == "finished"


def test_sections_in_exit_handlers_and_finalizers_do_no_harm(interpreter: Interpreter) -> None:
    finished = interpreter.run("""
        import atexit
        @atexit.register
        def late():
            with marey.profile_section("late"):
                print("late")
        import marey
        marey.start("out")
        @atexit.register
        def early():
            with marey.profile_section("early"):
                print("early")
        class Finalized:
            def __del__(self, marey=marey, print=print):
                with marey.profile_section("finalized", x=1):
                    marey.event("finalized")
                    print("finalized")
        kept = Finalized()
        kept.cycle = kept
    """)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "early\nlate\nfinalized\n", "")
    assert paths_of(read_capture(interpreter.folder / "out")) == {"early": 1}


def test_many_threads_one_after_the_other_reuse_what_they_need(interpreter: Interpreter) -> None:
    def program():
        import threading

        import marey
        from held_memory import held_bytes

        marey.start("out")

        def work():
            with marey.profile_section("short"):
                pass

        def held():
            with open("/proc/self/maps") as maps:
                return held_bytes(), len(maps.readlines())

        for i in range(3000):
            if i == 1000:
                before = held()
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        return marey.get_global_stats().get_stats("short")["count"], [
            now - then for now, then in zip(held(), before, strict=True)
        ]

    count, (n_bytes, n_mappings) = interpreter.result(program, env=HELD_MEMORY)
    assert count == 3000
    # Of 2 000 threads: a note of each that was kept took 800 kB, a ring of each would be a mapping.
    assert n_bytes < 200_000
    assert n_mappings < 200


def test_sections_with_attributes_do_not_grow_the_process(either: Interpreter) -> None:
    def program():
        import os

        import marey
        from held_memory import held_bytes
        from patience import eventually

        marey.start("out")

        def work(n):
            kept = marey.profile_section("kept")
            for i in range(n):
                with marey.profile_section("a", step=i), kept, kept:
                    for _ in range(4):
                        with marey.profile_section("b"):
                            pass

        empty = os.path.getsize(marey._core.capture_path())
        work(50_000)
        # The drain has been at work.
        eventually(lambda: os.path.getsize(marey._core.capture_path()) != empty)
        before = held_bytes()
        work(200_000)
        growth = held_bytes() - before
        return marey.get_global_stats().get_stats("kept")["count"], growth

    count, growth = either.result(program, env=HELD_MEMORY)
    assert count == 500_000
    # The smallest allocation has 32 bytes: one that is kept for each of the 200 000 attributes would be 6.4 MB.
    assert growth < 500_000


def test_suspended_generator_is_named_after_a_crash_and_adopts_nothing(interpreter: Interpreter) -> None:
    finished = interpreter.run("""
        import os, marey
        marey.start("out")
        @marey.profile_function("frames")
        def frames():
            yield 1
            yield 2
        running = frames()
        next(running)
        with marey.profile_section("consumer"):
            pass
        next(running)
        os._exit(0)
    """)
    assert finished.returncode == 0
    report = read_capture(interpreter.folder / "out")
    assert [section["path"] for section in report["data_quality"]["open_sections"]] == [["frames"]]
    assert paths_of(report) == {"consumer": 1, "frames": 0}


CALLED_BACK = """
import os, select, signal, sys, threading, time, types
import marey

signal.alarm(200)  # ends it where a thread never comes to what is waited for
# A thread that has the interpreter keeps it until it waits.
sys.setswitchinterval(1000)
BACK, SEND_BACK = os.pipe()
INSIDE = []


class Late:
    # Comes back when the interpreter has ended.
    def __repr__(self):
        INSIDE.append(threading.get_native_id())
        os.read(BACK, 1)
        print("came back")

    __str__ = __float__ = __index__ = __repr__
    device = property(__repr__)


class End:
    # The threads come back; each of them is ended, or waits for ever.
    def __del__(self, os=os, select=select.select, back=BACK, send_back=SEND_BACK, inside=INSIDE):
        os.write(send_back, b"...")
        while select([back], [], [], 0)[0] or not all(map(self.has_ended, inside)):
            os.sched_yield()
        os.write(1, b"all are back")

    def has_ended(self, thread, os=os):
        try:
            stat = os.open(f"/proc/self/task/{thread}/stat", os.O_RDONLY)
        except FileNotFoundError:
            return True
        state = os.read(stat, 512).rpartition(b")")[2].split()[0]
        os.close(stat)
        return state == b"S"


def synchronize():
    repr(Late())


cuda = types.SimpleNamespace(is_initialized=lambda: True, synchronize=synchronize)
sys.modules["torch"] = types.SimpleNamespace(cuda=cuda)


def event():
    marey.event("x", v=Late())


def section():
    with marey.profile_section("x", v=Late()):
        pass


def waiting():
    with marey.profile_section("x", sync=True):
        pass


def session():
    with marey.session("s", a=Late()):
        pass


def named():
    with marey.profile_section(Late()):
        pass


marey.start("out")
for work in WORK:
    threading.Thread(target=work, daemon=True).start()
while len(INSIDE) < 3:
    time.sleep(0.001)
# What the end of the interpreter drops first, whoever still holds this module.
sys.ps1 = End()
"""


@pytest.mark.parametrize("work", ["event, section, waiting", "session, named, waiting"])
def test_a_thread_that_the_interpreter_ends_in_a_callback_ends_nothing_else(either: Interpreter, work: str) -> None:
    ended = either.run(CALLED_BACK.replace("WORK", f"[{work}]"))
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "all are back", "")
    assert read_capture(either.folder / "out")["status"]["kind"] == "finished"


def test_runs_that_are_killed_one_after_the_other_leave_the_rings_of_one(
    interpreter: Interpreter, ring_folder: Path
) -> None:
    for n in range(10):
        killed = interpreter.run("""
            import os, signal, marey
            marey.start("out", job_id="job")
            with marey.profile_section("work"):
                print(len(os.listdir(os.environ["MAREY_RING_DIR"])), flush=True)
                os.kill(os.getpid(), signal.SIGKILL)
        """)
        assert (killed.returncode, killed.stdout) == (-9, "1\n")
        assert len(list(ring_folder.iterdir())) == 1
        statuses = [read_capture(capture)["status"]["kind"] for capture in (killed.folder / "out/job").glob("*.marey")]
        assert statuses == ["ended_without_closing"] * (n + 1)


def test_children_that_are_killed_and_forked_again_leave_the_rings_of_one(interpreter: Interpreter) -> None:
    interpreter.result("""
        import os, signal, marey
        from patience import eventually
        marey.start("out", job_id="job")
        for _ in range(10):
            child = os.fork()
            if child == 0:
                with marey.profile_section("work"):
                    os.kill(os.getpid(), signal.SIGKILL)
            os.waitpid(child, 0)
            # The parent's, that of the child, and that of the one before, until somebody has time for it.
            eventually(lambda: os.listdir(os.environ["MAREY_RING_DIR"]), lambda rings: len(rings) <= 2)
        open("result.json", "w").write("null")
    """)
