"""Jobs of several ranks, started by torchrun and by ``mp.spawn``, on the CPU: a capture a rank, in one folder."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from recorded_pipeline import Recorded, read_capture

LOOP = """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
for step in range(3):
    x = torch.full((256,), float(rank))
    dist.all_reduce(x)
    assert x[0] == size * (size - 1) / 2
dist.barrier()
dist.destroy_process_group()
"""

INTO_OUT = {"MAREY_ENABLED": "1", "MAREY_OUTPUT_DIR": "out"}


def environment(**more: str) -> dict[str, str]:
    """This one without what would tell a rank or a job."""
    away = ("MAREY_", "SLURM_", "OMPI_", "PMI", "TORCHELASTIC", "RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_")
    bare = {key: value for key, value in os.environ.items() if not key.startswith(away)}
    return {**bare, "OMP_NUM_THREADS": "1", **more}


def torchrun(folder: Path, program: str, ranks: int, *options: str) -> list[str]:
    """The command that runs a program in so many ranks."""
    (folder / "program.py").write_text(textwrap.dedent(program))
    options = options or ("--standalone",)
    return [sys.executable, "-m", "torch.distributed.run", *options, f"--nproc-per-node={ranks}", "program.py"]


def run(folder: Path, command: list[str], *, under: bool = True, fails: bool = False, **env: str) -> str:
    """Run a command to its end, under ``marey run`` into ``out`` or bare."""
    before = [sys.executable, "-m", "marey", "run", "--quiet", "-o", "out", "--"] if under else []

    def once() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*before, *command],
            cwd=folder,
            env=environment(**env),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    earlier = set(folder.glob("out/*"))
    done = once()
    if not under and "terminate called without an active exception" in done.stderr:
        # A thread of torch's own was left when its process ended. Nobody recorded in it.
        for recorded in set(folder.glob("out/*")) - earlier:
            recorded.unlink() if recorded.is_symlink() else shutil.rmtree(recorded)
        done = once()
    assert (done.returncode != 0) == fails, done.stderr
    return done.stdout


def captures(folder: Path) -> list[Path]:
    """All captures of a folder, each once."""
    return sorted({path.resolve() for path in folder.glob("out/*/*.marey")})


def ranks_in(folder: Path) -> dict[int, dict[str, Any]]:
    """Reports of the processes that have a rank, by it; a rank that is there twice fails."""
    reports = [read_capture(path) for path in captures(folder)]
    ranked = [report for report in reports if report["run"]["rank"] is not None]
    by_rank = {report["run"]["rank"]: report for report in ranked}
    assert len(by_rank) == len(ranked)
    return by_rank


def place(report: dict[str, Any]) -> tuple[Any, ...]:
    """Rank, number of ranks, local rank and who said so."""
    run = report["run"]
    return run["rank"], run["world_size"], run["local_rank"], run["facts"].get("launcher")


def collectives(report: dict[str, Any]) -> dict[str, int]:
    """How often each section was called, wherever it is."""
    return Recorded(report).counts


@pytest.mark.parametrize("ranks", [2, 4])
def test_each_rank_of_torchrun_has_a_capture_with_its_place_and_collectives(tmp_path: Path, ranks: int) -> None:
    """Nobody asks for a rank: torchrun's variables say it, and the program has no word of Marey."""
    run(tmp_path, torchrun(tmp_path, LOOP, ranks))
    found = ranks_in(tmp_path)
    assert [place(found[rank]) for rank in sorted(found)] == [(n, ranks, n, "torchrun") for n in range(ranks)]
    for report in found.values():
        assert collectives(report) == {"import": 1, "init_process_group": 1, "all_reduce": 3, "barrier": 1}
    assert len({report["run"]["job_id"] for report in found.values()}) == 1
    assert len({path.parent for path in captures(tmp_path)}) == 1


def test_eight_ranks_are_in_one_folder(tmp_path: Path) -> None:
    """All make the job's folder, and the link to it, at the same time."""
    run(tmp_path, torchrun(tmp_path, "import marey\n" + LOOP, 8), under=False, **INTO_OUT)
    assert sorted(ranks_in(tmp_path)) == list(range(8))
    folders = [path for path in (tmp_path / "out").iterdir() if not path.name.startswith(".")]
    (job,) = [path for path in folders if not path.is_symlink()]
    assert [path.resolve() for path in folders if path.is_symlink()] == [job.resolve()]


def meeting_place() -> str:
    """An option of torchrun: a port that nobody listens at, below those that the system gives to connections."""
    for port in range(20_000 + os.getpid() % 10_000, 32_000):
        with socket.socket() as asked, contextlib.suppress(OSError):
            asked.bind(("", port))
            return f"--master-port={port}"
    raise OSError("no port is free")


MEETING_PLACE = meeting_place()
OPTIONS = {"standalone": ("--standalone",), "static": (MEETING_PLACE,), "named": (MEETING_PLACE, "--rdzv-id=x")}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_two_jobs_in_one_folder_do_not_mix(tmp_path: Path, options: tuple[str, ...]) -> None:
    """With a run id of torchrun's own; without one (static rendezvous: ``none``); with a given one.

    Without a run id the agent's process tells the jobs apart. The same ``--rdzv-id`` twice is the same job.
    """
    program = "import marey\n" + LOOP
    for _ in range(2):
        command = torchrun(tmp_path, program, 2, *options)
        run(tmp_path, command, under=False, **INTO_OUT)
    jobs: dict[str, list[int]] = {}
    for path in captures(tmp_path):
        info = read_capture(path)["run"]
        assert info["job_id"] == path.parent.name
        jobs.setdefault(info["job_id"], []).append(info["rank"])
    ranks = [sorted(ranks) for ranks in jobs.values()]
    assert ranks == ([[0, 0, 1, 1]] if "--rdzv-id=x" in options else [[0, 1], [0, 1]])


def test_a_shell_between_torchrun_and_python_does_not_part_the_ranks(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import marey\n" + LOOP)
    (tmp_path / "wrapper.sh").write_text(f'#!/bin/sh\n"{sys.executable}" program.py\nexit $?\n')
    (tmp_path / "wrapper.sh").chmod(0o755)
    options = [MEETING_PLACE, "--nproc-per-node=2", "--no-python"]
    run(tmp_path, [sys.executable, "-m", "torch.distributed.run", *options, "./wrapper.sh"], under=False, **INTO_OUT)
    assert sorted(ranks_in(tmp_path)) == [0, 1]
    assert len({path.parent for path in captures(tmp_path)}) == 1


SPAWN = """
import os, sys
import torch, torch.distributed as dist, torch.multiprocessing as mp

def work(rank, meeting):
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=2)
    dist.all_reduce(torch.ones(4))
    dist.barrier()
    dist.destroy_process_group()

if __name__ == "__main__":
    mp.spawn(work, args=(os.path.abspath("meeting"),), nprocs=2)
"""


@pytest.mark.parametrize("shell", [{}, {"SLURM_PROCID": "0", "SLURM_NTASKS": "1", "SLURM_STEP_ID": "0"}])
def test_a_rank_that_only_the_program_knows_is_learnt_from_the_process_group(
    tmp_path: Path, shell: dict[str, str]
) -> None:
    """Also where a shell of one Slurm task says that everything in it is rank 0 of 1."""
    (tmp_path / "program.py").write_text(SPAWN)
    run(tmp_path, [sys.executable, "program.py"], **shell)
    reports = [read_capture(path) for path in captures(tmp_path)]
    found = {place(report) for report in reports if report["run"]["facts"].get("launcher") == "program"}
    assert found == {(0, 2, None, "program"), (1, 2, None, "program")}
    assert len({report["run"]["job_id"] for report in reports}) == 1


ACCELERATE = """
import marey
from accelerate import Accelerator, debug_launcher

def work():
    marey.start("out", job_id="job")
    accelerator = Accelerator(cpu=True)
    with marey.profile_section("gather"):
        accelerator.gather(accelerator.process_index * __import__("torch").ones(2))

if __name__ == "__main__":
    debug_launcher(work, num_processes=2)
"""


def test_a_recording_that_begins_after_the_process_group_has_its_rank(tmp_path: Path) -> None:
    """Accelerate's launcher for tests forks, and sets no variable of a rank."""
    (tmp_path / "program.py").write_text(ACCELERATE)
    run(tmp_path, [sys.executable, "program.py"], under=False)
    assert sorted(path.name.split("-")[0] for path in captures(tmp_path)) == ["rank0", "rank1"]
    found = ranks_in(tmp_path)
    assert {rank: place(report) for rank, report in found.items()} == {
        rank: (rank, 2, None, "program") for rank in (0, 1)
    }
    assert all(collectives(report)["gather"] == 1 for report in found.values())


def test_a_program_can_say_its_rank_itself(tmp_path: Path) -> None:
    """Before and after it records into a file, and nonsense changes nothing."""
    program = """
    import marey, marey.distributed as ranks
    print(ranks.set_rank(3, 3), ranks.set_rank(-1, 3), ranks.set_rank("a", 3), ranks.set_rank(0, 3, 5))
    with marey.profile_section("one"):
        pass
    print(ranks.set_rank(1, 3, local_rank=0))
    marey.start("out")
    with marey.profile_section("two"):
        ranks.start_mark()
    print(ranks.set_rank(2, 3))
    """
    (tmp_path / "program.py").write_text(textwrap.dedent(program))
    said = run(tmp_path, [sys.executable, "program.py"], under=False).split()
    assert said == ["False"] * 4 + ["True"] * 2
    (path,) = captures(tmp_path)
    assert path.name.startswith("rank1-")
    report = read_capture(path)
    assert place(report) == (2, 3, None, "program")
    assert collectives(report) == {"one": 1, "two": 1}
    assert len(Recorded(report).events("start_mark")) == 1


def test_nonsense_of_the_environment_is_said_and_not_believed(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import marey\nwith marey.profile_section('one'): pass\n")
    run(tmp_path, [sys.executable, "program.py"], under=False, **INTO_OUT, RANK="4", WORLD_SIZE="4")
    (path,) = captures(tmp_path)
    report = read_capture(path)
    assert place(report) == (None, None, None, None)
    assert any('RANK="4", WORLD_SIZE="4"' in said for said in report["data_quality"]["warnings"])


def test_a_killed_rank_leaves_the_others_whole_and_its_own_to_be_completed(tmp_path: Path) -> None:
    """Rank 1 kills itself in the third of its steps; torchrun then ends rank 0, which waits for it."""
    program = """
    import os, signal
    import torch, torch.distributed as dist, marey
    dist.init_process_group("gloo")
    for step in range(5):
        with marey.profile_section("step"):
            dist.all_reduce(torch.ones(4))
            if step == 2 and dist.get_rank() == 0:
                open("third", "w").close()
            elif step == 2:
                while not os.path.exists("third"):
                    pass
                os.kill(os.getpid(), signal.SIGKILL)
    """
    run(tmp_path, torchrun(tmp_path, program, 2), fails=True)
    found = ranks_in(tmp_path)
    assert sorted(found) == [0, 1]
    killed = found[1]
    counts = collectives(killed)
    assert (counts["all_reduce"], counts["step"]) == (3, 2)
    assert [row["path"] for row in killed["data_quality"]["open_sections"]] == [["step"]]
    assert killed["status"]["kind"] not in ("running", "finished")
    # It was in its fourth all_reduce or had ended the third step, when torchrun sent it SIGTERM.
    assert collectives(found[0])["all_reduce"] >= 3


def test_what_is_said_of_a_call_is_group_size_bytes_and_whether_it_waits(tmp_path: Path) -> None:
    """256 floats are 1 024 bytes; two ranks gather 2 048. The outermost call alone is a section."""
    program = """
    import json, os, torch, torch.distributed as dist, marey, marey.distributed as ranks
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    pair = dist.new_group([0, 1])
    x = torch.ones(256)
    dist.all_reduce(x)
    work = dist.all_reduce(x, group=pair, async_op=True)
    assert isinstance(work, dist.Work)
    work.wait()
    del work
    dist.all_gather([torch.empty(256), torch.empty(256)], x)
    dist.all_gather_object([None, None], {"rank": rank})
    if rank == 0:
        dist.send(x, 1)
    else:
        dist.recv(x, 0)
    operations = [dist.P2POp(dist.isend, x, 1 - rank), dist.P2POp(dist.irecv, torch.empty(256), 1 - rank)]
    for one in dist.batch_isend_irecv(operations):
        one.wait()
    del one
    try:
        dist.all_reduce("no tensor")
    except Exception as error:
        os.write(1, type(error).__name__.encode() + bytes([10]))  # at once: two ranks write here
    assert not ranks._handles, ranks._handles
    """
    said = run(tmp_path, torchrun(tmp_path, program, 2))
    assert said.split() == ["TypeError"] * 2
    report = ranks_in(tmp_path)[0]
    assert collectives(report) == {
        "import": 1,
        "init_process_group": 1,
        "all_reduce": 3,
        "wait": 3,
        "all_gather": 1,
        "all_gather_object": 1,
        "send": 1,
        "batch_isend_irecv": 1,
    }
    path = next(path for path in captures(tmp_path) if read_capture(path)["run"]["rank"] == 0)
    found = attributes(path)
    world = {"group": "default_pg", "group_size": 2}
    assert found["all_reduce"][0] == {**world, "bytes": 1024}
    pair = found["all_reduce"][1]["group"]
    assert pair != "default_pg"
    assert found["all_reduce"][1] == {"group": pair, "group_size": 2, "bytes": 1024, "is_async": True}
    assert (
        found["wait"]
        == [{"collective": "all_reduce", "group": pair, "group_size": 2}]
        + [{"collective": "batch_isend_irecv", **world}] * 2
    )
    assert found["all_gather"] == [{**world, "bytes": 2048}]
    assert found["all_gather_object"] == [world]
    assert found["send"] == [{**world, "bytes": 1024}]
    assert found["batch_isend_irecv"] == [{**world, "bytes": 2048}]


def attributes(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Attributes of each recorded section by its name, in order of time."""
    done = subprocess.run(
        [sys.executable, "-m", "marey", "export", str(path), "--format", "chrome", "--output", "-"],
        capture_output=True,
        check=True,
        env=environment(),
    )
    events = [event for event in json.loads(done.stdout)["traceEvents"] if event.get("ph") == "X"]
    found: dict[str, list[dict[str, Any]]] = {}
    for event in sorted(events, key=lambda event: event["ts"]):
        given = event["args"].get("attributes", {})
        kept = {key: given[key] for key in ("group", "group_size", "bytes", "is_async", "collective") if key in given}
        found.setdefault(event["name"], []).append(kept)
    return found


def test_functions_look_like_torchs_own_and_come_back(tmp_path: Path) -> None:
    program = """
    import inspect, pickle, sys
    import marey.distributed as ranks
    print(ranks.instrument(), "torch" in sys.modules)
    import torch.distributed as dist, torch.distributed.distributed_c10d as c10d
    before = {name: getattr(c10d, name) for name in ranks._COLLECTIVES if hasattr(c10d, name)}
    wait = dist.Work.wait
    installed = ranks.instrument()
    assert ranks.instrument() is installed
    for name, function in before.items():
        now = getattr(c10d, name)
        assert now is not function, name
        assert getattr(dist, name, now) is now, name
        assert inspect.signature(now) == inspect.signature(function)
        assert (now.__name__, now.__qualname__, now.__module__) == (name, name, c10d.__name__)
        assert pickle.loads(pickle.dumps(now)) is now
    kept = dist.all_reduce
    installed.undo()
    installed.undo()
    assert all(getattr(c10d, name) is function and getattr(dist, name, function) is function
               for name, function in before.items())
    assert dist.Work.wait is wait
    try:
        kept(None)
    except (ValueError, TypeError, RuntimeError) as error:
        print(type(error).__name__)
    """
    (tmp_path / "program.py").write_text(textwrap.dedent(program))
    said = run(tmp_path, [sys.executable, "program.py"], under=False).split()
    assert said[:2] == ["None", "False"]
    assert len(said) == 3


@pytest.mark.parametrize("order", ["before", "after"])
def test_compiled_code_calls_torch_alone(tmp_path: Path, order: str) -> None:
    """Whether torch's table for compilers was made before or after the functions got their sections."""
    program = f"""
    import torch, torch.distributed as dist, marey, marey.distributed as ranks
    if {order == "before"}:
        ranks.instrument()
    import torch.distributed._functional_collectives
    ranks.instrument()
    marey.start("out")
    dist.init_process_group("gloo")

    @torch.compile(backend="eager", fullgraph=True)
    def work(x):
        y = x * 2
        dist.all_reduce(y)
        return y + 1

    assert work(torch.ones(4)).tolist() == [5.0] * 4
    dist.all_reduce(torch.ones(4))
    dist.destroy_process_group()
    """
    run(tmp_path, torchrun(tmp_path, program, 2), under=False)
    for report in ranks_in(tmp_path).values():
        assert collectives(report) == {"init_process_group": 1, "all_reduce": 1}


def test_ddp_gives_the_same_weights_with_and_without(tmp_path: Path) -> None:
    program = """
    import torch, torch.distributed as dist

    def train():
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            model(torch.randn(2, 8)).square().sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        if dist.get_rank() == 0:
            print(model.module.weight.double().sum().item())

    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    train()
    dist.barrier()
    dist.destroy_process_group()
    """
    command = torchrun(tmp_path, program, 2)
    assert run(tmp_path, command) == run(tmp_path, command, under=False)
    assert sorted(ranks_in(tmp_path)) == [0, 1]
