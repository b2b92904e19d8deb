"""Processes that come from a recording one: forks, workers, other programs."""

from __future__ import annotations

import pytest

from interpreter import Finished, Interpreter, paths_of, read_capture

pytestmark = pytest.mark.usefixtures("patient")


def all_paths(finished: Finished) -> list[dict[str, int]]:
    """The call paths of all captures of the job, fullest first."""
    reports = [read_capture(path) for path in (finished.folder / "out" / "job").glob("*.marey")]
    return sorted((paths_of(report) for report in reports), key=lambda paths: (-sum(paths.values()), str(paths)))


def statuses(finished: Finished) -> list[str]:
    """How each process of the job ended."""
    return [read_capture(path)["status"]["kind"] for path in (finished.folder / "out" / "job").glob("*.marey")]


def test_forked_child_has_a_capture_of_its_own_and_the_parents_is_untouched(either: Interpreter) -> None:
    finished = either.run("""
        import os, marey
        marey.start("out", job_id="job")
        with marey.profile_section("around the fork"):
            for _ in range(100):
                with marey.profile_section("parent"):
                    pass
            child = os.fork()
            if child == 0:
                for _ in range(10):
                    with marey.profile_section("child"):
                        pass
                os._exit(0)
            os.waitpid(child, 0)
            for _ in range(100):
                with marey.profile_section("parent"):
                    pass
    """)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert all_paths(finished) == [{"around the fork": 1, "around the fork > parent": 200}, {"child": 10}]


def test_fork_of_a_program_with_one_thread_warns_of_none(either: Interpreter) -> None:
    """Since Python 3.12 a fork beside other threads is warned of; Marey's own is no reason."""
    finished = either.run(
        """
        import os, marey
        marey.start("out", job_id="job")
        for _ in range(50):
            with marey.profile_section("parent"):
                child = os.fork()
            if child == 0:
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        marey.event("done")
        print(len(os.listdir("/proc/self/task")))
        """,
        options=("-W", "always"),
    )
    # The program itself, what drains, and what samples the host.
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "3\n", "")
    assert all_paths(finished) == [{"parent": 50}]


def test_fork_beside_dead_neighbours_warns_of_no_thread(interpreter: Interpreter) -> None:
    """What a start completes of theirs, a capture at a time, it completes on a thread that ends for a fork."""
    left = interpreter.run("""
        import os, marey
        marey.start("out", job_id="dead")
        has_recorded, told = os.pipe()
        parent_lives, held = os.pipe()
        for _ in range(16):
            if os.fork() == 0:
                os.close(held)
                with marey.profile_section("child"):
                    pass
                os.write(told, b".")
                os.read(parent_lives, 1)
                os._exit(0)
            os.read(has_recorded, 1)
        os._exit(0)
    """)
    assert (left.returncode, left.stderr) == (0, "")
    finished = interpreter.run(
        """
        import os, marey
        from patience import eventually
        marey.start("out", job_id="job")
        rings = os.environ["MAREY_RING_DIR"]
        while True:
            left = len(os.listdir(rings))
            child = os.fork()
            if child == 0:
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            if left == 1:
                break
            # From CPython 3.13 on threads come back with the next record.
            with marey.profile_section("next"):
                pass
            eventually(lambda: len(os.listdir(rings)) < left)
        """,
        options=("-W", "always"),
    )
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "", "")


def test_child_leaves_sections_of_its_parent_without_recording_them(either: Interpreter) -> None:
    finished = either.run("""
        import os, sys, marey
        marey.start("out", job_id="job")
        kept = marey.profile_section("kept")
        with marey.profile_section("outer"), kept:
            child = os.fork()
            if child == 0:
                with kept:
                    pass
        if child:
            os.waitpid(child, 0)
    """)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert all_paths(finished) == [{"outer": 1, "outer > kept": 1}, {"kept": 1}]
    assert statuses(finished) == ["finished"] * 2


def test_a_fork_beside_the_first_section_of_another_thread_leaves_a_child_that_can_record(either: Interpreter) -> None:
    finished = either.run("""
        import os, signal, sys, threading, warnings, marey
        warnings.simplefilter("ignore")  # Python 3.12 warns of a fork beside threads
        sys.setswitchinterval(1e-6)

        def first_section(has_begun):
            has_begun.append(True)
            with marey.profile_section("thread"):
                pass

        def race(moment):
            has_begun = []
            thread = threading.Thread(target=first_section, args=(has_begun,))
            thread.start()
            while not has_begun:
                pass
            for _ in range(moment):
                pass
            child = os.fork()
            if child == 0:
                signal.alarm(100)  # ends a child that waits for a lock that nobody holds any more
                with marey.profile_section("child"):
                    pass
                os._exit(0)
            thread.join()
            return os.waitpid(child, 0)[1]

        for moment in range(100):
            racer = os.fork()
            if racer == 0:
                marey.start("out", job_id=f"job-{moment}")
                os._exit(race(moment) != 0)
            assert os.waitpid(racer, 0)[1] == 0, moment
    """)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "", "")


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_of_multiprocessing_record_exactly_what_they_did(interpreter: Interpreter, method: str) -> None:
    finished = interpreter.run(
        f"""
        import multiprocessing
        import marey

        def work(n):
            for _ in range(n):
                with marey.profile_section("work"), marey.profile_section("leaf"):
                    pass
            return n

        if __name__ == "__main__":
            context = multiprocessing.get_context("{method}")
            with marey.profile_section("parent"):
                workers = [context.Process(target=work, args=(100 * i,)) for i in (1, 2, 3)]
                for worker in workers:
                    worker.start()
                for worker in workers:
                    worker.join()
                    assert worker.exitcode == 0
        """,
        env={"MAREY_ENABLED": "1", "MAREY_OUTPUT_DIR": "out", "MAREY_JOB_ID": "job"},
    )
    assert (finished.returncode, finished.stderr) == (0, "")
    paths = [path for path in all_paths(finished) if path]
    assert paths == [{"work": n, "work > leaf": n} for n in (300, 200, 100)] + [{"parent": 1}]
    recorded = [
        report["status"]["kind"]
        for report in map(read_capture, (finished.folder / "out" / "job").glob("*.marey"))
        if report["sections"]
    ]
    assert recorded == ["finished"] * 4


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pool_workers_that_are_terminated_lose_nothing(interpreter: Interpreter, method: str) -> None:
    finished = interpreter.run(
        f"""
        import multiprocessing
        import marey

        def work(n):
            with marey.profile_section("work"):
                pass

        if __name__ == "__main__":
            with multiprocessing.get_context("{method}").Pool(2) as pool:
                pool.map(work, range(100), chunksize=1)
        """,
        env={"MAREY_ENABLED": "1", "MAREY_OUTPUT_DIR": "out", "MAREY_JOB_ID": "job"},
    )
    assert (finished.returncode, finished.stderr) == (0, "")
    assert sum(paths.get("work", 0) for paths in all_paths(finished)) == 100


def test_other_programs_are_started_as_ever(interpreter: Interpreter) -> None:
    finished = interpreter.run("""
        import os, subprocess, sys, marey
        marey.start("out", job_id="job")
        with marey.profile_section("outer"):
            said = subprocess.run(["sh", "-c", "echo $0; ls /proc/self/fd | wc -l"], capture_output=True, text=True)
            print(said.stdout.split()[0], said.returncode, flush=True)
        with marey.profile_section("before exec"):
            pass
        os.execv(sys.executable, [sys.executable, "-c", "print('replaced')"])
    """)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "sh 0\nreplaced\n", "")
    assert all_paths(finished) == [{"before exec": 1, "outer": 1}]


def test_in_memory_recording_forks_without_a_folder(interpreter: Interpreter) -> None:
    finished = interpreter.run("""
        import os, marey
        with marey.profile_section("parent"):
            pass
        child = os.fork()
        if child == 0:
            with marey.profile_section("child"):
                pass
            os._exit(0 if list(marey.get_global_stats().get_all_stats()) == ["child"] else 1)
        print(os.waitpid(child, 0)[1], list(marey.get_global_stats().get_all_stats()), os.listdir("."))
    """)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert finished.stdout == "0 ['parent'] ['program.py']\n"
