"""A job of several ranks that was really recorded, and a session of Spark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from query_engines import record


@pytest.fixture(scope="session")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a job of three ranks, of which rank 2 makes one step more."""
    folder = tmp_path_factory.mktemp("recorded")
    for rank in range(3):
        record(folder, "clip", RANK=str(rank), WORLD_SIZE="3", STEPS=str(4 + rank // 2))
    return folder / "clip"


@pytest.fixture(scope="session")
def single(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a job of one process without a rank."""
    return record(tmp_path_factory.mktemp("single"), "alone", STEPS="2")


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session of Spark Connect, answered by Sail; no JVM."""
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer()
    server.start(background=True)
    _, port = server.listening_address
    session = SparkSession.builder.remote(f"sc://localhost:{port}").getOrCreate()
    yield session
    session.stop()
    server.stop()
