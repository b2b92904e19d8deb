"""Collectors of OpenTelemetry: one that keeps what comes, and ways to be no good."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

metrics_service = pytest.importorskip("opentelemetry.proto.collector.metrics.v1.metrics_service_pb2")
trace_service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")


@dataclass
class Collector:
    """Stands for a collector: keeps what comes, or is no good as it is told to be."""

    status: int = 200
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    come: threading.Condition = field(default_factory=threading.Condition)
    url: str = ""

    def wait_for(self, is_there: Any) -> Any:
        """Until something that came satisfies the question; what it answered."""
        with self.come:
            has_come = self.come.wait_for(lambda: any(is_there(*request) for request in self.requests), timeout=200)
            assert has_come, [path for path, *_ in self.requests]
            return next(found for request in self.requests if (found := is_there(*request)))

    @property
    def metrics(self) -> list[Any]:
        """The requests for metrics, decoded."""
        return [
            metrics_service.ExportMetricsServiceRequest.FromString(body)
            for path, _, body in self.requests
            if path == "/v1/metrics"
        ]

    @property
    def traces(self) -> list[Any]:
        """The requests for spans, decoded."""
        return [
            trace_service.ExportTraceServiceRequest.FromString(body)
            for path, _, body in self.requests
            if path == "/v1/traces"
        ]


@contextmanager
def collecting(status: int = 200) -> Iterator[Collector]:
    """A collector on a port of its own."""
    collector = Collector(status)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with collector.come:
                collector.requests.append(
                    (self.path, {name.lower(): value for name, value in self.headers.items()}, body)
                )
                collector.come.notify_all()
            self.send_response(collector.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    collector.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield collector
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def attributes(of: Any) -> dict[str, Any]:
    """Attributes as a mapping."""
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in of.attributes}


def points(request: Any) -> dict[tuple[str, frozenset[Any]], Any]:
    """Points by name and attributes, those of the resource not among them."""
    found = {}
    for resource in request.resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                data = getattr(metric, metric.WhichOneof("data"))
                for point in data.data_points:
                    key = (metric.name, frozenset(attributes(point).items()))
                    found[key] = point.as_double if hasattr(point, "as_double") else point
    return found


@contextmanager
def dead() -> Iterator[str]:
    """A port at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    yield f"http://127.0.0.1:{port}"


@contextmanager
def mute() -> Iterator[str]:
    """Takes connections, and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@contextmanager
def closing() -> Iterator[str]:
    """Takes connections, and closes each at once."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def work() -> None:
            with suppress(OSError):
                while True:
                    client, _ = server.accept()
                    client.close()

        thread = threading.Thread(target=work)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


@contextmanager
def failing() -> Iterator[str]:
    """Answers every request with an error."""
    with collecting(status=500) as collector:
        yield collector.url
