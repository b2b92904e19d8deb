"""``marey.aggregate_reports()`` and the command line's engines."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import marey
from stand_in_ray import StandInRay

REPORT = {
    "session_info": {"id": "s", "start_time": 1000.0, "duration": 2.0, "tags": {}},
    "summary": {"gpu": {"peak_memory_usage_mb": 9800.0, "avg_memory_usage_mb": 8420.0}, "cpu": None},
}


@pytest.fixture
def reports(tmp_path):
    for rank in range(2):
        folder = tmp_path / "reports" / f"rank_{rank}"
        folder.mkdir(parents=True)
        (folder / "profiling_report.json").write_text(json.dumps(REPORT))
    return tmp_path / "reports"


def test_ranks_are_put_together(reports, tmp_path, capsys):
    output = tmp_path / "all.json"
    document = marey.aggregate_reports(reports, output=output)
    assert document["total_reports"] == 2
    assert document["aggregated_gpu_metrics"]["peak_memory_usage_mb_sum"] == 2 * 9800.0
    assert [(row["rank"], row["session_id"]) for row in document["reports_summary"]] == [(0, "s"), (1, "s")]
    assert document["reports_summary"][1]["file"].endswith("rank_1/profiling_report.json")
    assert json.loads(output.read_text()) == document
    said = capsys.readouterr().out
    assert said.startswith("=== Aggregation Summary ===\nTotal reports processed: 2\nRanks: 2\n")


def test_quiet_prints_nothing_and_several_paths_are_one_job(reports, capfd):
    document = marey.aggregate_reports([reports / "rank_0", str(reports / "rank_1")], quiet=True)
    assert document["rank_count"] == 2
    assert capfd.readouterr() == ("", "")


def test_without_output_only_the_summary_is_shown_and_nothing_is_written(reports, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    marey.aggregate_reports("reports")
    assert len(capsys.readouterr().out.splitlines()) == 6
    assert sorted(tmp_path.rglob("*")) == before


def test_the_format_may_be_given(reports, tmp_path):
    output = tmp_path / "page"
    marey.aggregate_reports(reports, output=output, format="html", quiet=True)
    assert output.read_text().startswith("<!")
    with pytest.raises(ValueError, match="invalid value") as caught:
        marey.aggregate_reports(reports, output=output, format="xml")
    assert str(caught.value) == (
        "invalid value 'xml' for '--format <FORMAT>' "
        "[possible values: text, json, markdown, csv, html, summaries, perfetto]"
    )
    with pytest.raises(marey.Error, match="says no format"):
        marey.aggregate_reports(reports, output=tmp_path / "a.xyz")


def test_what_cannot_be_read_is_an_error_of_the_family(tmp_path):
    with pytest.raises(marey.CaptureError, match="holds no captures"):
        marey.aggregate_reports(tmp_path)
    (tmp_path / "rank0-1.marey").touch()
    with pytest.raises(marey.CaptureError, match="is empty"):
        marey.aggregate_reports(tmp_path)


def test_an_engine_that_is_none_is_refused_and_ray_is_said_to_be_missing(reports, monkeypatch):
    with pytest.raises(ValueError, match="no engine 'spark'"):
        marey.aggregate_reports(reports, quiet=True, engine="spark")
    with pytest.raises(ValueError, match="engine='ray'"):
        marey.aggregate_reports(reports, quiet=True, address="127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(marey.Error, match=r"pip install 'marey\[ray\]'"):
        marey.aggregate_reports(reports, quiet=True, engine="ray")


def test_a_cluster_without_a_free_processor_is_given_up(reports, monkeypatch, capsys):
    ray = StandInRay(free_after=None)
    monkeypatch.setitem(sys.modules, "ray", ray)
    with pytest.raises(marey.Error) as caught:
        marey.aggregate_reports(reports, quiet=True, engine="ray", timeout_s=12)
    assert str(caught.value) == (
        "no Ray cluster: none of its processors became free for tasks in 12 s (4 in all, 0 free). End what holds them, "
        "add nodes, name another cluster, raise timeout_s, or read the files with the engine local"
    )
    assert capsys.readouterr().err == (
        "marey: waiting for a processor that is free for tasks of the Ray cluster: 4 in all, 0 free; at most 12 s\n"
    )
    assert ray.waited == [5.0, 5.0, 2.0]
    assert ray.cancelled == [("_nothing", True)]
    assert ray.was_shut_down


def test_a_cluster_that_becomes_free_in_time_reads_what_one_process_reads(reports, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ray", StandInRay(free_after=3))
    document = marey.aggregate_reports(reports, quiet=True, engine="ray")
    assert capsys.readouterr().err.count("\n") == 1
    assert document == marey.aggregate_reports(reports, quiet=True)


def test_the_job_may_be_chosen(tmp_path):
    for job, first in (("a", "1"), ("b", "2")):
        code = "import sys, marey; marey.start(sys.argv[1], job_id=sys.argv[2]); marey.stop()"
        environment = {**os.environ, "RANK": "0", "WORLD_SIZE": first}
        subprocess.run([sys.executable, "-c", code, str(tmp_path), job], env=environment, check=True)
    of = {name: marey.aggregate_reports(tmp_path, quiet=True, job=name) for name in ("a", "b", "all")}
    assert [[job["job_id"] for job in of[name]["jobs"]] for name in ("a", "b")] == [["a"], ["b"]]
    assert {job["job_id"] for job in of["all"]["jobs"]} == {"a", "b"}
    with pytest.raises(marey.CaptureError, match="has no job c"):
        marey.aggregate_reports(tmp_path, quiet=True, job="c")


def test_without_ray_the_command_says_what_to_install(reports, tmp_path):
    # A module that cannot be found stands for a machine without Ray.
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['ray'] = None\n")
    said = subprocess.run(
        [sys.executable, "-m", "marey", "aggregate", str(reports), "--engine", "ray"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert said.returncode == 2
    assert "pip install 'marey[ray]'" in said.stderr


ENGINE = """
import sys
from marey.engines import ray_engine
ray_engine.summaries = lambda files, address: ray_engine.read(files)
sys.exit(ray_engine.main(sys.argv[1:]))
"""


def by_each_engine(*arguments, **streams):
    """The command with this process as its engine, and with what stands for the tasks of Ray."""
    command = [sys.executable, "-m", "marey", "aggregate", *arguments]
    other = [sys.executable, "-c", ENGINE, *arguments, "--engine=ray"]
    return [subprocess.run(one, stderr=subprocess.PIPE, text=True, **streams) for one in (command, other)]


def test_an_output_that_cannot_be_written_is_said_in_a_line_by_each_engine(reports):
    with open("/dev/full", "w") as full:
        found = by_each_engine(str(reports), "--format=json", "--output=-", stdout=full)
    said = "marey: No space left on device (os error 28)\n"
    assert [(one.returncode, one.stderr) for one in found] == [(2, said)] * 2


def test_a_reader_that_has_seen_enough_is_no_error_of_any_engine(reports):
    read, write = os.pipe()
    os.close(read)
    found = by_each_engine(str(reports), "--format=json", "--output=-", stdout=write)
    os.close(write)
    assert [one.returncode for one in found] == [0, 0]
    assert "Traceback" not in found[1].stderr


def test_help_and_wrong_arguments_are_the_commands_whatever_the_engine(reports):
    for arguments, code in ((["--help"], 0), ([str(reports), "--format=xml"], 2)):
        local, ray = by_each_engine(*arguments, stdout=subprocess.PIPE)
        assert (ray.returncode, ray.stdout, ray.stderr) == (code, local.stdout, local.stderr)
        assert "Usage: marey aggregate" in ray.stdout or "invalid value" in ray.stderr


def test_the_example_ends_as_the_command_does(reports, tmp_path):
    whole, missing, cut = reports, tmp_path / "missing", tmp_path / "cut"
    for folder, said in ((missing, {"run": {"world_size": 3}}), (cut, {"status": {"kind": "killed", "signal": 9}})):
        (folder / "rank_0").mkdir(parents=True)
        (folder / "rank_0" / "profiling_report.json").write_text(json.dumps(REPORT | said))
    script = Path(__file__).parents[2] / "examples" / "profiling" / "aggregate_profiling_reports.py"
    for folder, code in ((whole, 0), (missing, 1), (cut, 1), (tmp_path / "nowhere", 2)):
        command = subprocess.run([sys.executable, "-m", "marey", "aggregate", str(folder)], capture_output=True)
        example = subprocess.run([sys.executable, str(script), "--reports_dir", str(folder)], capture_output=True)
        assert (command.returncode, example.returncode) == (code, code), folder
        assert b"Traceback" not in example.stderr
