"""What a real collector of OpenTelemetry makes of it: it receives, puts together and sends on.

::

    marey run --otlp ─► rotel, a collector ─► a server of this test, decoded by opentelemetry-proto
"""

from __future__ import annotations

import gzip
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from collectors import Collector, attributes, collecting, metrics_service, points, trace_service
from live_job import needs_otlp, running

rotel = pytest.importorskip("rotel")


@contextmanager
def collector_before(receiver: Collector, folder: Path) -> Iterator[str]:
    """Starts a collector that sends on what comes; its address."""
    # A port that was free may have been taken by somebody else: then it ends, and is started at others.
    started = (listening(receiver, folder) for _ in range(5))
    process, url = next(found for found in started if found)
    try:
        yield url
    finally:
        process.terminate()
        process.wait()


def listening(receiver: Collector, folder: Path) -> tuple[subprocess.Popen[bytes], str] | None:
    """A collector that takes connections, and its address; None when it has ended."""
    agent = Path(rotel.__file__).with_name("rotel-agent")
    http, grpc = (free_port() for _ in range(2))
    places = [f"--otlp-http-endpoint=127.0.0.1:{http}", f"--otlp-grpc-endpoint=127.0.0.1:{grpc}"]
    sending = ["--exporter=otlp", "--otlp-exporter-protocol=http", f"--otlp-exporter-endpoint={receiver.url}"]
    with (folder / "collector.log").open("w") as log:
        process = subprocess.Popen([agent, "start", *places, *sending], stdout=log, stderr=log)
    while process.poll() is None:
        with closing(socket.socket()) as knock:
            if knock.connect_ex(("127.0.0.1", http)) == 0:
                return process, f"http://127.0.0.1:{http}"
    return None


def free_port() -> int:
    """One that nobody listens at now."""
    with closing(socket.socket()) as asked:
        asked.bind(("127.0.0.1", 0))
        return asked.getsockname()[1]


def plain(headers: dict[str, str], body: bytes) -> bytes:
    """A body as it was before the collector packed it."""
    return gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body


def phases(path: str, headers: dict[str, str], body: bytes) -> dict[str, str]:
    """Of a request for spans: what kind of phase each is; nothing of another one."""
    if path != "/v1/traces":
        return {}
    return {
        span.name: attributes(span)["diffusion.phase"]
        for resource in trace_service.ExportTraceServiceRequest.FromString(plain(headers, body)).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    }


def figures(path: str, headers: dict[str, str], body: bytes) -> dict[Any, Any]:
    """Of a request for metrics; nothing of another one."""
    if path != "/v1/metrics":
        return {}
    return points(metrics_service.ExportMetricsServiceRequest.FromString(plain(headers, body)))


def of_the_end(*request: Any) -> dict[Any, Any] | None:
    """The figures that say that the program runs no more."""
    found = figures(*request)
    return found if found.get(("diffusion.process.running", frozenset())) == 0 else None


@needs_otlp
def test_a_real_collector_takes_the_figures_and_the_phases(tmp_path: Path) -> None:
    with collecting() as receiver, collector_before(receiver, tmp_path) as url:
        with running(tmp_path, "--otlp", url, "--otlp-interval", "0.1") as run:
            run.wait_for("ready")
            receiver.wait_for(figures)
        spans = receiver.wait_for(phases)
        last = receiver.wait_for(of_the_end)
    assert "ERROR" not in (tmp_path / "collector.log").read_text()
    assert last["diffusion.steps", frozenset()] == 6
    assert last["diffusion.section.calls", frozenset({("section", "generate")})] == 1
    assert last["diffusion.iteration.time", frozenset({("iteration", "generate/denoise")})].count == 6
    assert spans["clip"] == "session"
    assert spans["generate"] == "section"
