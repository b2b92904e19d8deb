"""`marey run --prometheus`: figures of a running job, read without any parser but the test's own."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import IO

from interpreter import environment
from patience import eventually, killed_if_it_hangs
from stand_in_nvml import StandInNvml

UNESCAPED = {r"\\": "\\", r"\"": '"', r"\n": "\n"}
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]

PROGRAM = """
import sys, marey
from marey import CacheEventRecorder, Profiler

profiler = Profiler()
caches = CacheEventRecorder()
for kind in ("miss", "hit", "hit", "lookup", "eviction"):
    caches.record_event("teacache", kind=kind)
for block in range(2):
    with marey.profile_section("block"):
        for step in range(3):
            with marey.profile_section('de"n\\\\o\\nise'):
                profiler.record_diffusion_step(step=step)
    profiler.record_block_computation(block_index=block, block_size=3)
print("ready", flush=True)
sys.stdin.readline()
with marey.profile_section("block"):
    pass
print("again", flush=True)
sys.stdin.readline()
sys.exit(7)
"""


class Running:
    """A program under `marey run --prometheus 0`, and where its figures are."""

    def __init__(self, folder: Path, program: str, env: dict[str, str] | None = None) -> None:
        (folder / "program.py").write_text(program, encoding="utf-8")
        command = [sys.executable, "-m", "marey", "run", "--output", "out", "--quiet", "--prometheus", "0", "--"]
        self.process = subprocess.Popen(
            [*command, sys.executable, "program.py"],
            cwd=folder,
            env=environment() | (env or {}),
            start_new_session=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        said = self._stream(self.process.stderr).readline()
        address = re.fullmatch(r"marey: metrics are at http://127\.0\.0\.1:(\d+)/metrics\n", said)
        assert address, said
        self.port = int(address[1])

    def wait_for(self, line: str) -> None:
        """Until the program has said it."""
        assert self._stream(self.process.stdout).readline() == line + "\n"

    def go_on(self) -> None:
        """Lets the program read a line."""
        stream = self._stream(self.process.stdin)
        stream.write("\n")
        stream.flush()

    def get(self, path: str = "/metrics", method: str = "GET", **headers: str) -> tuple[int, str]:
        """Status and body."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def samples(self) -> Samples:
        """What is served now."""
        status, text = self.get()
        assert status == 200
        return parse(text)

    def end(self) -> int:
        """Closes its input, and waits."""
        self.process.communicate()
        return self.process.returncode

    @staticmethod
    def _stream(stream: IO[str] | None) -> IO[str]:
        assert stream is not None
        return stream


@contextmanager
def running(folder: Path, program: str = PROGRAM, env: dict[str, str] | None = None) -> Iterator[Running]:
    """Runs a program until the block ends."""
    run = Running(folder, program, env)
    with killed_if_it_hangs(run.process):
        try:
            yield run
        finally:
            with suppress(BrokenPipeError):
                run.process.communicate()


def parse(text: str) -> Samples:
    """Name and labels without `host` and `job_id` to value; each must be there once."""
    samples: Samples = {}
    for line in text.splitlines():
        if line.startswith("# "):
            continue
        found = re.fullmatch(r'(\w+)\{((?:\w+="(?:[^"\\]|\\.)*",?)*)\} (\S+)', line)
        assert found, line
        pairs = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', found[2])
        labels = {name: re.sub(r"\\.", lambda escape: UNESCAPED[escape[0]], value) for name, value in pairs}
        assert labels.pop("host") != ""
        assert labels.pop("job_id") != ""
        key = (found[1], frozenset(labels.items()))
        assert key not in samples, line
        samples[key] = float(found[3])
    return samples


def of(samples: Samples, name: str, **labels: str) -> list[float]:
    """Values of a metric that has these labels among others."""
    return [value for (n, has), value in samples.items() if n == name and has >= set(labels.items())]


def test_counts_are_those_of_the_program_and_grow_with_it(tmp_path: Path) -> None:
    with running(tmp_path) as run:
        run.wait_for("ready")
        first = run.samples()
        assert of(first, "diffusion_steps_total") == [6]
        assert of(first, "diffusion_step_number") == [2]
        assert of(first, "diffusion_cache_lookups_total", outcome="hit") == [2]
        assert of(first, "diffusion_cache_lookups_total", outcome="miss") == [1]
        assert of(first, "diffusion_blocks_total") == [2]
        assert of(first, "diffusion_block_frames_total") == [6]
        assert of(first, "diffusion_section_calls_total", section="block") == [2]
        assert of(first, "diffusion_section_calls_total", section='block/de"n\\o\\x0aise') == [6]
        assert of(first, "diffusion_section_errors_total", section="block") == [0]
        assert of(first, "diffusion_process_running") == [1]
        assert not of(first, "diffusion_frames_delivered_total"), "never reported"
        run.go_on()
        run.wait_for("again")
        second = run.samples()
        assert of(second, "diffusion_section_calls_total", section="block") == [3]
        [before] = of(first, "diffusion_section_time_seconds_total", section="block")
        [after] = of(second, "diffusion_section_time_seconds_total", section="block")
        assert after >= before > 0
        run.go_on()
        assert run.end() == 7


def test_every_metric_has_its_help_and_type_once(tmp_path: Path) -> None:
    with running(tmp_path) as run:
        run.wait_for("ready")
        _, text = run.get()
    names = re.findall(r"^# TYPE (\w+) \w+$", text, re.MULTILINE)
    assert names
    assert names == re.findall(r"^# HELP (\w+) \S", text, re.MULTILINE)
    assert len(set(names)) == len(names)
    assert text.endswith("\n")


def test_ranks_below_a_launcher_are_told_apart(tmp_path: Path) -> None:
    launcher = """
    import os, subprocess, sys
    ranks = [
        subprocess.Popen([sys.executable, "rank.py"], env=os.environ | {"RANK": str(rank), "WORLD_SIZE": "2"},
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for rank in range(2)
    ]
    for rank in ranks:
        rank.stdout.readline()
    print("ready", flush=True)
    sys.stdin.read()
    for rank in ranks:
        rank.communicate()
    """
    (tmp_path / "rank.py").write_text(
        "import os, sys, marey\n"
        "for _ in range(1 + int(os.environ['RANK'])):\n"
        "    with marey.profile_section('step'):\n"
        "        pass\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with running(tmp_path, textwrap.dedent(launcher)) as run:
        run.wait_for("ready")
        samples = run.samples()
    assert of(samples, "diffusion_section_calls_total", section="step", rank="0") == [1]
    assert of(samples, "diffusion_section_calls_total", section="step", rank="1") == [2]


def test_a_rank_that_is_learnt_late_is_a_label_from_then_on(tmp_path: Path) -> None:
    program = """
    import sys, marey
    with marey.profile_section("step"):
        pass
    print("ready", flush=True)
    sys.stdin.readline()
    assert marey.distributed.set_rank(5, 8)
    print("again", flush=True)
    sys.stdin.readline()
    """
    with running(tmp_path, textwrap.dedent(program)) as run:
        run.wait_for("ready")
        [labels] = [has for (name, has) in run.samples() if name == "diffusion_process_running"]
        assert "rank" not in dict(labels)
        run.go_on()
        run.wait_for("again")
        samples = run.samples()
        assert of(samples, "diffusion_section_calls_total", rank="5") == [1]
        assert len(of(samples, "diffusion_section_calls_total")) == 1


def test_gpus_have_the_names_of_opentelemetry(tmp_path: Path, nvml: StandInNvml) -> None:
    with running(tmp_path, env=nvml.environment(**{"GPU-1": {}})) as run:
        run.wait_for("ready")
        # Its sampler takes a moment.
        samples = eventually(run.samples, lambda samples: of(samples, "hw_power_watts"))
    gpu = {"hw_id": "GPU-1", "hw_type": "gpu"}
    assert of(samples, "hw_power_watts", **gpu) == [300]
    assert of(samples, "hw_energy_joules_total", **gpu) == [5]
    assert of(samples, "hw_temperature_celsius", **gpu) == [72]
    assert of(samples, "hw_gpu_utilization_ratio", hw_gpu_task="general", **gpu) == [0.85]
    assert of(samples, "hw_gpu_memory_limit_bytes", **gpu) == [24564 << 20]


def test_nothing_else_is_served_and_under_no_other_name_of_this_machine(tmp_path: Path) -> None:
    with running(tmp_path) as run:
        asked = [("GET", "/"), ("GET", "/metrics/x"), ("POST", "/metrics"), ("HEAD", "/metrics")]
        assert [run.get(path, method) for method, path in asked] == [(404, ""), (404, ""), (405, ""), (200, "")]
        assert run.get(Host="evil.example") == (403, "")
        assert run.get(Host="localhost:1")[0] == 200


def test_garbage_and_clients_that_hang_keep_nobody_from_scraping_or_ending(tmp_path: Path) -> None:
    with running(tmp_path) as run:
        run.wait_for("ready")
        for garbage in (b"\0\xff" * 50 + b"\r\n\r\n", b"GET\r\n\r\n", b"x" * 20_000, b""):
            with socket.create_connection(("127.0.0.1", run.port), timeout=60) as client, suppress(OSError):
                client.sendall(garbage)
                client.shutdown(socket.SHUT_WR)
                while client.recv(4096):
                    pass
        hanging = [socket.create_connection(("127.0.0.1", run.port), timeout=60) for _ in range(8)]
        assert run.get()[0] == 200
        more = [socket.create_connection(("127.0.0.1", run.port), timeout=60) for _ in range(200)]
        run.go_on()
        run.wait_for("again")
        run.go_on()
        assert run.end() == 7
        for client in hanging + more:
            client.close()


def test_clients_of_other_habits_get_the_same_text(tmp_path: Path) -> None:
    with running(tmp_path) as run:
        run.wait_for("ready")
        with raw(run, b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip, br\r\n\r\n") as client:
            head, text = answer(client)
        assert "content-encoding" not in head, "nobody has to take gzip"
        assert head["content-length"] == str(len(text))
        assert parse(text.decode())
        with raw(run, b"HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n") as client:
            head, text = answer(client)
        assert int(head["content-length"]) > 1000, "that of the figures"
        assert text == b""
        # One request a connection, whatever the client would like: it is told, and comes again.
        twice = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n" * 2
        with raw(run, twice) as client:
            head, text = answer(client)
        assert head["connection"] == "close"
        assert len(text) == int(head["content-length"])
        connection = HTTPConnection("127.0.0.1", run.port, timeout=60)
        for _ in range(3):
            connection.request("GET", "/metrics", headers={"Connection": "keep-alive"})
            assert connection.getresponse().read()


def test_of_a_hundred_clients_at_once_each_gets_all_or_nothing_and_none_is_left(tmp_path: Path) -> None:
    with running(tmp_path) as run:
        run.wait_for("ready")
        assert run.get()[0] == 200
        idle = resources(run.process.pid)
        together = threading.Barrier(100)

        def scrape() -> str:
            together.wait()
            try:
                status, text = run.get()
            except (OSError, HTTPException):
                return "turned away"
            assert (status, text.endswith("\n")) == (200, True)
            assert of(parse(text), "diffusion_steps_total") == [6]
            return "served"

        with ThreadPoolExecutor(100) as clients:
            outcomes = [scraped.result() for scraped in [clients.submit(scrape) for _ in range(100)]]
        assert "served" in outcomes
        wait_until_idle(run.process.pid, idle)  # the last ones are going
        assert run.get()[0] == 200


def test_clients_that_never_read_are_given_up_and_others_are_served_again(tmp_path: Path) -> None:
    # More text than sockets hold: 200 sections of long names, three lines each.
    many = """
for n in range(200):
    with marey.profile_section(f"{n}" + "x" * 240):
        pass
print("ready", flush=True)
sys.stdin.readline()
print("again", flush=True)
sys.stdin.readline()
sys.exit(7)
"""
    program = "import sys, marey" + many
    request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with running(tmp_path, program) as run:
        run.wait_for("ready")
        assert run.get()[0] == 200
        idle = resources(run.process.pid)
        deaf = [raw(run, request) for _ in range(16)]

        def is_served() -> bool:
            with suppress(OSError, HTTPException):
                return run.get()[0] == 200
            return False

        eventually(is_served)  # 16 are served at a time, until their time is over
        wait_until_idle(run.process.pid, idle)
        for client in deaf:
            client.close()
        run.go_on()
        run.wait_for("again")
        run.go_on()
        assert run.end() == 7


def raw(run: Running, request: bytes) -> socket.socket:
    """A connection that has asked, with little room for the answer."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(60)
    client.connect(("127.0.0.1", run.port))
    client.sendall(request)
    return client


def answer(client: socket.socket) -> tuple[dict[str, str], bytes]:
    """Fields and body of all that comes; the status is 200."""
    received = b"".join(iter(lambda: client.recv(65536), b""))
    head, _, body = received.partition(b"\r\n\r\n")
    status, *fields = head.decode().split("\r\n")
    assert status == "HTTP/1.1 200 OK"
    return {name.lower(): value for name, value in (field.split(": ", 1) for field in fields)}, body


def resources(pid: int) -> tuple[int, int]:
    """Threads and open files of a process."""
    return len(os.listdir(f"/proc/{pid}/task")), len(os.listdir(f"/proc/{pid}/fd"))


def wait_until_idle(pid: int, idle: tuple[int, int]) -> None:
    """Returns when a process has no more threads and open files than when it was idle."""
    eventually(lambda: resources(pid), lambda now: all(n <= then for n, then in zip(now, idle, strict=True)))


def test_a_port_in_use_is_said_before_the_program_starts(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "marey", "run", "--output", "out", "--prometheus", str(port), "--"]
        done = subprocess.run(
            [*command, sys.executable, "-c", "open('ran', 'w')"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert f"cannot serve metrics at 127.0.0.1:{port}" in done.stderr
    assert list(tmp_path.iterdir()) == [], "neither the program nor a folder"
