"""The program's files, sockets and descriptors stay its own while it is recorded."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from interpreter import TESTS, Interpreter, paths_of, read_capture

if TYPE_CHECKING:
    from collections.abc import Callable

ENABLED = {"MAREY_ENABLED": "1", "MAREY_OUTPUT_DIR": "out", "MAREY_JOB_ID": "job"}


def closes_everything() -> tuple[int, int]:
    """Closes what it has not opened, opens files and sockets, and records on: bytes that came into those."""
    import os
    import socket

    import marey
    from patience import eventually

    marey.start("out", job_id="job")

    def record() -> None:
        before = os.path.getsize(marey._core.capture_path())
        for _ in range(1000):
            with marey.profile_section("step"):
                pass
        eventually(lambda: os.path.getsize(marey._core.capture_path()) != before)

    record()
    os.closerange(3, 4096)
    files = [os.open(f"own-{number}", os.O_CREAT | os.O_EXCL | os.O_RDWR) for number in range(10)]
    near, far = socket.socketpair()
    record()
    record()
    marey.stop()
    for end in (near, far):
        end.setblocking(False)
    in_sockets = 0
    for end in (near, far):
        try:
            in_sockets += len(end.recv(64))
        except BlockingIOError:
            pass
    return sum(os.fstat(file).st_size for file in files), in_sockets


def test_a_program_that_closes_every_descriptor_gets_nothing_of_ours(interpreter: Interpreter) -> None:
    finished = interpreter.run(closes_everything)
    assert finished.returncode == 0, finished.stderr
    assert finished.result == [0, 0]
    [capture] = (finished.folder / "out" / "job").glob("*.marey")
    report = read_capture(capture)
    assert paths_of(report) == {"step": 3000}
    assert report["status"]["kind"] == "finished"


def test_what_watches_allocations_meets_no_thread_of_ours(interpreter: Interpreter) -> None:
    """It would write to its file there, and a thread of ours has none of the program's files."""

    def program() -> None:
        import threading

        import marey
        from patience import eventually

        profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False, cpu_monitor_interval=0.02)
        eventually(profiler.get_current_metrics, lambda read: "cpu" in read)

        def work() -> None:
            for _ in range(20_000):
                with marey.profile_section("step"):
                    pass

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        marey.stop()

    library = interpreter.folder / "watched_allocations.so"
    command = ["cc", "-O1", "-shared", "-fPIC", "-o", library, TESTS / "watched_allocations.c"]
    subprocess.run(command, check=True)
    interpreter.result(program, env={"LD_PRELOAD": str(library), "WATCHED_ALLOCATIONS": "watched"})
    n_calls, n_out_of_reach = map(int, (interpreter.folder / "watched").read_text().split())
    assert n_calls > 1000
    assert n_out_of_reach == 0
    [capture] = {path.resolve() for path in interpreter.folder.glob("out/*/*.marey")}
    assert paths_of(read_capture(capture))["step"] == 60_000


def holds_45_files() -> int:
    """As a program that has opened 45 files of its own."""
    files = [open("/dev/null") for _ in range(45)]
    import marey

    with marey.profile_section("step"):
        return len(files)


def has_none_free() -> bool:
    """Imports marey with every descriptor but those that an import takes in use."""
    import os

    import marey

    files = []
    try:
        while True:
            files.append(os.dup(0))
    except OSError:
        pass
    with marey.profile_section("step"):
        pass
    for file in files:
        os.close(file)
    return bool(files)


@pytest.mark.parametrize(("limit", "program"), [(64, holds_45_files), (16, has_none_free)])
def test_a_program_with_few_descriptors_runs_as_ever(
    interpreter: Interpreter, limit: int, program: Callable[[], object]
) -> None:
    finished = interpreter.run(program, env=ENABLED, before=("sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh"))
    assert finished.returncode == 0, finished.stderr
    assert finished.result
    assert finished.stderr.count("\n") <= 1, finished.stderr


@pytest.mark.parametrize("begins_in_memory", [False, True])
def test_the_way_to_the_capture_may_close_as_soon_as_it_records(
    interpreter: Interpreter, begins_in_memory: bool
) -> None:
    """Another user, another root, a folder that is moved: the file was opened before the program went on."""

    def program(begins_in_memory: bool) -> None:
        import os

        import marey

        if begins_in_memory:
            with marey.profile_section("first"):
                pass
        marey.start("out", job_id="job")
        os.rename("out", "moved")
        for _ in range(20_000):
            with marey.profile_section("step"):
                pass

    interpreter.result(program, begins_in_memory)
    [capture] = (interpreter.folder / "moved").glob("job/*.marey")
    report = read_capture(capture)
    assert report["status"]["kind"] == "finished"
    assert paths_of(report)["step"] == 20_000


def test_a_thread_without_memory_for_its_ring_is_said_to_be_one(interpreter: Interpreter) -> None:
    def program() -> None:
        import resource
        import threading

        import marey

        marey.start("out", job_id="job")
        go = threading.Event()

        def work() -> None:
            go.wait()
            for _ in range(20_000):
                with marey.profile_section("step"):
                    pass

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        with open("/proc/self/statm") as statm:
            used = int(statm.read().split()[0]) * resource.getpagesize()
        # Room for all small things, and for no ring of the size that is asked for.
        resource.setrlimit(resource.RLIMIT_AS, (used + (16 << 20), resource.getrlimit(resource.RLIMIT_AS)[1]))
        go.set()
        for thread in threads:
            thread.join()
        resource.setrlimit(resource.RLIMIT_AS, (resource.getrlimit(resource.RLIMIT_AS)[1],) * 2)

    # Threads that begin meanwhile map no heaps of their own, which would be given back later.
    interpreter.result(program, env={"MAREY_RING_RECORDS": str(1 << 21), "MALLOC_ARENA_MAX": "1"})
    [capture] = (interpreter.folder / "out").glob("job/*.marey")
    report = read_capture(capture)
    assert report["data_quality"]["losses"]["sections_unrecorded"] == 40_000


def test_where_little_address_space_is_left_the_program_has_it(interpreter: Interpreter) -> None:
    """Threads of the recorder reserve so much that the program's own could not start."""

    def program() -> tuple[str, int]:
        import resource
        import threading

        import marey

        with open("/proc/self/statm") as statm:
            used = int(statm.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (180 << 20), resource.getrlimit(resource.RLIMIT_AS)[1]))
        error = ""
        try:
            marey.start("out", job_id="job")
        except marey.Error as refused:
            error = str(refused)
        go = threading.Event()
        threads = [threading.Thread(target=go.wait) for _ in range(4)]
        for thread in threads:
            thread.start()
        n_started = threading.active_count() - 1
        go.set()
        for thread in threads:
            thread.join()
        return error, n_started

    error, n_started = interpreter.result(program)
    assert error.startswith("a recording needs 512 MiB of address space and the limit leaves 1"), error
    assert error.endswith("(ulimit -v)")
    assert n_started == 4


@pytest.mark.parametrize("how", [["-m", "marey"], ["marey"]])
def test_the_command_does_not_record_itself(interpreter: Interpreter, how: list[str]) -> None:
    """Whoever exports ``MAREY_ENABLED`` means programs."""

    def program(how: list[str]) -> tuple[list[str], str]:
        import os
        import subprocess
        import sys
        from pathlib import Path

        bin_folder = Path(sys.executable).parent
        command = [sys.executable, *how] if how[0] == "-m" else [str(bin_folder / how[0])]
        environment = os.environ | {"MAREY_ENABLED": "1", "MAREY_OUTPUT_DIR": "out"}
        step = "import marey\nwith marey.profile_section('step'):\n    pass\n"
        subprocess.run([sys.executable, "-c", step], env=environment | {"MAREY_JOB_ID": "job"}, check=True)
        report = [*command, "report", "out", "--format", "json"]
        found = subprocess.run(report, env=environment, check=True, capture_output=True, text=True)
        folders = sorted(path.name for path in Path("out").iterdir() if path.is_dir() and not path.is_symlink())
        return folders, found.stdout

    folders, text = interpreter.result(program, how)
    assert folders == ["job"]
    assert '"step"' in text


def test_a_pipe_where_rings_should_be_holds_nobody_up(interpreter: Interpreter) -> None:
    def program() -> bool:
        import os

        os.makedirs("rings/999995-8", mode=0o700)
        os.chmod("rings", 0o700)
        os.mkfifo("rings/999995-8/process")
        os.environ["MAREY_RING_DIR"] = os.path.abspath("rings")

        import marey

        return marey.start("out", job_id="job") is not None

    assert interpreter.result(program)


@pytest.mark.parametrize("how", ["spawn", "fork", "forkserver"])
@pytest.mark.parametrize("is_by_environment", [False, True])
def test_workers_that_record_by_themselves_are_of_the_job_that_started_them(
    interpreter: Interpreter, how: str, is_by_environment: bool
) -> None:
    """``latest`` is the job of the process that the user started, and its reports have the sessions of all."""
    program = f"""
        import multiprocessing
        import os

        IS_BY_ENVIRONMENT = {is_by_environment}


        def recorded(name):
            import marey

            if IS_BY_ENVIRONMENT:
                with marey.session("of " + name), marey.profile_section(name):
                    pass
                return
            with marey.Profiler(enabled=True, output_dir="out", real_time_display=False) as profiler:
                with profiler.session("of " + name), profiler.stage(name):
                    pass


        def work(number):
            recorded("worker")


        if __name__ == "__main__":
            import marey

            context = multiprocessing.get_context({how!r})
            if not IS_BY_ENVIRONMENT:
                marey.start("out")
            processes = [context.Process(target=work, args=(number,)) for number in range(3)]
            for process in processes:
                process.start()
            for process in processes:
                process.join()
            recorded("main")
    """
    environment = {"MAREY_OUTPUT_DIR": "out"} | ({"MAREY_ENABLED": "1"} if is_by_environment else {})
    finished = interpreter.run(program, env=environment)
    assert finished.returncode == 0, finished.stderr
    jobs = [path for path in (finished.folder / "out").iterdir() if path.is_dir() and not path.is_symlink()]
    [job] = [path for path in jobs if path.name != "sessions"]
    assert (finished.folder / "out" / "latest").resolve() == job
    stages = [name for path in job.glob("*.marey") for name in paths_of(read_capture(path))]
    assert sorted(stages) == ["main", "worker", "worker", "worker"]
    if not is_by_environment:
        report = json.loads((finished.folder / "out" / "profiling_report.json").read_text())
        names = sorted(session["name"] for session in report["sessions"])
        assert names == ["of main", "of worker", "of worker", "of worker"]
        assert report["stage_analysis"]["stages"]["worker"]["call_count"] == 3


def test_a_limit_of_file_sizes_that_is_lowered_later_ends_nothing(interpreter: Interpreter) -> None:
    """Who writes past it gets SIGXFSZ: the capture stays below, and reports that are too long are not written."""

    def program():
        import resource
        import signal

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False)
        with profiler.stage("before"):
            pass
        received = []
        signal.signal(signal.SIGXFSZ, lambda *_: received.append("SIGXFSZ"))
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
        for _ in range(5000):
            with profiler.stage("after"):
                pass
        profiler.cleanup()
        marey.stop()
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        return received

    finished = interpreter.run(program)
    assert finished.returncode == 0, finished.stderr
    assert finished.result == []
    sizes = {path.stat().st_size for path in (finished.folder / "out").rglob("*.*") if path.is_file()}
    assert max(sizes) <= 2000


DAEMON = """
    import sys, threading
    import marey

    marey.start("out", job_id="job")
    polls = threading.Event()

    @marey.profile_function
    def polled():
        polls.set()
        return sum(range(100))

    def poll():
        while True:
            polled()

    threading.Thread(target=poll, daemon=True).start()
    polls.wait()
    sys.exit(3)
"""
DAEMON_POOL = """
    import queue, sys, threading, time, weakref
    from concurrent.futures import ThreadPoolExecutor, thread
    import marey

    marey.start("out", job_id="job")
    polls = threading.Event()

    class Pool(ThreadPoolExecutor):
        def _adjust_thread_count(self):
            given = (weakref.ref(self), self._work_queue, self._initializer, self._initargs)
            worker = threading.Thread(target=thread._worker, args=given, daemon=True)
            worker.start()
            self._threads.add(worker)

    def poll():
        while True:
            polls.set()
            time.sleep(0.001)

    with marey.session("one"):
        Pool(1).submit(poll)
    polls.wait()
    sys.exit(3)
"""


@pytest.mark.parametrize("program", [DAEMON, DAEMON_POOL])
def test_a_daemon_thread_that_the_end_of_the_interpreter_ends_in_our_code_takes_nothing_with_it(
    interpreter: Interpreter, program: str
) -> None:
    # CPython before 3.14 unwinds it where it next takes the GIL: most of the runs meet that.
    ends = [interpreter.run(program) for _ in range(4)]
    assert [(end.returncode, end.stderr) for end in ends] == [(3, "")] * 4


def test_a_signal_that_the_program_holds_back_is_delivered_to_no_thread_of_ours(interpreter: Interpreter) -> None:
    def program() -> list[str]:
        import os
        import signal

        import marey

        marey.start("out", job_id="job")
        with marey.profile_section("first"):
            pass
        held = [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1]
        signal.pthread_sigmask(signal.SIG_BLOCK, held)
        for sent in held:
            os.kill(os.getpid(), sent)
        told = [signal.sigwait(held) for _ in held]
        return sorted(one.name for one in told)

    assert interpreter.result(program) == ["SIGINT", "SIGTERM", "SIGUSR1"]


def test_sections_that_were_opened_in_another_recording_are_not_in_this_one(interpreter: Interpreter) -> None:
    def program() -> None:
        import marey

        marey.start("out", job_id="one")
        turns = marey.IterationProfiler("turn")
        with marey.profile_section("outer"):
            turns.start_iteration()
            marey.stop()
            marey.start("out", job_id="two")
            with marey.profile_section("inner"):
                pass
            turns.end_iteration()

    interpreter.result(program)
    [capture] = (interpreter.folder / "out/two").glob("*.marey")
    counts = {row["name"]: row["count"] for row in read_capture(capture)["sections"]}
    assert counts.get("outer", 0) == counts.get("turn", 0) == 0
    assert counts["inner"] == 1


def test_ctrl_c_while_a_value_is_shown_comes_when_the_program_goes_on(interpreter: Interpreter) -> None:
    def program() -> list[str]:
        import marey

        class Interrupted:
            def __repr__(self) -> str:
                raise KeyboardInterrupt

            __str__ = __repr__

        marey.start("out", job_id="job")
        came = []
        for record in (
            lambda: marey.event("event", value=Interrupted()),
            lambda: marey.profile_section(Interrupted()),
            lambda: marey.profile_section("section", value=Interrupted()).__enter__(),
        ):
            try:
                record()
                for _ in range(100):
                    pass
            except KeyboardInterrupt:
                came.append("came")
        return came

    assert interpreter.result(program) == ["came"] * 3
