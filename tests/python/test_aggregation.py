"""``marey.aggregate_reports()`` and the command line's engines."""

import json
import os
import subprocess
import sys

import pytest

import marey

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
    assert [row["rank"] for row in document["reports_summary"]] == [0, 1]
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
    with pytest.raises(ValueError, match="invalid value"):
        marey.aggregate_reports(reports, output=output, format="xml")
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


def test_the_command_without_arguments_says_how_it_is_used():
    said = subprocess.run([sys.executable, "-m", "marey", "aggregate"], capture_output=True, text=True)
    assert said.returncode == 2
    assert "Usage: marey aggregate" in said.stderr
