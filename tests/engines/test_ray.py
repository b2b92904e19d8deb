"""Ranks reduced by the tasks of a real Ray cluster of several nodes, of which parts are lost on the way.

What Ray takes for dead, it takes for dead by time. Where it can be told to, it has more of that here, and it ends no
worker because others have the machine's memory. That a node has 30 s to start is fixed in Ray (`Node.__init__` and
`Cluster._wait_for_node` of `ray`): where that passes, and only there, the start is tried again.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import marey
from marey import _core
from marey.engines import ray_engine

os.environ |= {
    "RAY_memory_monitor_refresh_ms": "0",
    "RAY_health_check_timeout_ms": "120000",
    "RAY_worker_register_timeout_seconds": "600",
    "RAY_gcs_server_request_timeout_seconds": "600",
    "RAY_gcs_server_port_wait_time_s": "600",
}
ray = pytest.importorskip("ray")
from ray.cluster_utils import Cluster  # noqa: E402

N_RANKS = 24

RECORD = """
import sys, marey
folder, rank = sys.argv[1], int(sys.argv[2])
marey.start(folder, job_id="job")
for step in range(4):
    with marey.profile_section("denoise"):
        with marey.profile_section("block"):
            pass
marey.stop()
"""


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """The captures of a job; one of them is damaged."""
    folder = tmp_path_factory.mktemp("ranks")
    for rank in range(N_RANKS):
        environment = {**os.environ, "RANK": str(rank), "WORLD_SIZE": str(N_RANKS), "MAREY_MONITOR_CPU_USAGE": "0"}
        subprocess.run([sys.executable, "-c", RECORD, str(folder), str(rank)], env=environment, check=True)
    captures = sorted((folder / "job").glob("*.marey"))
    assert len(captures) == N_RANKS
    (damaged,) = (folder / "job").glob("rank5-*.marey")
    damaged.write_bytes(b"")
    return folder


def started(start):
    """What it starts; tried again where Ray's half a minute for a node was over."""
    for _ in range(4):
        try:
            return start()
        except Exception as error:
            if not re.search("timed out", str(error), re.IGNORECASE):
                raise
    return start()


@pytest.fixture(scope="module")
def nodes():
    """Three nodes of one processor each; the first holds the driver."""
    cluster = started(lambda: Cluster(initialize_head=True, head_node_args={"num_cpus": 1}))
    for _ in range(2):
        started(lambda: cluster.add_node(num_cpus=1))
    yield cluster
    cluster.shutdown()


@pytest.fixture
def cluster(nodes):
    """The nodes, and this program connected to them."""
    ray.init(address=nodes.address, log_to_driver=False)
    yield nodes
    ray.shutdown()


def inputs(job: Path) -> list[tuple[str, str]]:
    files, _ = _core.aggregation_inputs([str(job)])
    return files


def answers(job: Path, found: bytes | None) -> dict:
    _, _, _, document = _core.aggregate([str(job), "--format", "json"], found)
    return json.loads(document)


def test_a_cluster_comes_to_the_same_as_one_process(job, cluster):
    found = ray_engine.summaries(inputs(job))
    assert json.loads(found) == json.loads(_core.summarise(inputs(job), 2))
    together = answers(job, found)
    assert together == answers(job, None)
    assert together["rank_count"] == N_RANKS - 1
    assert [row["rank"] for row in together["unread"]] == [5]


def test_a_worker_that_is_killed_in_mid_run_is_replaced(job, cluster, tmp_path):
    # The chunk that begins with the first file loses its first worker, and so does each that begins with a third one.
    fatal = {file for file, _ in inputs(job)[::3]}

    def read(files):
        mark = tmp_path / files[0][0].replace("/", "_")
        if files[0][0] in fatal and not mark.exists():
            mark.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return _core.summarise(files, 1)

    found = ray_engine.summaries(inputs(job), read=read)
    assert any(tmp_path.iterdir()), "no worker was killed"
    assert json.loads(found) == json.loads(_core.summarise(inputs(job), 1))


def test_a_node_that_is_removed_costs_nothing(job, cluster, tmp_path):
    """The others wait at a gate until the node has gone, with one task done, another one begun, and all others left."""
    lost = started(lambda: cluster.add_node(num_cpus=1, resources={"lost": 1}))
    (lost_id,) = (node["NodeID"] for node in ray.nodes() if "lost" in node["Resources"])
    done, began, gate = tmp_path / "done", tmp_path / "began", tmp_path / "gate"
    os.mkfifo(began)
    keeper = gate.open("w")
    fcntl.flock(keeper, fcntl.LOCK_EX)

    def read(files):
        if ray.get_runtime_context().get_node_id() != lost_id:
            with gate.open() as waiting:
                fcntl.flock(waiting, fcntl.LOCK_SH)
        elif done.exists():
            began.write_bytes(b"1")
            # Only the end of the node ends this.
            threading.Event().wait()
        else:
            done.touch()
        return _core.summarise(files, 1)

    def remove():
        # Waits for the task to begin.
        was_there.append(began.read_bytes())
        cluster.remove_node(lost, allow_graceful=False)
        fcntl.flock(keeper, fcntl.LOCK_UN)

    was_there = []
    remover = threading.Thread(target=remove, daemon=True)
    remover.start()
    found = ray_engine.summaries(inputs(job), read=read)
    remover.join()
    keeper.close()
    assert was_there == [b"1"]
    assert json.loads(found) == json.loads(_core.summarise(inputs(job), 1))


def test_a_rank_that_kills_every_worker_is_named(job, cluster):
    (bad,) = (name for name, _ in inputs(job) if "/rank9-" in name)

    def read(files):
        if any(name == bad for name, _ in files):
            os.kill(os.getpid(), signal.SIGKILL)
        return _core.summarise(files, 1)

    found = json.loads(ray_engine.summaries(inputs(job), read=read))
    unread = {row["file"]: row["why"] for row in found["unread"]}
    assert len(unread) == 2
    assert "Ray task" in unread[bad]
    assert "WorkerCrashed" in unread[bad]
    assert len(found["ranks"]) == N_RANKS - 2


def test_the_command_line_takes_the_engine(job, cluster, tmp_path):
    output = tmp_path / "all.json"
    marey_command = [sys.executable, "-m", "marey", "aggregate", str(job), "--output", str(output)]
    said = subprocess.run(
        [*marey_command, "--engine", "ray", "--address", cluster.address], capture_output=True, text=True
    )
    # A rank cannot be read.
    assert said.returncode == 1, said.stderr
    assert said.stdout.startswith(f"=== Aggregation Summary ===\nTotal reports processed: {N_RANKS - 1}\n")
    by_ray = json.loads(output.read_text())
    subprocess.run(marey_command, capture_output=True, check=False)
    assert json.loads(output.read_text()) == by_ray


def test_a_relative_path_is_that_of_the_driver_wherever_workers_are(job, cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(job.parent)
    workers_are_in = ray.get(ray.remote(lambda: os.getcwd()).remote())
    assert workers_are_in != os.getcwd()
    # ".." of a link is the parent of what it leads to.
    (tmp_path / "link").symlink_to(job / "job")
    for path in (job.name, os.path.join(os.path.relpath(tmp_path), "link", "..", "job")):
        by_ray = marey.aggregate_reports(path, quiet=True, engine="ray")
        assert by_ray["rank_count"] == N_RANKS - 1
        assert by_ray == marey.aggregate_reports(path, quiet=True)


def test_a_node_that_does_not_see_a_file_is_named_and_only_then(job, cluster, tmp_path):
    files = inputs(job)
    (damaged,) = (name for name, _ in files if "/rank5-" in name)
    (hidden,) = (name for name, _ in files if "/rank7-" in name)
    seen = [(name, str(tmp_path / "elsewhere") if name == hidden else path) for name, path in files]
    found = json.loads(ray_engine.summaries(seen))
    here = json.loads(_core.summarise(seen, 1))
    assert found["ranks"] == here["ranks"]
    assert {row["file"]: row["why"] for row in found["unread"]} == {
        damaged: "is empty (0 bytes): whoever wrote it was stopped",
        hidden: f"No such file or directory (os error 2) on the Ray node {socket.gethostname()}",
    }


def test_python_takes_the_engine(job, cluster):
    by_ray = marey.aggregate_reports(job, quiet=True, engine="ray", address=cluster.address)
    assert by_ray == marey.aggregate_reports(job, quiet=True)


def test_an_address_is_that_of_the_cluster_the_program_is_connected_to(job, cluster):
    port = cluster.address.rpartition(":")[2]
    whole = marey.aggregate_reports(job, quiet=True)
    same = (cluster.address, f"localhost:{port}", f"127.0.0.1:{port}", "ray://localhost:10001")
    for address in (*same, "auto", "local"):
        assert marey.aggregate_reports(job, quiet=True, engine="ray", address=address) == whole


def test_an_address_of_another_cluster_than_the_connected_one_is_an_error(job, cluster):
    port = cluster.address.rpartition(":")[2]
    for address in (f"10.255.0.1:{port}", "localhost:1", f"ray://10.255.0.1:{port}", "nonsense"):
        with pytest.raises(marey.Error) as caught:
            marey.aggregate_reports(job, quiet=True, engine="ray", address=address)
        assert f"connected to the Ray cluster at {cluster.address}, not to {address}: " in str(caught.value)
        assert ray.is_initialized()


def test_a_cluster_that_is_not_there_is_said(job):
    said = subprocess.run(
        [sys.executable, "-m", "marey", "aggregate", str(job), "--engine=ray", "--address", "127.0.0.1:1"],
        capture_output=True,
        text=True,
    )
    assert said.returncode == 2
    assert "nobody answers at 127.0.0.1:1" in said.stderr


def test_a_cluster_that_can_run_nothing_is_said_and_given_up(job, monkeypatch, capsys):
    cluster = started(lambda: Cluster(initialize_head=True, head_node_args={"num_cpus": 0}))
    monkeypatch.setattr(ray_engine, "_LOOK_SECONDS", 0.1)
    try:
        with pytest.raises(marey.Error, match=r"free for tasks in 0\.3 s \(0 in all, 0 free\)"):
            marey.aggregate_reports(job, quiet=True, engine="ray", address=cluster.address, timeout_s=0.3)
    finally:
        cluster.shutdown()
    assert capsys.readouterr().err == (
        "marey: waiting for a processor that is free for tasks of the Ray cluster: 0 in all, 0 free; at most 0.3 s\n"
    )


def test_an_address_that_is_none_is_said(job, capsys):
    assert ray_engine.main([str(job), "--engine", "ray", "--address", "nonsense"]) == 2
    assert capsys.readouterr().err.startswith("marey: no Ray cluster: ")


def test_a_cluster_of_another_version_is_said(job, monkeypatch, capsys):
    def init(**_):
        raise RuntimeError("Version mismatch: The cluster was started with:\n    Ray: 2.40.0\n    Python: 3.12.1")

    monkeypatch.setattr(ray, "init", init)
    assert ray_engine.main([str(job), "--engine", "ray"]) == 2
    assert capsys.readouterr().err == (
        "marey: no Ray cluster: Version mismatch: The cluster was started with: Ray: 2.40.0 Python: 3.12.1\n"
    )


def test_the_error_family_is_mareys(tmp_path):
    with pytest.raises(marey.CaptureError):
        marey.aggregate_reports(tmp_path)
