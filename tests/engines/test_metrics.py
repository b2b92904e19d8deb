"""What Prometheus' own parser reads of a running job."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path

import pytest

parser = pytest.importorskip("prometheus_client.parser")

PROGRAM = """
import sys, marey
from marey import IterationProfiler, Profiler

profiler = Profiler()
loop = IterationProfiler("denoise")
with marey.session("clip"):
    with marey.profile_section("generate"):
        for block in range(2):
            for step in range(3):
                with loop.iteration():
                    profiler.record_diffusion_step(step=step)
            profiler.record_block_computation(block_index=block, block_size=3)
with marey.profile_section("de\\"c\\\\o\\nde {a='b'} \\u00e9"):
    pass
print("ready", flush=True)
sys.stdin.readline()
sys.exit(7)
"""
ODD = "de\"c\\o\\x0ade {a='b'} é"


def test_the_parser_of_prometheus_reads_every_sample(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    marey_run = [sys.executable, "-m", "marey", "run", "--output", "out", "--job-id", "job", "--quiet"]
    with subprocess.Popen(
        [*marey_run, "--prometheus", "0", "--", sys.executable, "program.py"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        port = int(re.findall(r":(\d+)/metrics", run.stderr.readline())[0])
        assert run.stdout.readline() == "ready\n"
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        text = answer.read().decode()
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        run.communicate()
        assert run.returncode == 7
    families = {family.name: family for family in parser.text_string_to_metric_families(text)}
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert sum(len(family.samples) for family in families.values()) == len(lines)

    def value(family: str, name: str, **labels: str) -> float:
        has = labels.items()
        [sample] = [s for s in families[family].samples if s.name == name and s.labels.items() >= has]
        assert sample.labels["job_id"] == "job"
        assert sample.labels["host"] == socket.gethostname()
        return sample.value

    assert families["diffusion_steps"].type == "counter"
    assert families["diffusion_iteration_time_seconds"].type == "summary"
    assert value("diffusion_steps", "diffusion_steps_total") == 6
    turns = "diffusion_iteration_time_seconds"
    assert value(turns, turns + "_count", iteration="generate/denoise") == 6
    calls = "diffusion_section_calls"
    assert value(calls, calls + "_total", section=ODD) == 1
