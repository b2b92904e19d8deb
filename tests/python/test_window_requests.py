"""Windows that are asked for while a program runs: `marey window`, threads of its own, its first steps."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from interpreter import Interpreter, environment, read_capture
from marey import ConfigError, ProfilingConfig
from marey.torch import request_window
from marey.windows.requests import options_of
from patience import PATIENCE_S, eventually, killed_if_it_hangs
from stand_in_profiler import SOURCE

# Ends, and says so, when its input does.
ENDS = """
import os, sys, threading
import marey
marey.start(output_dir="out", job_id="job")
is_over = threading.Event()

def watch():
    sys.stdin.read()
    is_over.set()

threading.Thread(target=watch).start()

def step(loop=marey.IterationProfiler("step")):
    with loop.iteration():
        os.sched_yield()

def steps():
    while not is_over.is_set():
        step()

print("ready", flush=True)
"""
READY = 'print("ready", flush=True)\n'
STEPS = SOURCE + ENDS + "steps()\n"
# Of a thread, while the main thread is in one call.
STEPS_OF_A_THREAD = SOURCE + ENDS + "thread = threading.Thread(target=steps)\nthread.start()\nthread.join()\n"
WAIT = "while not is_over.is_set(): os.sched_yield()\n"
NO_STEPS = SOURCE + ENDS + WAIT
# A window of its own is open before anybody can ask for another.
OPEN = SOURCE + ENDS.replace(READY, "import marey.torch\nwith marey.torch.ProfilerContext(profile_name='own'):\n")
OPEN += f"    {READY}    {WAIT}"


class Running:
    """A program that is at work."""

    def __init__(self, folder: Path, process: subprocess.Popen[str]) -> None:
        self.folder = folder
        self.process = process

    def end(self) -> int:
        """Let it come to its end."""
        self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode


@contextmanager
def running(folder: Path, program: str, **variables: str) -> Iterator[Running]:
    """A program at work, until the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=folder,
        env=environment() | variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    try:
        yield Running(folder, process)
    finally:
        process.kill()
        process.communicate()


def marey(folder: Path, *arguments: object) -> subprocess.Popen[str]:
    """A command that was started."""
    command = [sys.executable, "-m", "marey", *map(str, arguments)]
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def window(program: Running, *arguments: object) -> subprocess.Popen[str]:
    """`marey window` for it."""
    return marey(program.folder, "window", program.process.pid, *arguments)


def ended(command: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Its exit code, and what it said."""
    with killed_if_it_hangs(command):
        out, err = command.communicate()
    return command.returncode, out, err


def steps_of(trace: str) -> list[int]:
    """Numbers of the steps that the stand-in saw."""
    text = gzip.decompress(Path(trace).read_bytes()).decode()
    return json.loads(text[1:])["seen"]


def said(ring_folder: Path, what: str) -> Callable[[], bool]:
    """Whether a process has said that to who asked it for a window."""
    return lambda: any(f"\n{what}" in file.read_text() for file in ring_folder.glob("*/window"))


@pytest.mark.parametrize("program", [STEPS, STEPS_OF_A_THREAD], ids=["main thread", "another thread"])
def test_a_running_program_records_so_many_of_its_next_steps(tmp_path: Path, program: str) -> None:
    with running(tmp_path, program) as one:
        for number in (1, 2):
            code, out, err = ended(window(one, "--steps", 2))
            name = "window.trace.json.gz" if number == 1 else "window-2.trace.json.gz"
            assert (code, out) == (0, f"{tmp_path}/out/job/{name}\n"), err
            assert f"look at it with `marey analyze {out.strip()}`" in err
            assert len(steps_of(out.strip())) == 2
        assert one.end() == 0
    (capture,) = tmp_path.glob("out/job/*.marey")
    windows = read_capture(capture)["profiler_windows"]
    assert [(one["name"], one["stop_reason"], one["failures"]) for one in windows] == [("window", "steps", [])] * 2


def test_a_program_without_steps_is_recorded_for_seconds(tmp_path: Path) -> None:
    with running(tmp_path, NO_STEPS) as one:
        code, out, err = ended(window(one, "--seconds", 0.5))
        assert (code, steps_of(out.strip())) == (0, [0]), err
        assert one.end() == 0
    (capture,) = tmp_path.glob("out/job/*.marey")
    (recorded,) = read_capture(capture)["profiler_windows"]
    assert (recorded["stop_reason"], recorded["failures"]) == ("seconds", [])


def test_no_window_opens_or_closes_while_a_graph_is_captured(tmp_path: Path) -> None:
    """A profiler that starts or stops meanwhile spoils the graph."""
    captures = """
import atexit
asked = []
def capturing():
    asked.append(len(asked) in (0, 1, 4, 5))
    return asked[-1]
torch.cuda.is_initialized = lambda: True
torch.cuda.is_current_stream_capturing = capturing
begin, stop = profile.start, profile.stop
profile.start = lambda self: (asked.append("start"), begin(self))
profile.stop = lambda self: (asked.append("stop"), stop(self))
atexit.register(lambda: open("asked", "w").write(repr(asked)))
"""
    with running(tmp_path, SOURCE + captures + NO_STEPS.removeprefix(SOURCE)) as one:
        code, _, err = ended(window(one, "--seconds", 0.25))
        assert code == 0, err
        assert one.end() == 0
    asked = (tmp_path / "asked").read_text()
    assert "True, 'st" not in asked
    assert asked.startswith("[True, True, False, "), asked


@pytest.mark.parametrize(
    ("program", "why_not"),
    [
        (ENDS + "steps()\n", "wrote no trace: torch is not imported"),
        (OPEN, "wrote no trace: the window 'own' is open"),
        (
            # A recording in memory begins with the first section.
            SOURCE + ENDS.replace("marey.start(", "dict(").replace(READY, f"step()\n{READY}") + "steps()\n",
            "records in memory only: `marey run` or marey.start() gives it a folder for the trace",
        ),
    ],
    ids=["no torch", "open", "in memory"],
)
def test_what_cannot_be_is_refused_in_a_sentence(tmp_path: Path, program: str, why_not: str) -> None:
    with running(tmp_path, program) as one:
        code, out, err = ended(window(one))
        assert (code, out, err) == (1, "", f"marey: process {one.process.pid} {why_not}\n")


def test_a_program_that_ends_before_a_step_says_so(tmp_path: Path, ring_folder: Path) -> None:
    with running(tmp_path, NO_STEPS) as one:
        command = window(one)
        eventually(said(ring_folder, "waiting"))
        assert one.end() == 0
        code, out, err = ended(command)
    assert (code, out) == (1, "")
    assert "wrote no trace: no denoising step was seen before the program ended" in err


def test_a_program_that_is_killed_is_not_waited_for(tmp_path: Path, ring_folder: Path) -> None:
    with running(tmp_path, NO_STEPS) as one:
        command = window(one)
        eventually(said(ring_folder, "waiting"))
        one.process.kill()
        one.process.wait()
        code, out, err = ended(command)
    assert (code, out) == (1, "")
    assert "ended, or recorded no more, before there was a trace" in err


def test_whoever_gives_up_gets_no_window_and_the_next_one_does(tmp_path: Path, ring_folder: Path) -> None:
    program = SOURCE + ENDS + "for line in iter(input, 'end'): line == 'step' and step(); print(line, flush=True)\n"
    program = program.replace("threading.Thread(target=watch).start()\n", "")
    with running(tmp_path, program) as one:
        inputs, outputs = one.process.stdin, one.process.stdout
        assert inputs is not None
        assert outputs is not None

        def do(what: str) -> None:
            inputs.write(what + "\n")
            inputs.flush()
            assert outputs.readline() == what + "\n"

        def step() -> None:
            do("step")

        given_up = window(one)
        # The main thread comes out of a call.
        eventually(lambda: do("nothing") or said(ring_folder, "waiting")())
        second = ended(window(one))
        assert (second[0], "another `marey window` waits for it" in second[2]) == (1, True)
        given_up.send_signal(signal.SIGINT)
        code, _, err = ended(given_up)
        assert (code, "given up" in err) == (-signal.SIGINT, True)
        third = window(one, "--steps", 1)
        while third.poll() is None:
            step()
        assert ended(third)[0] == 0
        fourth = window(one)
        eventually(lambda: do("nothing") or said(ring_folder, "waiting")())
        fourth.send_signal(signal.SIGINT)
        assert ended(fourth)[0] == -signal.SIGINT
        step()
        step()
        traces = [trace.name for trace in tmp_path.glob("out/job/*.trace.json.gz")]
        assert sorted(traces) == ["window.pt.trace.json.gz", "window.trace.json.gz"]
        inputs.write("end\n")
        assert one.end() == 0


def test_each_rank_of_a_job_writes_a_trace(tmp_path: Path) -> None:
    ranks = [{"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank)} for rank in range(2)]
    with running(tmp_path, STEPS, **ranks[0]) as one, running(tmp_path, STEPS, **ranks[1]):
        code, out, err = ended(window(one, "--rank", "all", "--steps", 1))
        assert code == 0, err
        names = [f"{tmp_path}/out/job/window-rank{rank}.trace.json.gz" for rank in range(2)]
        assert sorted(out.split()) == names
        code, out, err = ended(window(one, "--rank", 1, "--steps", 1))
        assert (code, out) == (0, f"{tmp_path}/out/job/window-rank1-2.trace.json.gz\n"), err
        assert ended(window(one, "--rank", 7))[::2] == (1, "marey: no process of rank 7 records in this job\n")


def test_threads_and_handlers_of_a_program_ask_for_windows_themselves(interpreter: Interpreter) -> None:
    finished = interpreter.run(
        SOURCE
        + """
import signal, threading
import marey, marey.torch
marey.start(output_dir="out", job_id="job")
loop = marey.IterationProfiler("step")
asked = []

def serve():
    asked.append(marey.torch.request_window(steps=2, activities=["CPU"]))

def until_it_is_done(request):
    while not request.wait(0) and request.why_not is None:
        with loop.iteration():
            pass
    return request.trace_path and request.trace_path.name

thread = threading.Thread(target=serve)
thread.start()
thread.join()
assert "waits for a step" in marey.torch.request_window().why_not
assert until_it_is_done(asked.pop()) == "window.trace.json.gz"

signal.signal(signal.SIGUSR2, lambda *_: serve())
os.kill(os.getpid(), signal.SIGUSR2)
assert until_it_is_done(asked.pop()) == "window-2.trace.json.gz"

request = marey.torch.request_window()
request.cancel()
assert until_it_is_done(request) is None and "cancelled" in request.why_not

# Of seconds: in the main thread, which another thread waits for.
thread = threading.Thread(target=lambda: asked.append(marey.torch.request_window(seconds=0.25)))
thread.start()
thread.join()
while not asked[0].wait(0):
    assert asked[0].why_not is None
assert asked[0].trace_path.name == "window-3.trace.json.gz"

request = marey.torch.request_window()
child = os.fork()
if child == 0:
    assert request._once.locked()
    until = iter(range(9))
    for _ in until:
        with loop.iteration():
            pass
    os._exit(0 if request.trace_path is None else 1)
assert os.waitpid(child, 0)[1] == 0
assert until_it_is_done(request) == "window-4.trace.json.gz"
""",
        options=("-W", "ignore"),
    )
    assert (finished.returncode, finished.stderr) == (0, "")


@pytest.mark.parametrize(("n_steps", "n_traces"), [(9, 1), (0, 0)])
def test_a_run_records_its_first_steps(tmp_path: Path, n_steps: int, n_traces: int) -> None:
    program = f"""{SOURCE}
import marey
loop = marey.IterationProfiler("step")
for _ in range({n_steps}):
    with loop.iteration():
        pass
"""
    (tmp_path / "program.py").write_text(program)
    run = marey(tmp_path, "run", "--output", "out", "--torch-profile=2", "--", sys.executable, "program.py")
    code, _, err = ended(run)
    assert code == 0, err
    traces = [path for path in tmp_path.glob("out/latest/*.trace.json.gz") if ".pt." not in path.name]
    assert [(trace.name, steps_of(str(trace))) for trace in traces] == [("window.trace.json.gz", [1, 2])] * n_traces
    (capture,) = (path for path in tmp_path.glob("out/latest/*.marey") if "launcher" not in path.name)
    (recorded,) = read_capture(capture)["profiler_windows"]
    if n_traces == 0:
        assert recorded["stop_reason"] == "not opened"
        assert recorded["remarks"] == ["no denoising step was seen before the program ended"]


class Whole:
    """A whole number that is no int, as NumPy has them."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __index__(self) -> int:
        return self.number


def test_counts_may_be_whole_numbers_of_another_library() -> None:
    several: Any = Whole(7)
    options = options_of(several, warmup=several, max_file_bytes=several)
    assert (options.active, options.warmup, options.max_file_bytes, options.n_steps) == (7, 7, 7, 14)
    assert options_of(seconds=several).max_seconds == 7.0
    assert ProfilingConfig(max_data_points=several).max_data_points == 7


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"steps": 0}, "steps must be a whole number from 1 to 10000, not 0: 3 is a good start"),
        ({"steps": 1_000_000}, "steps must be a whole number from 1 to 10000, not 1000000: 3 is a good start"),
        ({"steps": True}, "steps must be a whole number from 1 to 10000, not True: 3 is a good start"),
        ({"steps": 3.0}, "steps must be a whole number from 1 to 10000, not 3.0: 3 is a good start"),
        ({"steps": "3"}, "steps must be a whole number from 1 to 10000, not '3': 3 is a good start"),
        ({"seconds": 0}, "seconds must be a number from 0.1 to 3600, not 0: 5 is a good start"),
        ({"seconds": 1e12}, "seconds must be a number from 0.1 to 3600, not 1000000000000.0: 5 is a good start"),
        ({"seconds": float("nan")}, "seconds must be a number from 0.1 to 3600, not nan: 5 is a good start"),
        ({"steps": 3, "seconds": 5}, "steps and seconds were both given: leave one of them out"),
        ({"active": 2}, "active is not taken here: give steps instead"),
        ({"seconds": 5, "max_seconds": 9}, "max_seconds is not taken here: give seconds instead"),
        ({"warmup": -1}, "warmup must be a whole number of at least 0, not -1"),
        ({"seconds": 5, "warmup": False}, "warmup must be a whole number of at least 0, not False"),
    ],
)
def test_what_a_window_is_wrongly_asked_for_is_said_by_the_name_of_the_argument(
    wrong: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        request_window(**wrong)
    assert str(refused.value) == said
