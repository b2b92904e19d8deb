"""A job is what the user started: all processes of the command, and its wall time."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from interpreter import environment

ENCODE = """
import time, marey
with marey.profile_section("text_encoding"):
    time.sleep(0.2)
"""
GENERATE = """
import sys, time, marey
with marey.profile_section("denoise"):
    time.sleep(float(sys.argv[1]))
"""
BOTH = """
python encode.py
python generate.py "$1"
"""
KILLED = """
import os, signal, time, marey
marey.start()
with marey.profile_section("load"):
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGKILL)
"""
POOL = """
import json, multiprocessing, sys, time
import marey

def decode(seconds):
    around = time.monotonic()
    with marey.profile_section("decode"):
        within = time.monotonic()
        time.sleep(seconds)
        end_within = time.monotonic()
    return end_within - within, time.monotonic() - around

if __name__ == "__main__":
    with marey.profile_section("all"):
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            took = pool.map(decode, [0, float(sys.argv[1]), 0, 0], chunksize=1)
            pool.close()
            pool.join()
    with open("took.json", "w") as file:
        json.dump(took, file)
"""


def marey(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    variables = environment()
    variables["PATH"] = f"{Path(sys.executable).parent}:{variables['PATH']}"
    command = [sys.executable, "-m", "marey", *arguments]
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)


def recorded(folder: Path, files: dict[str, str], *command: str, out: str = "out") -> Path:
    """Runs a command under ``marey run``; gives its job folder."""
    for name, text in files.items():
        (folder / name).write_text(textwrap.dedent(text))
    finished = marey(folder, "run", "--output", out, "--", *command)
    assert finished.returncode == 0, finished.stderr
    return folder / out / "latest"


def reported(job: Path, *how: str) -> dict[str, Any]:
    said = marey(job, "report", str(job), "--format", "json", *how)
    assert said.returncode == 0, said.stderr
    return json.loads(said.stdout)


RANKS = """
import os, signal, subprocess, sys
import marey

if len(sys.argv) > 1:
    with marey.profile_section("step"):
        if sys.argv[1] == os.environ["RANK"]:
            os.kill(os.getpid(), signal.SIGKILL)
else:
    ranks = [
        subprocess.Popen(
            [sys.executable, "ranks.py", os.environ.get("DIES", "none")],
            env=os.environ | {"RANK": str(rank), "WORLD_SIZE": "3", "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": "3"},
        )
        for rank in range(3)
    ]
    for rank in ranks:
        rank.wait()
"""
SCRIPTS = {"encode.py": ENCODE, "generate.py": GENERATE, "both.sh": BOTH}


def test_two_programs_of_a_script_are_one_job(tmp_path: Path) -> None:
    report = reported(recorded(tmp_path, SCRIPTS, "bash", "both.sh", "0.8"))
    stats = report["timing_stats"]
    assert stats["text_encoding"]["count"] == stats["denoise"]["count"] == 1
    wall = report["session_info"]["duration"]
    encoding, denoising = stats["text_encoding"]["total"], stats["denoise"]["total"]
    # One after the other, and the starts of two interpreters.
    assert wall > encoding + denoising
    share = report["stage_analysis"]["stages"]["denoise"]["percentage_of_total"]
    assert abs(share - 100 * denoising / wall) < 0.1


def test_the_second_program_that_got_slower_is_a_job_that_got_slower(tmp_path: Path) -> None:
    jobs = [
        recorded(tmp_path, SCRIPTS, "bash", "both.sh", seconds, out=out)
        for out, seconds in (("before", "0.2"), ("after", "2.0"))
    ]
    compared = marey(tmp_path, "compare", "before", "after", "--format", "json")
    measures = {
        (measure["kind"], *(measure["subject"]["path"] or [])): measure
        for measure in json.loads(compared.stdout)["measures"]
    }
    assert measures["section_total", "denoise"]["verdict"] == "worse"
    assert compared.returncode == 1
    # How long a job takes besides is up to the machine; it is that of both programs.
    walls = [reported(job)["session_info"]["duration"] for job in jobs]
    sides = [measures["wall_time",][side]["value"] for side in ("baseline", "candidate")]
    assert sides == pytest.approx(walls)


def test_a_pools_worker_that_is_slow_is_in_the_report_of_the_job(tmp_path: Path) -> None:
    report = reported(recorded(tmp_path, {"pool.py": POOL}, "python", "pool.py", "0.5"))
    decode = report["timing_stats"]["decode"]
    within, around = zip(*json.loads((tmp_path / "took.json").read_text()), strict=True)
    assert decode["count"] == 4
    # What the workers say themselves; a moment is exact to some microseconds.
    for says, of in (("max", max), ("total", sum), ("min", min)):
        assert of(within) * 0.999 - 1e-4 <= decode[says] <= of(around) * 1.001 + 1e-4, (says, decode, within, around)


def test_a_pools_worker_that_got_slower_is_named_by_what_it_does(tmp_path: Path) -> None:
    for out, seconds in (("before", "0.2"), ("after", "2.0")):
        recorded(tmp_path, {"pool.py": POOL}, "python", "pool.py", seconds, out=out)
    compared = marey(tmp_path, "compare", "before", "after")
    assert compared.returncode == 1, compared.stdout
    assert "slower" in compared.stdout.splitlines()[0]
    assert "decode, total time" in compared.stdout, compared.stdout


def test_one_process_of_a_job_can_be_asked_for(tmp_path: Path) -> None:
    job = recorded(tmp_path, SCRIPTS, "bash", "both.sh", "0.1")
    processes = json.loads((job / "run.json").read_text())["processes"]
    encode = next(process for process in processes if process["command"][-1].endswith("encode.py"))
    stats = reported(job, "--process", str(encode["pid"]))["timing_stats"]
    assert list(stats) == ["text_encoding"]
    refused = marey(job, "report", str(job), "--process", "1")
    assert refused.returncode == 2
    assert str(encode["pid"]) in refused.stderr


def test_a_process_that_was_killed_is_in_its_section_until_then_and_no_longer(tmp_path: Path) -> None:
    """
    s           0        0.3                       1.1+
    load        |---------x  killed
    denoise                   |-- 0.8 ------------|
    """
    script = "python killed.py\npython generate.py 0.8\n"
    files = {"killed.py": KILLED, "generate.py": GENERATE, "both.sh": script}
    job = recorded(tmp_path, files, "bash", "both.sh")
    report = reported(job)
    (open_section,) = report["data_quality"]["open_sections"]
    assert open_section["path"] == ["load"]
    assert 0 < open_section["so_far"] <= report["session_info"]["duration"] - 0.8
    load = report["timing_stats"]["load"]["open"]["so_far"] if "load" in report["timing_stats"] else None
    assert load in (None, open_section["so_far"])


EXEC = """
import os, sys, time, marey
marey.start()
if len(sys.argv) > 1:
    with marey.profile_section("second"):
        time.sleep(0.3)
else:
    with marey.profile_section("first"):
        time.sleep(0.6)
        os.execv(sys.executable, [sys.executable, __file__, "again"])
"""
LARGE = """
import marey
marey.start()
with marey.profile_section("decode"):
    held = bytearray(80 << 20)
    del held
"""


def test_a_section_in_which_a_program_was_replaced_lasts_until_the_next_one_begins(tmp_path: Path) -> None:
    """
    first    |--- 0.6 ---x  exec
    second                  |-- 0.3 --|
    """
    report = reported(recorded(tmp_path, {"exec.py": EXEC}, "python", "exec.py"))
    (open_section,) = report["data_quality"]["open_sections"]
    assert open_section["path"] == ["first"]
    second = report["timing_stats"]["second"]["total"]
    assert 0.599 <= open_section["so_far"] <= report["session_info"]["duration"] - second


def test_the_peak_of_a_job_is_that_of_its_largest_process(tmp_path: Path) -> None:
    """The second one holds 80 MiB for a moment, between any two readings."""
    files = {"encode.py": ENCODE, "large.py": LARGE, "both.sh": "python encode.py\npython large.py\n"}
    report = reported(recorded(tmp_path, files, "bash", "both.sh"))
    (process,) = [row for row in report["memory"]["sources"] if row["source"] == "process"]
    assert process["counted_peak_mb"] > 90


def test_a_damaged_capture_of_another_process_is_data_that_was_lost(tmp_path: Path) -> None:
    job = recorded(tmp_path, SCRIPTS, "bash", "both.sh", "0.1").resolve()
    first, _ = sorted(job.glob("*.marey"), key=lambda path: path.stat().st_mtime)
    whole = first.read_bytes()
    for damaged in (whole[: len(whole) // 2 + 5], b"", b"nothing of the kind"):
        first.write_bytes(damaged)
        shown = marey(tmp_path, "report", str(job))
        assert shown.returncode == 0
        (lost,) = [line for line in shown.stdout.splitlines() if line.startswith("  Data")]
        assert first.name[:12] in lost
        quality = reported(job)["data_quality"]
        assert not quality["is_complete"]
        assert any(first.name in warning for warning in quality["warnings"])


@pytest.mark.parametrize(
    ("dies", "first"),
    [
        ("none", "marey: 3 ranks finished in "),
        ("1", "marey: 3 ranks did not all finish after "),
    ],
)
def test_a_job_of_ranks_ends_with_the_summary_of_all(tmp_path: Path, dies: str, first: str) -> None:
    """Also where a rank was killed and the launcher ended well."""
    (tmp_path / "ranks.py").write_text(RANKS)
    command = ("env", f"DIES={dies}", sys.executable, "ranks.py")
    finished = marey(tmp_path, "run", "--output", "out", "--", *command)
    assert finished.returncode == 0, finished.stderr
    again = marey(tmp_path, "report", "out")
    for shown in (finished.stderr, again.stdout):
        [headline] = [line for line in shown.splitlines() if line.startswith("marey: 3 ranks")]
        assert headline.startswith(first), headline
        assert headline.endswith("rank 1 ended without closing its recording") == (dies == "1"), headline


LOST = """
import multiprocessing, signal, sys
import marey

def decode(n):
    with marey.profile_section("decode"):
        pass

def serve(is_idle):
    decode(0)
    is_idle.set()
    signal.pause()

def load(is_loading):
    with marey.profile_section("load"):
        with marey.profile_section("read"):
            is_loading.set()
            signal.pause()

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    with context.Pool(2) as pool:
        pool.map(decode, range(4))
    # How the workers of a pool end is theirs; one that is killed with nothing to do ended without closing.
    is_idle = context.Event()
    server = context.Process(target=serve, args=[is_idle])
    server.start()
    is_idle.wait()
    server.kill()
    server.join()
    if sys.argv[2] == "kill":
        is_loading = context.Event()
        loader = context.Process(target=load, args=[is_loading])
        loader.start()
        is_loading.wait()
        loader.kill()
        loader.join()
        print(loader.pid)
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_child_that_was_killed_in_a_section_is_named_and_idle_workers_are_not(tmp_path: Path, method: str) -> None:
    """
    lost.py    |--------------------------|   exit code 0
      pool        |-decode-|                  ends as it likes
      server      |-decode-|  x               killed with nothing to do
      loader                    |-load-x      killed
    """
    (tmp_path / "lost.py").write_text(LOST)
    for kills in ("nothing", "kill"):
        finished = marey(tmp_path, "run", "--output", "out", "--", "python", "lost.py", method, kills)
        assert finished.returncode == 0, finished.stderr
        job = tmp_path / "out/latest"
        listed = json.loads((job / "run.json").read_text())
        assert listed["status"]["kind"] == "finished"
        assert listed["launch"]["exit_code"] == 0
        assert "ended_without_closing" in {process["status"]["kind"] for process in listed["processes"]}
        again = reported(job)
        assert again["status"] == listed["status"]
        brief = json.loads(marey(tmp_path, "report", str(job), "--brief", "--format", "json").stdout)
        screens = (finished.stderr, marey(tmp_path, "report", str(job)).stdout)
        headlines = [
            next(line for line in shown.splitlines() if line.startswith("marey: lost.py")) for shown in screens
        ]
        if kills == "nothing":
            assert listed["status"]["text"] == "finished"
            assert "lost-process" not in {found["rule"] for found in brief["findings"]}
            assert all("process lost" not in headline for headline in headlines)
            continue
        said = f"(pid {finished.stdout.strip()}) in load › read ended without closing its capture"
        assert listed["status"]["reason"].endswith(said)
        assert listed["status"]["text"] == f"finished; {listed['status']['reason']}"
        assert brief["findings"][0]["rule"] == "lost-process"
        assert brief["findings"][0]["subject"].endswith(said)
        for shown, headline in zip(screens, headlines, strict=True):
            assert ", 1 process lost" in headline
            assert said.replace("›", ">") in " ".join(shown.split()).replace("›", ">")


RANKED = """
import os, subprocess, sys, time
import marey

slow, *of = sys.argv[1:]
if of:
    for name in ("encode", "denoise"):
        with marey.profile_section(name):
            time.sleep(2.5 if (name, slow) == ("denoise", os.environ["RANK"]) else 0.1)
else:
    ranks = [
        subprocess.Popen(
            [sys.executable, "ranked.py", slow, "rank"],
            env=os.environ | {"RANK": str(rank), "WORLD_SIZE": "3", "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": "3"},
        )
        for rank in range(3)
    ]
    sys.exit(max(rank.wait() for rank in ranks))
"""


@pytest.mark.parametrize("launcher", [("run", "--output"), ()])
def test_the_rank_that_got_slower_makes_the_job_slower_and_is_named(tmp_path: Path, launcher: tuple[str, ...]) -> None:
    """
    before   rank 0-2  |encode 0.1|denoise 0.1|
    after    rank 1    |encode 0.1|------ denoise 2.5 ------|
    """
    (tmp_path / "ranked.py").write_text(RANKED)
    for out, slow in (("before", "none"), ("after", "1")):
        command = (sys.executable, "ranked.py", slow)
        if launcher:
            assert marey(tmp_path, *launcher, out, "--", *command).returncode == 0
            continue
        variables = environment() | {"MAREY_ENABLED": "1", "MAREY_OUTPUT_DIR": out, "MAREY_JOB_ID": "job"}
        subprocess.run(command, cwd=tmp_path, env=variables, check=True)
    compared = marey(tmp_path, "compare", "before", "after", "--format", "json")
    assert compared.returncode == 1, compared.stdout
    found = json.loads(compared.stdout)
    assert found["verdict"] == "worse"
    slowest, *others = found["ranks"]
    assert (slowest["rank"], slowest["part"]) == (1, "denoise")
    assert 2.5 <= slowest["part_candidate_s"] <= slowest["candidate_s"]
    assert 0.1 <= slowest["part_baseline_s"] <= slowest["baseline_s"]
    assert sorted(rank["rank"] for rank in others) == [0, 2]
    wall_s = {measure["kind"]: measure for measure in found["measures"]}["wall_time"]["candidate"]["value"]
    assert wall_s >= slowest["candidate_s"]
    shown = marey(tmp_path, "compare", "before", "after").stdout
    assert "slower" in shown.splitlines()[0]
    assert "! Rank 1: denoise" in shown
    assert "marey report after --rank 1 --table sections" in " ".join(shown.split())


GENERATIONS = """
import os, subprocess, sys
import marey

if len(sys.argv) > 1:
    for name, n_steps in (("warm up", 1), ("clip", 2 + int(os.environ["RANK"]))):
        with marey.session(name):
            for _ in range(n_steps):
                with marey.profile_section("step"):
                    pass
else:
    all_ranks = {"WORLD_SIZE": "3", "LOCAL_WORLD_SIZE": "3"}
    ranks = [
        subprocess.Popen(
            [sys.executable, "generations.py", "rank"],
            env=os.environ | all_ranks | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
        )
        for rank in range(3)
    ]
    sys.exit(max(rank.wait() for rank in ranks))
"""


def test_a_job_of_ranks_can_be_narrowed_to_a_rank_and_to_a_generation(tmp_path: Path) -> None:
    """
    rank 0    warm up: 1 step    clip: 2 steps
    rank 1    warm up: 1 step    clip: 3 steps
    rank 2    warm up: 1 step    clip: 4 steps
    """
    job = recorded(tmp_path, {"generations.py": GENERATIONS}, sys.executable, "generations.py")
    for asked, steps in (
        (("--rank", "2"), 5),
        (("--rank", "2", "--generation", "clip"), 4),
        (("--rank", "1", "--generation", "2"), 3),
        (("--generation", "warm up"), 1),
        (("--generation", "warm-up"), 1),
    ):
        assert reported(job, *asked)["timing_stats"]["step"]["count"] == steps, asked
    of_all = json.loads(marey(tmp_path, "report", str(job), "--table", "sections", "--format", "json").stdout)
    [values] = of_all["rows"]
    row = dict(zip([column["key"] for column in of_all["columns"]], values, strict=True))
    assert (row["path"], row["n_ranks"], row["count"]) == ("step", 3, 12)
    for asked, known in (("--rank", "0, 1, 2"), ("--process", "it has "), ("--generation", "2, such as warm-up")):
        refused = marey(tmp_path, "report", str(job), asked, "7")
        assert (refused.returncode, known in refused.stderr) == (2, True), refused.stderr
    shown = marey(tmp_path, "report", str(job), "--rank", "2", "--generation", "warm up", "--full").stdout
    assert "rank 2 of 3" in shown.splitlines()[0]
    full = marey(tmp_path, "report", str(job), "--full").stdout
    assert "Marey: 3 ranks" in full
    assert f"Marey: {job.resolve().name}, rank 0" in full
