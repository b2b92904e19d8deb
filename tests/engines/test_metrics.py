"""What monitoring systems get of a running job, read by their own parsers: prometheus_client, opentelemetry-proto."""

from __future__ import annotations

import os
import re
import socket
import subprocess
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from collectors import attributes, closing, collecting, dead, failing, metrics_service, mute, points
from live_job import ODD, UNSAMPLED, marey, needs_otlp, run_briefly, running

parser = pytest.importorskip("prometheus_client.parser")


def test_the_parser_of_prometheus_reads_every_sample(tmp_path: Path) -> None:
    with running(tmp_path, "--prometheus", "0") as run:
        said = run.stream(run.process.stderr).readline()
        port = int(re.findall(r":(\d+)/metrics", said)[0])
        run.wait_for("ready")
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        text = answer.read().decode()
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        assert run.end()[0] == 7
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
    assert value("diffusion_blocks", "diffusion_blocks_total") == 2
    loop = "generate/denoise"
    turns = "diffusion_iteration_time_seconds"
    assert value(turns, turns + "_count", iteration=loop) == 6
    assert value(turns, turns + "_sum", iteration=loop) > 0
    calls = "diffusion_section_calls"
    assert value(calls, calls + "_total", section="generate") == 1
    assert value(calls, calls + "_total", section=ODD) == 1
    generate = value("diffusion_section_time_seconds", "diffusion_section_time_seconds_total", section="generate")
    assert generate >= value(turns, turns + "_sum", iteration=loop)


@needs_otlp
def test_a_collector_gets_the_figures_while_it_runs_and_the_phases_at_the_end(tmp_path: Path) -> None:
    with collecting() as collector, running(tmp_path, "--otlp", collector.url, "--otlp-interval", "0.1") as run:
        run.wait_for("ready")

        def with_steps(path: str, headers: dict[str, str], body: bytes) -> Any:
            assert headers["content-type"] == "application/x-protobuf"
            if path != "/v1/metrics":
                return None
            request = metrics_service.ExportMetricsServiceRequest.FromString(body)
            return request if ("diffusion.steps", frozenset()) in points(request) else None

        collector.wait_for(with_steps)
        code, said = run.end()
    assert (code, said) == (7, "")
    last = points(collector.metrics[-1])
    assert last["diffusion.steps", frozenset()] == 6
    assert last["diffusion.blocks", frozenset()] == 2
    assert last["diffusion.process.running", frozenset()] == 0, "that was after its end"
    assert last["diffusion.section.calls", frozenset({("section", "generate")})] == 1
    assert last["diffusion.section.calls", frozenset({("section", ODD)})] == 1
    turns = last["diffusion.iteration.time", frozenset({("iteration", "generate/denoise")})]
    assert turns.count == 6
    [resource] = [r.resource for r in collector.metrics[-1].resource_metrics if "process.pid" in attributes(r.resource)]
    said_of = attributes(resource)
    assert said_of["service.name"] == "program.py"
    assert said_of["host.name"] == socket.gethostname()
    assert said_of["diffusion.job.id"] == "job"

    [trace] = collector.traces
    spans = {
        span.name: span for resource in trace.resource_spans for scope in resource.scope_spans for span in scope.spans
    }
    assert set(spans) == {"job", "process", "clip", "generate", ODD}
    parents = {name: span.parent_span_id for name, span in spans.items()}
    assert parents == {
        "job": b"",
        "process": spans["job"].span_id,
        "clip": spans["process"].span_id,
        "generate": spans["clip"].span_id,
        ODD: spans["process"].span_id,
    }
    assert {span.trace_id for span in spans.values()} == {spans["job"].trace_id}
    for inner, outer in [("generate", "clip"), ("clip", "process"), ("process", "job")]:
        assert spans[outer].start_time_unix_nano <= spans[inner].start_time_unix_nano
        assert spans[inner].end_time_unix_nano <= spans[outer].end_time_unix_nano
    assert spans["job"].status.code == 2, "it did not end well"


@needs_otlp
@pytest.mark.parametrize("bad", [dead, mute, closing, failing])
def test_a_collector_that_is_no_good_costs_a_line_and_nothing_else(tmp_path: Path, bad: Any) -> None:
    with bad() as url, running(tmp_path, "--otlp", url, "--otlp-interval", "0.1") as run:
        run.wait_for("ready")
        code, said = run.end()
    assert code == 7
    [line] = said.splitlines()
    assert url in line
    assert re.search(r"failed and were dropped|did not take everything in time", line)
    assert len(list((tmp_path / "out" / "job").glob("*.marey"))) == 1
    assert (tmp_path / "out" / "job" / "report.html").exists()


@needs_otlp
def test_the_endpoint_of_the_environment_counts_only_when_asked(tmp_path: Path) -> None:
    with collecting() as collector:
        variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_SERVICE_NAME": "mine"}
        environment = os.environ | UNSAMPLED | variables
        for options, sends in [([], False), (["--otlp"], True)]:
            subprocess.run(
                [*marey(), "--output", "out", "--quiet", *options, "--", "true"],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                check=True,
            )
            # Nothing was recorded: there are no figures, only how long it took.
            assert [path for path, _, _ in collector.requests] == (["/v1/traces"] if sends else [])
        assert attributes(collector.traces[0].resource_spans[0].resource)["service.name"] == "mine"


SECRET = "c2VjcmV0LWtleQ=="


@needs_otlp
def test_headers_of_the_environment_reach_the_collector_and_are_said_nowhere(tmp_path: Path) -> None:
    variables = {
        "OTEL_EXPORTER_OTLP_HEADERS": f"authorization=Basic%20{SECRET}, x-scope = one%2Ctwo",
        "OTEL_EXPORTER_OTLP_TRACES_HEADERS": f"x-key={SECRET}",
    }
    for status in (200, 401):
        with collecting(status) as collector:
            url = collector.url.replace("//", "//user:password@")
            with running(tmp_path, "--otlp", url, "--otlp-interval", "0.1", environment=variables) as run:
                run.wait_for("ready")
                collector.wait_for(lambda path, *_: path == "/v1/metrics")
                code, said = run.end()
        assert code == 7
        assert SECRET not in said
        assert ("401" in said) == (status == 401)
        by_path = {path: headers for path, headers, _ in collector.requests}
        assert by_path["/v1/metrics"]["authorization"] == f"Basic {SECRET}", "counts before the endpoint's user"
        assert by_path["/v1/metrics"]["x-scope"] == "one,two"
        assert by_path["/v1/traces"]["x-key"] == SECRET
        assert by_path["/v1/traces"]["authorization"].startswith("Basic "), "the endpoint's user"
        assert "x-scope" not in by_path["/v1/traces"]
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file() and not path.is_symlink()]
    assert not any(SECRET.encode() in path.read_bytes() for path in written)


@needs_otlp
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OTEL_EXPORTER_OTLP_HEADERS", f"x={SECRET}%0d%0ax-admin: 1"),
        ("OTEL_EXPORTER_OTLP_METRICS_HEADERS", f"authorization: {SECRET}"),
        ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", f"content-length={SECRET}"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", f"{SECRET}"),
        ("OTEL_RESOURCE_ATTRIBUTES", f"a={SECRET}%"),
    ],
)
def test_a_bad_variable_is_named_before_the_program_starts_and_its_value_is_not(
    tmp_path: Path, name: str, value: str
) -> None:
    with collecting() as collector:
        ran = run_briefly(tmp_path, "--otlp", collector.url, **{name: value})
    assert ran.returncode == 2
    [line] = ran.stderr.splitlines()
    assert f"{name}: " in line
    assert SECRET not in line
    assert not collector.requests
    assert not (tmp_path / "out").exists()
    assert run_briefly(tmp_path, **{name: value}).returncode == 0, "nobody reads it where nothing is sent"


@needs_otlp
def test_what_the_user_says_of_the_program_is_on_everything_that_is_sent(tmp_path: Path) -> None:
    with (
        collecting() as collector,
        running(
            tmp_path,
            "--otlp",
            collector.url,
            "--otlp-interval",
            "0.1",
            environment={
                "OTEL_RESOURCE_ATTRIBUTES": "service.name=clips,deployment.environment.name=a%20b,process.pid=0",
            },
        ) as run,
    ):
        run.wait_for("ready")
        collector.wait_for(lambda path, _, body: path == "/v1/metrics" and b"diffusion.steps" in body)
        assert run.end() == (7, "")
    of_metrics = [group.resource for request in collector.metrics for group in request.resource_metrics]
    of_spans = [group.resource for request in collector.traces for group in request.resource_spans]
    assert len(of_metrics) > 0
    assert len(of_spans) == 2
    for resource in of_metrics + of_spans:
        said = attributes(resource)
        assert said["service.name"] == "clips"
        assert said["deployment.environment.name"] == "a b"
        assert said.get("process.pid") != 0
        assert len(said) == len(resource.attributes), "no key twice"


@needs_otlp
def test_a_collector_may_be_given_more_time_or_less(tmp_path: Path) -> None:
    with mute() as url:
        ran = run_briefly(tmp_path, "--otlp", url, OTEL_EXPORTER_OTLP_TIMEOUT="50")
    assert ran.returncode == 0
    assert "1 of 1 requests" in ran.stderr, "within the time that the end of a run waits"
    with mute() as url:
        ran = run_briefly(tmp_path, "--otlp", url, OTEL_EXPORTER_OTLP_TIMEOUT="3600000")
    assert ran.returncode == 0
    assert "did not take everything in time" in ran.stderr
