"""``marey.load(…).to_arrow(…)``: tables in memory, by the Arrow PyCapsule protocol."""

from __future__ import annotations

import gc
import json
import threading
from pathlib import Path
from typing import Any

import duckdb
import polars
import pyarrow
import pyarrow.parquet
import pytest

import marey
from marey import _core
from query_engines import marey_command


@pytest.fixture(scope="session")
def run(job: Path) -> marey.Run:
    """The job with its three processes."""
    return marey.load(job)


@pytest.fixture(scope="session")
def expected(job: Path) -> list[tuple[int, str, int, int]]:
    """Rank, name, start and duration of every section, from the records, not from tables."""
    rows = []
    for rank, capture in enumerate(sorted(job.glob("rank*.marey"))):
        sections = json.loads(_core.records(str(capture)))["sections"]
        rows += [(rank, s["name"], s["start_ns"], s["duration_ns"]) for s in sections]
    return sorted(rows)


COLUMNS = ("rank", "name", "start_ns", "duration_ns")


def test_pyarrow_polars_and_duckdb_read_the_same_values(run: marey.Run, expected: list[tuple[Any, ...]]) -> None:
    sections = run.to_arrow()
    in_pyarrow = pyarrow.table(sections).select(COLUMNS)
    assert sorted(tuple(row.values()) for row in in_pyarrow.to_pylist()) == expected
    assert sorted(polars.DataFrame(sections).select(COLUMNS).rows()) == expected
    found = duckdb.sql("SELECT rank, name, start_ns, duration_ns FROM sections").fetchall()
    assert sorted(found) == expected


def test_a_table_can_be_read_again_and_by_several_at_once(run: marey.Run, expected: list[tuple[Any, ...]]) -> None:
    sections = run.to_arrow("sections")
    first, second = (pyarrow.RecordBatchReader.from_stream(sections) for _ in range(2))
    assert first.read_next_batch().num_rows > 0
    assert second.read_all().num_rows == len(expected)
    counts: list[int] = []

    def read() -> None:
        counts.append(sum(batch.num_rows for batch in pyarrow.RecordBatchReader.from_stream(sections)))

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [len(expected)] * 8


def test_the_schema_is_that_of_the_rows_and_of_the_files(run: marey.Run, job: Path, tmp_path: Path) -> None:
    dataset = tmp_path / "tables"
    marey_command("export", str(job), "--format", "parquet", "--output", str(dataset))
    for kind in run.kinds:
        table = run.to_arrow(kind)
        assert table.kind == kind
        schema = pyarrow.schema(table)
        assert schema == pyarrow.table(table).schema
        files = list((dataset / f"kind={kind}").rglob("*.parquet"))
        in_files = [pyarrow.parquet.ParquetFile(file) for file in files]
        without_rank = schema.remove(schema.get_field_index("rank"))
        assert all(file.schema_arrow.equals(without_rank) for file in in_files), kind
        assert pyarrow.table(table).num_rows == sum(file.metadata.num_rows for file in in_files), kind


def test_capsules_that_nobody_takes_free_what_they_hold(run: marey.Run) -> None:
    sections = run.to_arrow()
    for _ in range(10_000):
        assert "arrow_array_stream" in repr(sections.__arrow_c_stream__())
        assert "arrow_schema" in repr(sections.__arrow_c_schema__())
    gc.collect()


def test_rows_outlive_the_run_that_they_are_of(job: Path, expected: list[tuple[Any, ...]]) -> None:
    reader = pyarrow.RecordBatchReader.from_stream(marey.load(job).to_arrow())
    gc.collect()
    table = reader.read_all()
    del reader
    gc.collect()
    assert sorted(tuple(row.values()) for row in table.select(COLUMNS).to_pylist()) == expected


def test_batches_are_not_copied(run: marey.Run) -> None:
    """An array that came by the protocol is the one that Rust made: its memory is not in pyarrow's pool."""
    sections = run.to_arrow()
    pyarrow.table(sections)
    before = pyarrow.total_allocated_bytes()
    table = pyarrow.table(sections)
    assert table.nbytes > 0
    assert pyarrow.total_allocated_bytes() == before


def test_a_wish_for_another_schema_is_passed_over(run: marey.Run) -> None:
    wish = pyarrow.schema([pyarrow.field("name", pyarrow.large_string())]).__arrow_c_schema__()
    assert "arrow_array_stream" in repr(run.to_arrow().__arrow_c_stream__(wish))


def test_what_cannot_be_read_says_why(job: Path, tmp_path: Path, run: marey.Run) -> None:
    with pytest.raises(marey.CaptureError, match="no capture"):
        marey.load(tmp_path)
    with pytest.raises(marey.CaptureError):
        marey.load(tmp_path / "nothing.marey")
    with pytest.raises(ValueError, match='no table is called "frames"; there are processes, sections'):
        run.to_arrow("frames")
    good = next(iter(job.glob("rank0*.marey")))
    (tmp_path / "good.marey").write_bytes(good.read_bytes())
    (tmp_path / "bad.marey").write_bytes(b"no capture")
    half = marey.load(tmp_path)
    assert pyarrow.table(half.to_arrow("processes")).num_rows == 1
    assert len(half.problems) == 1
    assert "bad.marey" in half.problems[0]
