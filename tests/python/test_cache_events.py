"""`CacheEventRecorder`: rates over lookups, positions, and a timeline that cannot be broken."""

from __future__ import annotations

import pytest

import marey
from interpreter import Interpreter, read_capture


def test_hit_rate_is_hits_over_lookups(interpreter: Interpreter) -> None:
    def program():
        import marey

        marey.start("out")
        recorder = marey.CacheEventRecorder()
        recorder.start_chunk(start_frame=0, steps=4, label="first")
        for step in range(4):
            recorder.mark_step(step)
            if step % 4:
                recorder.record_hit("teacache", score=0.5, threshold=0.9, held_bytes=1 << 20)
            else:
                recorder.record_miss("teacache")
        recorder.record_eviction("teacache")
        recorder.finalize_chunk(end_frame=9)
        recorder.record_event("first_block_cache", {"ratio": 0.25})
        return [(event.kind, event.step_index, event.chunk_id) for event in recorder.events()], recorder.has_events()

    events, has_events = interpreter.result(program)
    assert has_events
    assert events == [
        ["miss", 0, 0],
        ["hit", 1, 0],
        ["hit", 2, 0],
        ["hit", 3, 0],
        ["eviction", 3, 0],
        ["hit", None, None],
    ]
    caches = read_capture(interpreter.folder / "out")["cache_analysis"]["caches"]
    assert caches["teacache"] == {
        "lookups": 4,
        "hits": 3,
        "misses": 1,
        "evictions": 1,
        "hit_rate": 0.75,
        "peak_held_bytes": 1 << 20,
    }
    assert caches["first_block_cache"]["lookups"] == 1


def test_timeline_names_cache_outcome_and_details() -> None:
    recorder = marey.CacheEventRecorder()
    assert not recorder.has_events()
    recorder.start_chunk(steps=2)
    recorder.mark_step(1)
    recorder.record_event("similarity_cache", {"block": "dual:3"}, score=0.987, threshold=0.985)
    recorder.record_miss("similarity_cache", score=0.5)
    rows = [line for line in recorder.to_markdown().splitlines() if line.startswith("|")]
    assert len(rows) == 4
    assert [row.count("|") for row in rows] == [7] * 4
    assert "similarity\\_cache" in rows[2], "an underscore would be markup"
    assert "hit" in rows[2]
    assert "0.987" in rows[2]
    assert "dual:3" in rows[2]
    assert "miss" in rows[3]


@pytest.mark.parametrize(
    "name", ["a | b", "a\nb", "<script>alert(1)</script>", "\x1b[31m", "[x](javascript:y)", "`x`", "\\|"]
)
def test_no_name_breaks_out_of_the_table(name: str) -> None:
    recorder = marey.CacheEventRecorder()
    recorder.record_hit(name, meta={name: name})
    lines = recorder.to_markdown().splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert len(rows) == 3
    assert rows[2].replace("\\\\", "").replace("\\|", "").count("|") == 7
    assert "<script" not in rows[2]
    assert "\x1b" not in rows[2]
    assert "[x](" not in rows[2].replace("\\[", "").replace("\\]", "")


def test_cancelled_chunk_is_dropped_and_finished_ones_stay() -> None:
    recorder = marey.CacheEventRecorder()
    recorder.start_chunk()
    recorder.record_hit("a")
    recorder.finalize_chunk()
    recorder.cancel_chunk()
    assert len(recorder.events()) == 1, "no chunk was running"
    recorder.start_chunk()
    recorder.record_hit("b")
    recorder.cancel_chunk()
    assert [event.cache_type for event in recorder.events()] == ["a"]
    assert "| b |" not in recorder.to_markdown()
    recorder.reset()
    assert not recorder.has_events()
    assert recorder.events() == []


def test_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'hit', 'miss', 'eviction' or 'lookup'"):
        marey.CacheEventRecorder().record_event("a", kind="glance")


@pytest.mark.parametrize("value", ["text", -1, 1 << 70, float("nan"), object(), [1]])
def test_figure_that_is_no_number_is_left_out(value: object) -> None:
    recorder = marey.CacheEventRecorder()
    recorder.record_hit("a", score=value, threshold=value, held_bytes=value, step=value, block=value)
    assert recorder.has_events()


@pytest.mark.parametrize("meta", [None, {}, {3: object()}, [("a", 1)], "text", 3, [1]])
def test_any_details_are_taken(meta: object) -> None:
    recorder = marey.CacheEventRecorder()
    recorder.record_event("a", meta)  # type: ignore[arg-type]
    (event,) = recorder.events()
    assert isinstance(event.meta, dict)
    assert repr(event).startswith("CacheEvent('a', 'hit', None, None, {")


def test_events_beyond_the_cap_are_in_the_capture_only() -> None:
    recorder = marey.CacheEventRecorder()
    for _ in range(100_100):
        recorder.record_hit("a")
    assert len(recorder.events()) == 100_000
