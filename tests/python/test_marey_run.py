"""`marey run -- python …`: the program runs as without it, and its sections are in the folder."""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from interpreter import Finished, Interpreter, environment, path_with, paths_of, read_capture
from patience import killed_if_it_hangs

PROGRAM = """
import sys, marey
with marey.profile_section("outer"):
    for _ in range(3):
        with marey.profile_section("inner"):
            pass
"""


def run(interpreter: Interpreter, program: str, **how: object) -> Finished:
    before = (sys.executable, "-m", "marey", "run", "--output", "out", "--")
    return interpreter.run(program, before=before, **how)  # type: ignore[arg-type]


def test_sections_are_recorded_without_a_start(interpreter: Interpreter) -> None:
    finished = run(interpreter, PROGRAM)
    assert finished.returncode == 0
    assert finished.stdout == ""
    report = read_capture(interpreter.folder / "out")
    assert paths_of(report) == {"outer": 1, "outer > inner": 3}
    assert report["run"]["facts"]["python_implementation"] == "cpython"


def test_users_sitecustomize_runs_first_and_sees_no_trace_of_ours(interpreter: Interpreter) -> None:
    folder = interpreter.folder / "users"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text("import sys\nVALUE = 'marey' in sys.modules\n")
    program = "import sitecustomize, sys\nprint(sitecustomize.VALUE, sys.path)\n"
    environment = {"PYTHONPATH": str(folder)}
    bare = interpreter.run(program, env=environment)
    finished = run(interpreter, program + PROGRAM, env=environment)
    assert bare.stdout.startswith("False ")
    assert finished.stdout == bare.stdout
    assert paths_of(read_capture(interpreter.folder / "out"))["outer"] == 1


def test_ctrl_c_before_the_program_begins_ends_it_as_ctrl_c_does(interpreter: Interpreter) -> None:
    folder = interpreter.folder / "users"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text("""
import os, signal, sys
class Presses:
    def find_spec(self, name, *_):
        if name == "marey._core":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Presses())
""")
    marey_run = (sys.executable, "-m", "marey", "run", "--quiet", "--output", "out", "--")
    # Behind ours, and not on the path of the command itself.
    behind = ("sh", "-c", 'PYTHONPATH=$PYTHONPATH:$0 exec "$@"', str(folder))
    finished = interpreter.run("print('begun')", before=(*marey_run, *behind))
    assert (finished.returncode, finished.stdout, finished.stderr) == (-signal.SIGINT, "", "")


@pytest.mark.parametrize("form", ["marey.py", "marey/__init__.py"])
@pytest.mark.parametrize("on_path", [False, True])
def test_a_program_with_a_module_of_that_name_keeps_it(interpreter: Interpreter, form: str, on_path: bool) -> None:
    folder = interpreter.folder / "own" if on_path else interpreter.folder
    (folder / form).parent.mkdir(exist_ok=True, parents=True)
    (folder / form).write_text("VALUE = 42\n")
    env = environment() | ({"PYTHONPATH": path_with(folder)} if on_path else {})
    (interpreter.folder / "program.py").write_text("import marey\nprint(marey.VALUE)\n")
    command = shutil.which("marey", path=Path(sys.executable).parent)
    assert command is not None
    ran = subprocess.run(
        [command, "run", "--output", "out", "--", sys.executable, "-W", "ignore", "program.py"],
        cwd=interpreter.folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "42\n"), ran.stderr
    assert f"is not recorded: the program has a module marey of its own, {folder / form}" in ran.stderr.splitlines()[0]


def test_whoever_reads_a_pipe_learns_when_the_program_closes_it(interpreter: Interpreter) -> None:
    program = """
        import os, sys
        os.close(1)
        os.close(0)
        # Ends when the other side has seen both.
        with open("seen") as seen:
            seen.readline()
    """
    (interpreter.folder / "program.py").write_text("\n".join(line[8:] for line in program.splitlines()))
    os.mkfifo(interpreter.folder / "seen")
    # Opened for both, so that neither side waits for the other one to open it, also where that has died.
    seen = os.open(interpreter.folder / "seen", os.O_RDWR)
    run = (sys.executable, "-m", "marey", "run", "--quiet", "--output", "out", "--", sys.executable, "program.py")
    with subprocess.Popen(
        run,
        cwd=interpreter.folder,
        env=environment(),
        start_new_session=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        with killed_if_it_hangs(process):
            assert process.stdout.read() == b""
            with pytest.raises(BrokenPipeError):
                process.stdin.writelines(itertools.repeat(b"x" * 65536))
            os.write(seen, b"both\n")
            process.wait()
    os.close(seen)
    assert process.returncode == 0


@pytest.mark.parametrize("how", [(), ("--quiet",)])
def test_a_folder_that_is_gone_is_the_reason_why_there_is_no_report(
    interpreter: Interpreter, how: tuple[str, ...]
) -> None:
    before = (sys.executable, "-m", "marey", "run", *how, "--output", "out", "--")
    finished = interpreter.run(PROGRAM + "import shutil\nshutil.rmtree('out')\n", before=before)
    assert finished.returncode == 0
    [line] = finished.stderr.splitlines()
    assert line.startswith("marey: nothing was recorded: out/")
    assert line.endswith(" is gone, and what was recorded with it")


def test_a_killed_marey_run_leaves_nothing_for_python_to_import(interpreter: Interpreter) -> None:
    places = interpreter.folder / "tmp"
    places.mkdir()
    env = environment() | {"TMPDIR": str(places)}
    env.pop("XDG_RUNTIME_DIR", None)
    kill = "import os, signal\nos.kill(int(os.environ['MAREY_LAUNCHER']), signal.SIGKILL)\n"
    for _ in range(3):
        assert run(interpreter, kill, env=env).returncode == -9
        assert len(list(places.iterdir())) == 1, "what the one before left is gone"
    assert run(interpreter, PROGRAM, env=env).returncode == 0
    assert list(places.iterdir()) == []


def test_how_a_program_ended_is_known_where_children_are_ignored(interpreter: Interpreter) -> None:
    ignoring = (
        "import os, signal, sys\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\nos.execv(sys.argv[1], sys.argv[1:])\n"
    )
    marey_run = (sys.executable, "-m", "marey", "run", "--quiet", "--output", "out", "--")
    finished = interpreter.run("raise SystemExit(3)", before=(sys.executable, "-c", ignoring, *marey_run))
    assert (finished.returncode, finished.stderr) == (3, "")


@pytest.mark.parametrize("ignored", [[], ["CHLD"], ["INT", "HUP", "TERM", "USR1", "TSTP", "TTOU", "ALRM"]])
def test_what_the_starter_ignores_stays_ignored_and_nothing_else(interpreter: Interpreter, ignored: list[str]) -> None:
    starter = "import os, signal, sys\nfor number in signal.valid_signals():\n    if number not in (9, 19):\n"
    starter += "        signal.signal(number, signal.SIG_DFL)\n"
    starter += "".join(f"signal.signal(signal.SIG{name}, signal.SIG_IGN)\n" for name in ignored)
    starter += "os.execvp(sys.argv[1], sys.argv[1:])\n"
    program = ["grep", "SigIgn", "/proc/self/status"]
    marey_run = [sys.executable, "-m", "marey", "run", "--quiet", "--output", "out", "--"]
    bare, recorded = (
        subprocess.run(
            [sys.executable, "-c", starter, *before, *program],
            cwd=interpreter.folder,
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for before in ([], marey_run)
    )
    assert recorded == bare


def test_what_names_marey_run_by_its_number_names_the_program(interpreter: Interpreter) -> None:
    """As systemd hands over sockets and a watchdog."""
    starter = """
        import os, socket, sys
        listens = socket.create_server(("127.0.0.1", 0))
        os.dup2(listens.fileno(), 3)
        os.set_inheritable(3, True)
        own = str(os.getpid())
        os.environ.update(LISTEN_PID=own, LISTEN_FDS="1", LISTEN_FDNAMES="web", WATCHDOG_PID=own, WATCHDOG_USEC="9")
        os.environ.update(LISTEN_PIDFDID="7", EMPTY="", TWO_LINES="a\\nb")
        os.execv(sys.argv[1], sys.argv[1:])
    """
    program = """
        import os, socket
        from patience import eventually
        own = str(os.getpid())
        print([os.environ.get(name) == own for name in ("LISTEN_PID", "WATCHDOG_PID", "MAREY_ENABLED")])
        print([os.environ.get(name) for name in ("LISTEN_FDS", "LISTEN_FDNAMES", "WATCHDOG_USEC", "LISTEN_PIDFDID")])
        print([os.environ.get(name) for name in ("EMPTY", "TWO_LINES", "MAREY_ENABLED")])
        listens = socket.socket(fileno=3)
        address = listens.getsockname()
        socket.create_connection(address)
        listens.accept()
        listens.close()
        def is_refused():
            try:
                socket.create_connection(address).close()
            except ConnectionRefusedError:
                return True
        # Nobody else keeps it open.
        eventually(is_refused)
    """
    marey_run = (sys.executable, "-m", "marey", "run", "--quiet", "--output", "out", "--")
    before = (sys.executable, "-c", textwrap.dedent(starter), *marey_run)
    finished = interpreter.run(program, before=before)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert finished.stdout.splitlines() == [
        "[True, True, False]",
        "['1', 'web', '9', None]",
        "['', 'a\\nb', '1']",
    ]


def test_signals_arrive_where_standard_streams_are_closed(interpreter: Interpreter) -> None:
    (interpreter.folder / "program.py").write_text(
        "import os, signal, sys\n"
        "signal.signal(signal.SIGTERM, lambda *_: os._exit(6))\n"
        "print('ready', file=sys.stderr, flush=True)\n"
        "while True:\n    signal.pause()\n"
    )
    python = shlex.quote(sys.executable)
    run = f"exec 0<&- 1>&- {python} -m marey run --quiet --output out -- {python} program.py"
    with subprocess.Popen(
        ["bash", "-c", run], cwd=interpreter.folder, env=environment(), start_new_session=True, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        with killed_if_it_hangs(process):
            assert process.stderr.readline() == b"ready\n"
            process.terminate()
            _, said = process.communicate()
    assert process.returncode == 6, said
