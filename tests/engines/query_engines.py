"""How a rank is recorded, and how the three engines are asked about the tables of a job."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]
Ask = Callable[[str], Rows]

PROGRAM = Path(__file__).with_name("recorded_rank.py")


def marey_command(*arguments: str) -> str:
    """What a command of marey shows; it has to succeed."""
    command = [sys.executable, "-m", "marey", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def record(folder: Path, job: str, **environment: str) -> Path:
    """Runs a rank of a job, alone; where its job lies."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAREY_", "RANK", "WORLD_SIZE"))}
    wanted = kept | environment
    command = [sys.executable, str(PROGRAM), str(folder), job]
    done = subprocess.run(command, env=wanted, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / job


def kinds(dataset: Path) -> dict[str, Path]:
    """Folders of a dataset by the kind of table in them."""
    return {folder.name.removeprefix("kind="): folder for folder in dataset.glob("kind=*")}


def duckdb_views(dataset: Path) -> Ask:
    """The views of docs/queries/README.md in DuckDB."""
    import duckdb

    connection = duckdb.connect()
    for kind, folder in kinds(dataset).items():
        connection.sql(
            f"CREATE VIEW {kind} AS "
            "SELECT * EXCLUDE (kind) REPLACE (nullif(rank, -1) AS rank) "
            f"FROM read_parquet('{folder}/**/*.parquet', hive_partitioning = true)"
        )

    def ask(query: str) -> Rows:
        found = connection.sql(query)
        return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]

    return ask


def datafusion_views(dataset: Path) -> Ask:
    """The views of docs/queries/README.md in DataFusion."""
    import datafusion
    import pyarrow

    context = datafusion.SessionContext()
    for kind, folder in kinds(dataset).items():
        context.register_parquet(f"{kind}_files", folder, table_partition_cols=[("rank", pyarrow.int64())])
        context.sql(f"CREATE VIEW {kind} AS SELECT * EXCLUDE (rank), nullif(rank, -1) AS rank FROM {kind}_files")
    return lambda query: context.sql(query).to_pylist()


def spark_views(dataset: Path, session: Any) -> Ask:
    """The views of docs/queries/README.md in Spark."""
    from pyspark.sql import functions

    for kind, folder in kinds(dataset).items():
        files = session.read.parquet(str(folder))
        files = files.withColumn("rank", functions.expr("nullif(CAST(rank AS BIGINT), CAST(-1 AS BIGINT))"))
        files.createOrReplaceTempView(kind)
    return lambda query: [row.asDict() for row in session.sql(query).collect()]


def engines(dataset: Path, session: Any) -> dict[str, Ask]:
    """All three by name; ask one dataset at a time."""
    return {
        "DuckDB": duckdb_views(dataset),
        "DataFusion": datafusion_views(dataset),
        "Sail": spark_views(dataset, session),
    }
