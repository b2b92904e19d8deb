"""What others may read, change and plant: nothing of a recording."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from interpreter import Finished, Interpreter

BEFORE = (sys.executable, "-m", "marey", "run", "--output", "out", "--job-id", "job", "--")
PROGRAM = "import marey\nwith marey.profile_section('work'):\n    pass\n"


def run(interpreter: Interpreter, program: str = PROGRAM, **environment: str) -> Finished:
    return interpreter.run(program, before=BEFORE, env=environment)


def mode(path: Path) -> str:
    return oct(stat.S_IMODE(path.stat().st_mode))


def run_with_umask(interpreter: Interpreter, umask: int, **environment: str) -> Path:
    """The folder of output of a recorded program."""
    (interpreter.folder / "work.py").write_text(PROGRAM)
    command = [*BEFORE, sys.executable, "work.py"]
    interpreter.run(f"import os, subprocess\nos.umask({umask})\nsubprocess.run({command}, check=True)", env=environment)
    return interpreter.folder / "out"


def test_nothing_that_python_runs_lies_in_the_output_folder(interpreter: Interpreter) -> None:
    look = "from glob import glob\nprint(glob('out/**/sitecustomize.py', recursive=True), glob('out/**/.startup*'))\n"
    finished = run(interpreter, look + PROGRAM)
    assert finished.stdout == "[] []\n"
    assert (finished.folder / "out/job/run.json").exists()


def test_what_python_runs_lies_in_a_private_folder_that_goes_with_the_run(interpreter: Interpreter) -> None:
    private = interpreter.folder / "tmp"
    private.mkdir(mode=0o755)
    show = "import os\nplace = os.environ['PYTHONPATH'].split(':')[0]\nprint(place, oct(os.stat(place).st_mode))\n"
    finished = run(interpreter, show + PROGRAM, TMPDIR=str(private), XDG_RUNTIME_DIR="")
    place, found = finished.stdout.split()
    assert Path(place).parent == private
    assert found == oct(stat.S_IFDIR | 0o700)
    assert list(private.iterdir()) == []


def test_a_colon_in_the_output_folder_keeps_no_python_out(interpreter: Interpreter) -> None:
    before = [*BEFORE]
    before[before.index("out")] = "a:b"
    interpreter.run(PROGRAM, before=tuple(before))
    assert "work" in (interpreter.folder / "a:b/timing_summary.txt").read_text()


def test_only_the_owner_reads_what_is_written_whatever_the_umask(interpreter: Interpreter) -> None:
    out = run_with_umask(interpreter, 0)
    found = {mode(path) for path in out.rglob("*") if path.is_file()}
    assert found == {"0o600"}
    assert {mode(out), mode(out / "job")} == {"0o700"}


def test_sharing_is_asked_for(interpreter: Interpreter) -> None:
    out = run_with_umask(interpreter, 0o022, MAREY_SHARE_FILES="1")
    assert {mode(path) for path in out.rglob("*") if path.is_file()} == {"0o644"}
    assert {mode(out), mode(out / "job")} == {"0o755"}


def test_planted_links_lead_nowhere(interpreter: Interpreter) -> None:
    out, victim = interpreter.folder / "out", interpreter.folder / "victim"
    (out / "job").mkdir(parents=True)
    victim.mkdir()
    precious = victim / "precious"
    precious.write_text("precious")
    for planted in ["profiling_report.json", "job/profiling_report.json", "job/run.json", "timing_summary.txt"]:
        (out / planted).symlink_to(precious)
    (out / "latest").symlink_to(victim)
    finished = run(interpreter)
    assert finished.returncode == 0
    assert precious.read_text() == "precious"
    assert sorted(path.name for path in victim.iterdir()) == ["precious"]
    assert os.readlink(out / "latest") == "job"
    for name in ["profiling_report.json", "job/profiling_report.json", "job/run.json"]:
        assert not (out / name).is_symlink()
        json.loads((out / name).read_text())


def test_a_job_folder_that_is_a_link_is_refused_in_a_clear_sentence(interpreter: Interpreter) -> None:
    (interpreter.folder / "out").mkdir()
    victim = interpreter.folder / "victim"
    victim.mkdir()
    (interpreter.folder / "out/job").symlink_to(victim)
    finished = run(interpreter, "print('runs all the same')")
    assert finished.stdout == "runs all the same\n"
    assert "it is a link, which could lead anywhere" in finished.stderr
    assert list(victim.iterdir()) == []


def test_a_folder_of_another_user_is_refused_in_a_clear_sentence(interpreter: Interpreter) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives folders away")
    theirs = interpreter.folder / "out"
    theirs.mkdir()
    os.chown(theirs, 4321, 4321)
    finished = run(interpreter, "print('runs all the same')")
    assert finished.stdout == "runs all the same\n"
    assert "it belongs to another user (number 4321), who could change what is in it" in finished.stderr
    assert list(theirs.iterdir()) == []
    started = interpreter.run("import marey\nmarey.start('out')")
    assert "it belongs to another user (number 4321)" in started.stderr


@pytest.mark.parametrize("with_launcher", [True, False])
def test_secrets_on_the_command_line_are_in_no_file(interpreter: Interpreter, with_launcher: bool) -> None:
    secrets = ["SECRET1", "SECRET2", "-SECRET3", "SECRET4", "hf_SECRET5xyz", "https://me:SECRET6@host/"]
    words = ["--api-key", secrets[0], f"--token={secrets[1]}", "--prompt", secrets[2], f"prompt={secrets[3]}"]
    start = "" if with_launcher else "import marey\nmarey.start('out')\n"
    (interpreter.folder / "work.py").write_text(start + PROGRAM)
    before = BEFORE if with_launcher else ()
    subprocess.run(
        [*before, sys.executable, "work.py", *words, *secrets[4:], "--steps", "4"],
        cwd=interpreter.folder,
        capture_output=True,
        check=True,
    )
    files = [path for path in (interpreter.folder / "out").rglob("*") if path.is_file()]
    assert files
    for path in files:
        content = path.read_bytes()
        assert b"SECRET" not in content, path
    assert any(b"--steps" in path.read_bytes() for path in files)


WORKERS = """
import multiprocessing, os, sys, marey

def work(profiler):
    with profiler.session("generation"), profiler.stage("in the worker"):
        pass

if __name__ == "__main__":
    profiler = marey.Profiler(enabled=True, output_dir="out")
    with profiler.session("parent"), profiler.stage("in the parent"):
        pass
    context = multiprocessing.get_context(sys.argv[1])
    worker = context.Process(target=work, args=(profiler,))
    worker.start()
    worker.join()
    print(os.readlink("out/latest"), sorted(os.listdir("out")), worker.exitcode)
"""


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_a_worker_takes_neither_latest_nor_the_reports(interpreter: Interpreter, method: str) -> None:
    (interpreter.folder / "work.py").write_text(WORKERS)
    finished = subprocess.run(
        [sys.executable, "work.py", method], cwd=interpreter.folder, capture_output=True, text=True, check=True
    )
    out = interpreter.folder / "out"
    jobs = [path for path in out.iterdir() if path.is_dir() and not path.is_symlink()]
    assert len(jobs) == 1, finished.stderr
    job = jobs[0].name
    assert finished.stdout == f"{job} {sorted([job, 'latest'])} 0\n"
    assert len(list(jobs[0].glob("*.marey"))) == 2
    report = json.loads((out / "profiling_report.json").read_text())
    assert "in the parent" in report["timing_stats"]
    assert len(json.loads((jobs[0] / "run.json").read_text())["processes"]) == 2


def test_what_python_runs_can_be_read_whatever_the_umask(interpreter: Interpreter) -> None:
    show = "import os\nplace = os.environ['PYTHONPATH'].split(':')[0]\n"
    show += "print(oct(os.stat(place + '/sitecustomize.py').st_mode & 0o777))\n"
    umask = ("sh", "-c", 'umask 0777; exec "$@"', "sh")
    assert interpreter.run(show + PROGRAM, before=(*umask, *BEFORE)).stdout == "0o600\n"


def test_reports_are_their_owners_whatever_the_umask(interpreter: Interpreter) -> None:
    files = [path for path in run_with_umask(interpreter, 0o777).rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"run.json", "report.html", "profiling_report.json"}
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


def test_a_umask_that_takes_everything_away_takes_nothing_from_the_owner(interpreter: Interpreter) -> None:
    interpreter.result("""
        import os, marey
        os.umask(0o777)
        folder = marey.start("out/of/this", job_id="job")
        with marey.profile_section("work"):
            rings = os.environ["MAREY_RING_DIR"]
            places = ["out", "out/of", "out/of/this", folder, rings, *(entry.path for entry in os.scandir(rings))]
            assert {os.stat(place).st_mode & 0o777 for place in places} == {0o700}
        capture = marey.stop()
        assert os.stat(capture).st_mode & 0o777 == 0o600
        os.umask(0o022)
        open("result.json", "w").write("null")
    """)
