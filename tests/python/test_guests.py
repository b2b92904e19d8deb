"""The program's files, sockets and descriptors stay its own while it is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from interpreter import Interpreter, paths_of, read_capture

if TYPE_CHECKING:
    from collections.abc import Callable

ENABLED = {"MAREY_ENABLED": "1", "MAREY_OUTPUT_DIR": "out", "MAREY_JOB_ID": "job"}


def closes_everything(is_refused: bool) -> tuple[int, int]:
    """Closes what it has not opened, opens files and sockets, and records on: bytes that came into those."""
    import ctypes
    import os
    import socket
    import struct
    import time

    if is_refused:
        # A sandbox in which `close_range` does not exist: load its number, compare, refuse, allow.
        steps = [(0x20, 0, 0, 0), (0x15, 0, 1, 436), (0x06, 0, 0, 0x00050026), (0x06, 0, 0, 0x7FFF0000)]
        code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
        program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
        libc = ctypes.CDLL(None)
        assert libc.prctl(38, 1, 0, 0, 0) == 0
        assert libc.prctl(22, 2, program, 0, 0) == 0

    import marey

    marey.start("out", job_id="job")

    def record() -> None:
        before = os.path.getsize(marey._core.capture_path())
        for _ in range(1000):
            with marey.profile_section("step"):
                pass
        while os.path.getsize(marey._core.capture_path()) == before:
            time.sleep(0)

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


def becomes_a_daemon() -> str:
    """Forks twice, closes everything, and records in the daemon."""
    import os

    import marey

    marey.start("out", job_id="job")
    with marey.profile_section("parent"):
        pass
    reads, writes = os.pipe()
    if os.fork():
        os.close(writes)
        said = b""
        while chunk := os.read(reads, 64):
            said += chunk
        os.wait()
        return said.decode()
    os.setsid()
    if os.fork():
        os._exit(0)
    os.dup2(writes, 0)
    os.closerange(1, 4096)
    files = [os.open(f"own-{number}", os.O_CREAT | os.O_EXCL | os.O_RDWR) for number in range(10)]
    for _ in range(2000):
        with marey.profile_section("daemon"):
            pass
    marey.stop()
    os.write(0, str(sum(os.fstat(file).st_size for file in files)).encode())
    os._exit(0)


@pytest.mark.parametrize("is_refused", [False, True])
def test_a_program_that_closes_every_descriptor_gets_nothing_of_ours(
    interpreter: Interpreter, is_refused: bool
) -> None:
    finished = interpreter.run(closes_everything, is_refused)
    assert finished.returncode == 0, finished.stderr
    assert finished.result == [0, 0]
    [capture] = (finished.folder / "out" / "job").glob("*.marey")
    report = read_capture(capture)
    assert paths_of(report) == {"step": 3000}
    assert report["status"]["kind"] == "finished"


def test_a_daemon_records_into_its_own_capture(interpreter: Interpreter) -> None:
    finished = interpreter.run(becomes_a_daemon)
    assert finished.returncode == 0, finished.stderr
    assert finished.result == "0"
    captures = (finished.folder / "out" / "job").glob("*.marey")
    counts = [paths_of(read_capture(capture)) for capture in captures]
    assert sorted(counts, key=str) == [{"daemon": 2000}, {"parent": 1}]


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
