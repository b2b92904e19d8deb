"""What outer sections used: read at both ends, so that what one section read is no other's."""

from __future__ import annotations

from typing import Any

import pytest

from interpreter import Interpreter, read_capture

MIB = 1 << 20


def resources_of(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    rows = {row["id"]: row for row in report["sections"]}

    def path(row: dict[str, Any]) -> str:
        parent = rows.get(row["parent"])
        return row["name"] if parent is None else f"{path(parent)} / {row['name']}"

    return {path(rows[used["section"]]): used for used in report["section_resources"]}


def test_what_a_section_read_is_no_other_sections(interpreter: Interpreter) -> None:
    """The story of document 000: ``load`` reads its file from the disk, ``pure_compute`` beside it nothing."""

    def program() -> dict[str, int]:
        import os

        import marey

        n_bytes = 48 << 20

        def of_process() -> int:
            with open("/proc/self/io") as io:
                return next(int(line.split()[1]) for line in io if line.startswith("read_bytes"))

        with open("weights", "wb") as weights:
            weights.write(os.urandom(1 << 20) * 48)
            weights.flush()
            os.fsync(weights.fileno())
            os.posix_fadvise(weights.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        marey.start("out", job_id="job")
        with marey.profile_section("generate"):
            with marey.profile_section("load"):
                before = of_process()
                with open("weights", "rb", buffering=0) as weights:
                    while weights.read(1 << 20):
                        pass
                read = of_process() - before
            with marey.profile_section("pure_compute"):
                sum(range(200_000))
        with marey.profile_section("keep"):
            held = bytearray(b"x") * n_bytes
        with marey.profile_section("give_back"):
            del held
        return {"read": read, "kept": n_bytes}

    finished = interpreter.run(program)
    truth = finished.result
    used = resources_of(read_capture(finished.captures[0]))
    load = used["generate / load"]
    # Pages of the program itself may come in meanwhile, and all threads touch memory.
    beside = truth["kept"] // 4
    assert 0 <= load["process"]["read_bytes"] - truth["read"] < beside
    assert abs(load["thread"]["read_bytes"] - truth["read"]) < beside
    assert used["generate / pure_compute"]["process"]["read_bytes"] < beside
    assert used["generate / pure_compute"]["process"]["cpu_s"] > 0
    assert used["generate"]["process"]["read_bytes"] >= truth["read"]
    assert abs(used["keep"]["growth_bytes"] - truth["kept"]) < beside
    assert abs(used["give_back"]["growth_bytes"] + truth["kept"]) < beside


def test_deep_sections_and_those_beyond_the_budget_have_no_figures(interpreter: Interpreter) -> None:
    def program() -> None:
        import marey

        marey.start("out", job_id="job")
        with marey.profile_section("a"), marey.profile_section("b"), marey.profile_section("c"):
            pass
        for _ in range(5_000):
            with marey.profile_section("loop"):
                pass
        with marey.profile_section("after"):
            pass

    finished = interpreter.run(program)
    assert finished.returncode == 0, finished.stderr
    used = resources_of(read_capture(finished.captures[0]))
    assert {path: row["calls"] for path, row in used.items()} == {"a": 1, "a / b": 1, "loop": 5_000, "after": 1}
    # 100 at once, and 5 a second.
    assert 100 <= used["loop"]["calls_measured"] < 5_000
    assert used["after"]["calls_measured"] == 1


def test_work_of_another_thread_is_the_processs(interpreter: Interpreter) -> None:
    def program() -> float:
        import threading
        import time

        import marey

        def busy() -> None:
            begun = time.thread_time()
            while time.thread_time() - begun < 0.1:
                pass

        marey.start("out", job_id="job")
        worker = threading.Thread(target=busy)
        with marey.profile_section("waits"):
            worker.start()
            worker.join()
        return 0.1

    finished = interpreter.run(program)
    spent = finished.result
    waits = resources_of(read_capture(finished.captures[0]))["waits"]
    assert waits["process"]["cpu_s"] >= spent
    assert waits["thread"]["cpu_s"] < spent / 2


def test_the_process_has_one_peak_and_it_is_the_kernels(interpreter: Interpreter) -> None:
    """160 MiB for a moment, between two readings of anybody."""

    def program() -> int:
        import marey

        marey.start("out", job_id="job")
        with marey.profile_section("decode"):
            pixels = bytearray(b"x") * (160 << 20)
            del pixels
        marey.stop()
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))

    finished = interpreter.run(program)
    report = read_capture(finished.captures[0])
    (process,) = (source for source in report["memory"]["sources"] if source["source"] == "process")
    peaks = {
        "memory": process["counted_peak_mb"],
        "cpu_metrics": report["cpu_metrics"]["process"]["resident_mb"]["peak"],
        "summary": report["summary"]["cpu"]["peak_process_memory_mb"],
    }
    # The kernel counts resident pages late, some for each thread and processor.
    assert peaks == {name: pytest.approx(finished.result / MIB, abs=16) for name in peaks}
    assert len({round(peak, 3) for peak in peaks.values()}) == 1


def test_what_a_session_used_is_read_at_its_ends(interpreter: Interpreter) -> None:
    """Its figures lie between those that the program reads within it and around it; a thread's work counts, too."""

    def program() -> list[dict[str, list[int]]]:
        import threading
        import time

        import marey

        def used() -> dict[str, int]:
            with open("/proc/self/io") as io:
                n_written = next(int(line.split()[1]) for line in io if line.startswith("write_bytes"))
            return {"cpu_ns": time.process_time_ns(), "written_bytes": n_written}

        def work() -> None:
            until = time.process_time_ns() + 150_000_000
            while time.process_time_ns() < until:
                pass
            with open("clip", "wb") as clip:
                clip.write(bytes(3 << 20))

        def rest() -> None:
            pass

        marey.start("out", job_id="job")
        truth = []
        for name, does in ("works", work), ("rests", rest):
            around = used()
            with marey.session(name):
                within = used()
                thread = threading.Thread(target=does)
                thread.start()
                thread.join()
                end_within = used()
            end_around = used()
            truth.append({key: [end_within[key] - within[key], end_around[key] - around[key]] for key in within})
        return truth

    finished = interpreter.run(program)
    report = read_capture(finished.captures[0])
    for session, truth in zip(report["sessions"], finished.result, strict=True):
        process = session["resources"]["process"]
        least, most = truth["cpu_ns"]
        # The kernel's two clocks of a process are up to a tick apart.
        assert least / 1e9 - 0.004 <= process["cpu_s"] <= most / 1e9 + 0.004
        least, most = truth["written_bytes"]
        assert least <= process["written_bytes"] <= most
    assert finished.result[0]["cpu_ns"][0] >= 150_000_000
