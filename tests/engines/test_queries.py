"""The questions of docs/queries: the same text on three engines, equal rows, and the rows that the recordings say.

What is expected is computed here from the records of each rank, as ``_core.records`` gives them, not from the tables.
"""

from __future__ import annotations

import json
import shutil
import statistics
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from marey import _core
from query_engines import Rows, engines, kinds, marey_command

FOLDER = Path(__file__).parents[2] / "docs" / "queries"
QUERIES = {path.stem: path.read_text() for path in sorted(FOLDER.glob("*.sql"))}
MS = 1e6
ROUNDED_MS = 5e-5
"""Sums of exact ticks against sums of whole nanoseconds: some ns a call."""
SLOPE = 1e-3
"""Totals become times by the mean speed of the clock, single sections by that between two anchors. In a run of
milliseconds those are exact to 0.02 %, and the system may let its own clock run 0.05 % faster or slower meanwhile."""


@pytest.fixture(scope="session")
def dataset(job: Path) -> Path:
    """The tables of the job."""
    marey_command("export", str(job), "--format", "parquet")
    return job / "parquet"


@pytest.fixture(scope="session")
def ranks(job: Path) -> list[dict[str, Any]]:
    """The records of each rank."""
    captures = sorted(job.glob("rank*.marey"))
    return [json.loads(_core.records(str(path))) for path in captures]


@pytest.fixture(scope="session")
def answers(dataset: Path, spark: Any) -> dict[str, dict[str, Rows]]:
    """Rows by query, then by engine."""
    asked = engines(dataset, spark)
    return {name: {engine: ask(text) for engine, ask in asked.items()} for name, text in QUERIES.items()}


def assert_equal(found: Rows, expected: Rows, absolute: float = 0.0) -> None:
    """Equal rows in the same order; numbers with a fraction within rounding, and ``absolute``."""
    assert [list(row) for row in found] == [list(row) for row in expected]
    for mine, other in zip(found, expected, strict=True):
        for column, value in other.items():
            close = pytest.approx(value, rel=1e-9, abs=absolute) if isinstance(value, float) else value
            assert mine[column] == close, (column, mine, other)


def durations(rank: dict[str, Any], name: str) -> list[int]:
    return [section["duration_ns"] for section in rank["sections"] if section["name"] == name]


def starts(rank: dict[str, Any], name: str) -> list[int]:
    return [section["start_ns"] for section in rank["sections"] if section["name"] == name]


def test_every_query_has_a_row_in_the_list_and_says_its_question() -> None:
    listed = (FOLDER / "README.md").read_text()
    assert len(QUERIES) >= 10
    for name, text in QUERIES.items():
        question = text.splitlines()[0].removeprefix("-- ").partition("?")[0]
        assert f"[`{name}.sql`]({name}.sql) | " in listed
        assert question.split()[0] in ("Where", "Which", "How", "What"), name


@pytest.mark.parametrize("name", QUERIES)
def test_three_engines_give_equal_rows(answers: dict[str, dict[str, Rows]], name: str) -> None:
    by_engine = answers[name]
    assert by_engine["DuckDB"], "a question without an answer compares nothing"
    assert_equal(by_engine["DataFusion"], by_engine["DuckDB"])
    assert_equal(by_engine["Sail"], by_engine["DuckDB"])


def test_all_engines_give_the_same_types_to_the_columns(dataset: Path, spark: Any) -> None:
    names = {"bigint": "int64", "double": "double", "string": "string", "boolean": "bool"}
    for kind, folder in kinds(dataset).items():
        files = sorted(folder.rglob("*.parquet"))
        schemas = [pyarrow.parquet.ParquetFile(file).schema_arrow for file in files]
        assert all(schema.equals(schemas[0]) for schema in schemas), kind
        own = {field.name: str(field.type) for field in schemas[0]}
        in_spark = dict(spark.read.parquet(str(folder)).dtypes)
        del in_spark["rank"]
        assert {name: names[kind_of] for name, kind_of in in_spark.items()} == own, kind


def test_time_by_section(answers: dict[str, dict[str, Rows]], ranks: list[dict[str, Any]]) -> None:
    found = {row["name"]: row for row in answers["time_by_section"]["DuckDB"]}
    names = {"block_computation", "denoising_step", "attention", "decode / <b>"}
    assert set(found) == names
    total = {name: sum(sum(durations(rank, name)) for rank in ranks) / MS for name in names}
    # 2 blocks with 4, 4 and 5 steps.
    assert [found[name]["calls"] for name in ("block_computation", "denoising_step")] == [6, 26]
    for name, row in found.items():
        assert row["total_ms"] == pytest.approx(total[name], rel=SLOPE, abs=ROUNDED_MS)
        slowest = max(max(durations(rank, name)) for rank in ranks) / MS
        assert row["slowest_ms"] == pytest.approx(slowest, rel=SLOPE, abs=ROUNDED_MS)
    own = total["denoising_step"] - total["attention"]
    assert found["denoising_step"]["self_ms"] == pytest.approx(own, abs=SLOPE * total["denoising_step"] + ROUNDED_MS)


def test_slowest_rank_by_section(answers: dict[str, dict[str, Rows]], ranks: list[dict[str, Any]]) -> None:
    for row in answers["slowest_rank_by_section"]["DuckDB"]:
        totals = [sum(durations(rank, row["name"])) for rank in ranks]
        assert row["ranks"] == 3
        assert totals[row["rank"]] == pytest.approx(max(totals), rel=SLOPE)
        assert row["total_ms"] == pytest.approx(max(totals) / MS, rel=SLOPE, abs=ROUNDED_MS)
        assert row["fastest_ms"] == pytest.approx(min(totals) / MS, rel=SLOPE, abs=ROUNDED_MS)


def test_a_section_within_one_of_its_name_adds_no_time_and_one_rank_is_not_compared(
    dataset: Path, spark: Any, tmp_path: Path
) -> None:
    """Of totals that are written here.

    ::

        ms        0    10   20        60        90   100        ms   0         60
        rank 0    a ──────────────────────────────────┤        rank 1   a ─────┤
                       b ──────────────────────┤                        aa ─┤ 45
                            a ────────┤
                  turn ───────────────────┤ 70
                    turn ─────────────┤ 55, a section of the same name
    """
    copy = tmp_path / "tables"
    shutil.copytree(dataset, copy)
    totals = copy / "kind=totals"
    schema = pyarrow.parquet.ParquetFile(next(totals.rglob("*.parquet"))).schema_arrow
    shutil.rmtree(totals)

    def call(node: int, path: str, ms: int, self_ms: int, is_iteration: bool = False) -> dict[str, Any]:
        *above, name = path.split(" / ")
        figures = dict.fromkeys(("total_ns", "min_ns", "max_ns"), ms * 1_000_000)
        place = {"node": node, "path": path, "name": name, "depth": len(above), "is_iteration": is_iteration}
        return {"calls": 1, "errors": 0, "self_ns": self_ms * 1_000_000, "threads": 1} | place | figures

    first = [call(0, "a", 100, 20), call(1, "a / b", 80, 40), call(2, "a / b / a", 40, 40)]
    first += [call(3, "turn", 70, 15, is_iteration=True), call(4, "turn / turn", 55, 55)]
    second = [call(0, "a", 60, 60), call(1, "aa", 45, 45)]
    for rank, rows in enumerate((first, second)):
        place = totals / f"rank={rank}"
        place.mkdir(parents=True)
        for row in rows:
            row["process"] = f"p{rank}"
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema), place / "part.parquet")
    time = [
        {"name": "a", "calls": 3, "total_ms": 160.0, "self_ms": 120.0, "slowest_ms": 100.0},
        {"name": "b", "calls": 1, "total_ms": 80.0, "self_ms": 40.0, "slowest_ms": 80.0},
        {"name": "turn", "calls": 1, "total_ms": 55.0, "self_ms": 55.0, "slowest_ms": 55.0},
        {"name": "aa", "calls": 1, "total_ms": 45.0, "self_ms": 45.0, "slowest_ms": 45.0},
    ]
    slowest = [
        {"name": "a", "ranks": 2, "rank": 0, "total_ms": 100.0, "fastest_ms": 60.0, "ratio": 100 / 60},
        {"name": "b", "ranks": 1, "rank": 0, "total_ms": 80.0, "fastest_ms": 80.0, "ratio": None},
        {"name": "turn", "ranks": 1, "rank": 0, "total_ms": 55.0, "fastest_ms": 55.0, "ratio": None},
        {"name": "aa", "ranks": 1, "rank": 1, "total_ms": 45.0, "fastest_ms": 45.0, "ratio": None},
    ]
    for ask in engines(copy, spark).values():
        assert_equal(ask(QUERIES["time_by_section"]), time)
        assert_equal(ask(QUERIES["slowest_rank_by_section"]), slowest)


def test_steps_over_ranks(answers: dict[str, dict[str, Rows]], ranks: list[dict[str, Any]]) -> None:
    each = [durations(rank, "denoising_step") for rank in ranks]
    expected = []
    for turn in range(10):
        of_turn = [steps[turn] for steps in each if turn < len(steps)]
        expected.append(
            {
                "turn": turn,
                "ranks": len(of_turn),
                "min_ms": min(of_turn) / MS,
                "median_ms": float(statistics.median(of_turn)) / MS,
                "max_ms": max(of_turn) / MS,
                "spread_ms": (max(of_turn) - min(of_turn)) / MS,
            }
        )
    assert [row["ranks"] for row in expected] == [3] * 8 + [1] * 2
    assert_equal(answers["steps_over_ranks"]["DuckDB"], expected)


def test_a_rank_of_two_processes_is_one_rank(dataset: Path, spark: Any, tmp_path: Path) -> None:
    """Rank 1 was started again, with the same steps; without a rank nobody is counted."""
    copy = tmp_path / "tables"
    shutil.copytree(dataset, copy)
    for file in list((copy / "kind=steps" / "rank=1").glob("*.parquet")):
        shutil.copy(file, file.with_name(f"again-{file.name}"))
    for ask in engines(copy, spark).values():
        assert [row["ranks"] for row in ask(QUERIES["steps_over_ranks"])] == [3] * 8 + [1] * 2


def test_slowest_steps(answers: dict[str, dict[str, Rows]], ranks: list[dict[str, Any]]) -> None:
    steady = sorted((ns for rank in ranks for ns in durations(rank, "denoising_step")[1:]), reverse=True)
    found = answers["slowest_steps"]["DuckDB"]
    assert [row["duration_ms"] for row in found] == pytest.approx([ns / MS for ns in steady[:10]])
    for row in found:
        own = durations(ranks[row["rank"]], "denoising_step")
        assert row["duration_ms"] == pytest.approx(own[row["turn"]] / MS)
        assert row["step"] == row["turn"] % (len(own) // 2)


def test_stage_share(answers: dict[str, dict[str, Rows]], ranks: list[dict[str, Any]], job: Path) -> None:
    found = answers["stage_share"]["DuckDB"]
    assert {(row["rank"], row["name"]) for row in found} == {
        (rank, name) for rank in range(3) for name in ("block_computation", "decode / <b>")
    }
    marey_command("report", str(job), "--format", "all")
    walls = {process["rank"]: process["wall"] for process in json.loads((job / "run.json").read_text())["processes"]}
    for row in found:
        total = sum(durations(ranks[row["rank"]], row["name"])) / MS
        assert row["total_ms"] == pytest.approx(total, rel=SLOPE, abs=ROUNDED_MS)
        assert row["share"] == pytest.approx(total / 1e3 / walls[row["rank"]], rel=0.02)


def test_warm_up(answers: dict[str, dict[str, Rows]], ranks: list[dict[str, Any]]) -> None:
    expected = []
    for place, rank in enumerate(ranks):
        first, *steady = durations(rank, "denoising_step")
        mean = statistics.fmean(steady)
        expected.append(
            {
                "rank": place,
                "warm_up_ms": first / MS,
                "steady_steps": len(steady),
                "steady_ms": mean / MS,
                "ratio": first / mean,
            }
        )
    found = sorted(answers["warm_up"]["DuckDB"], key=lambda row: row["rank"])
    assert_equal(found, expected)


def test_memory_peak(answers: dict[str, dict[str, Rows]], job: Path) -> None:
    readings = [json.loads((job / f"memory-{rank}.json").read_text()) for rank in range(3)]
    found = {row["label"]: row for row in answers["memory_peak"]["DuckDB"]}
    assert set(found) == {"after blocks", "end"}
    for place, label in enumerate(("after blocks", "end")):
        of_label = [rank[place]["allocated_mb"] for rank in readings]
        row = found[label]
        assert (row["source"], row["device"]) == ("process", None)
        assert row["allocated_mib"] == pytest.approx(max(of_label), abs=0.01)
        assert of_label[row["rank"]] == pytest.approx(max(of_label), abs=0.01)


def test_cache_hits(answers: dict[str, dict[str, Rows]]) -> None:
    # Of steps 0 to 3 steps 1 and 3 miss and step 2 hits; of steps 0 to 4 step 4 hits, too; two blocks.
    expected = [
        {"rank": 0, "cache": "teacache", "hits": 2, "misses": 4, "hit_rate": 1 / 3},
        {"rank": 1, "cache": "teacache", "hits": 2, "misses": 4, "hit_rate": 1 / 3},
        {"rank": 2, "cache": "teacache", "hits": 4, "misses": 4, "hit_rate": 0.5},
    ]
    found = sorted(answers["cache_hits"]["DuckDB"], key=lambda row: row["rank"])
    assert_equal(found, expected)


def test_failed_sections(answers: dict[str, dict[str, Rows]], ranks: list[dict[str, Any]]) -> None:
    expected = []
    for place, rank in enumerate(ranks):
        (failed,) = (section for section in rank["sections"] if section["is_failed"])
        end = (failed["start_ns"] + failed["duration_ns"]) / MS
        expected.append(
            {
                "rank": place,
                "path": "decode / <b>",
                "at_ms": end,
                "duration_ms": failed["duration_ns"] / MS,
                "step": None,
            }
        )
    found = sorted(answers["failed_sections"]["DuckDB"], key=lambda row: row["rank"])
    assert_equal(found, expected)


def test_between_blocks(answers: dict[str, dict[str, Rows]], ranks: list[dict[str, Any]]) -> None:
    expected = []
    for place, rank in enumerate(ranks):
        (begin, second), (took, took_second) = (of(rank, "block_computation") for of in (starts, durations))
        end = begin + took
        expected.append(
            {
                "rank": place,
                "generation": 0,
                "block": 1,
                "between_ms": (second + took_second - end) / MS,
                "idle_ms": (second - end) / MS,
            }
        )
    found = sorted(answers["between_blocks"]["DuckDB"], key=lambda row: row["rank"])
    assert_equal(found, expected)


def test_gpu_utilization(dataset: Path, spark: Any, tmp_path: Path) -> None:
    """Of samples that are written here: this machine may have no GPU.

    ::

        gpu.utilization   one reading of 0.5, then three of 0.9 on average: (0.5 + 2.7) / 4 = 0.8
        host.cpu.busy     10 s at 0 s, 13 s at 2 s: 1.5 processors
    """
    copy = tmp_path / "tables"
    shutil.copytree(dataset, copy)
    samples = copy / "kind=samples"
    written = next(samples.rglob("*.parquet"))
    schema = pyarrow.parquet.ParquetFile(written).schema_arrow
    shutil.rmtree(samples)

    def point(name: str, at: int, readings: int, value: float) -> dict[str, Any]:
        subject = "GPU-1" if name.startswith("gpu") else None
        figures = dict.fromkeys(("min", "mean", "max", "last"), value)
        moments = {"first_ns": at, "last_ns": at, "first_unix_ns": None}
        return {"process": "a", "name": name, "subject": subject, "readings": readings} | figures | moments

    rows = [
        point("gpu.utilization", 0, 1, 0.5),
        point("gpu.utilization", 1, 3, 0.9),
        point("host.cpu.busy", 0, 1, 10.0),
        point("host.cpu.busy", 2_000_000_000, 1, 13.0),
        point("gpu.power", 0, 1, 300.0),
    ]
    place = samples / "rank=-1"
    place.mkdir(parents=True)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema), place / "part.parquet")
    expected = [
        {"rank": None, "what": "gpu", "subject": "GPU-1", "busy": 0.8},
        {"rank": None, "what": "processors", "subject": None, "busy": 1.5},
    ]
    for ask in engines(copy, spark).values():
        assert_equal(ask(QUERIES["gpu_utilization"]), expected)


def test_a_process_without_a_rank_has_none_in_every_engine(single: Path, spark: Any, tmp_path: Path) -> None:
    dataset = tmp_path / "tables"
    marey_command("export", str(single), "--format", "parquet", "--output", str(dataset))
    assert [path.name for path in (dataset / "kind=sections").iterdir()] == ["rank=-1"]
    for ask in engines(dataset, spark).values():
        assert ask("SELECT DISTINCT rank FROM sections") == [{"rank": None}]
        assert ask("SELECT world_size, status FROM processes") == [{"world_size": None, "status": "finished"}]
        assert ask(QUERIES["slowest_rank_by_section"]) == []
        assert len(ask(QUERIES["stage_share"])) == 2


def test_only_a_dataset_is_replaced_and_as_a_whole(single: Path, tmp_path: Path) -> None:
    dataset = tmp_path / "tables"
    export = ("export", str(single), "--format", "parquet", "--output", str(dataset))
    marey_command(*export)
    stale = dataset / "kind=sections" / "rank=7"
    stale.mkdir()
    marey_command(*export)
    assert not stale.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["tables"]
    (dataset / "_marey.json").unlink()
    with pytest.raises(AssertionError, match="no dataset of Marey"):
        marey_command(*export)
    assert (dataset / "kind=sections").is_dir()
