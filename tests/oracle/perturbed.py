"""Documents with one number changed, to see that the oracle would notice."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any

Place = tuple[str | int, ...]

# Parts of the report that a program's log says something of.
SEEN = re.compile(
    r"(timing_stats|sections|iteration_profilers|stage_analysis|diffusion_analysis|block_analysis|streaming_analysis"
    r"|cache_analysis|model_analysis|layer_analysis|memory_events|counters|section_resources|events|sessions)\."
    r"|under_no_section\.seconds|run\.wall|memory_snapshots\.\*\.allocated_mb|cpu_metrics\.process\.(user_s|resident_mb\.peak)"
    r"|cpu_metrics\.disk\.calls_(read|written)_mb\.total"
)
# Of these the log knows nothing, or they say with other words what is looked at elsewhere.
UNSEEN = re.compile(
    r".*(timestamp|session_info\..*|summary\..*|cpu_metrics\..*|recommendations\..*|bottlenecks\..*|timeline\..*|series\..*"
    r"|delivery\..*|block_index|total_parameters_readable|durations\.\*|time_ms|sections_missing|guidance\..*"
    r"|step_caching\.(cached|computed)\..*|frame_rates\.\*\.count|steps\.\*\.(guidance_scale|computation_time_ms)"
    r"|blocks\.\*\..*|(warm_up|steady|between)\.(count|std_dev_ms|avg_ms|p95_ms|p99_ms)|miss_rate|.*_left_out|not_recorded"
    r"|buffer_occupancy\.(min|last)|block_analysis\.(warm_up|steady)\..*|calls|largest_growth_bytes|thread\.(read|written)_bytes"
    r"|peak_at|timed_call_count|gpu_\w+|stage_analysis\.(total_time|covered_time)|open\.so_far|steps_not_recorded|blocks_not_recorded)"
)
# Keys under which everything is named by the user: a name is no kind of figure.
NAMED = ("timing_stats", "iteration_profilers", "stages", "caches", "models", "layers", "counters", "tags", "data")
# What ties rows together is no figure.
TIES = ("id", "parent", "section", "depth", "loop")
# So many of the largest numbers of a kind are tried: the log does not say something of all.
TRIED = 12
# Added to what is measured: seconds, milliseconds or MiB that no program here comes to. How much less would be noticed
# is up to the machine: the log allows for as long as the program did not run when it read its clock.
FAR_OFF = 1e6


# The same of the first screen.
SEEN_ON_SCREEN = re.compile(
    r"wall_s|account\.(total_s|rows\.\*\.\w+)|speed\.\w+|work\.(?!most_at_once)\w+|memory\.\*\.peak_bytes"
)
# Tables of a page of which the log knows every column with numbers but some.
TABLES = re.compile(
    r"(sections|section_names|loops|counters|caches|layers|memory_events|section_resources|step_times|sessions)\."
    r"|memory_readings\.allocated_bytes"
)
UNSEEN_COLUMNS = re.compile(r"section_resources\.n_calls|sessions\.(n_frames|frames_per_second)")

Places = dict[str, list[Place]]


def of_report(report: Any) -> Places:
    """Where each kind of figure stands that the oracle knows, the largest numbers first."""
    return _by_kind(report, lambda kind: SEEN.match(kind) and not UNSEEN.fullmatch(kind))


def of_screen(brief: Any) -> Places:
    return _by_kind(brief, SEEN_ON_SCREEN.fullmatch)


def of_page(page: Any) -> Places:
    """Cells with numbers of each column."""
    found: Places = {}

    def collect(blocks: list[Any], place: Place) -> None:
        for at, block in enumerate(blocks):
            content = (*place, at, "content")
            if block["kind"] == "aside":
                collect(block["content"][1], (*content, 1))
            elif block["kind"] == "table":
                table = block["content"]
                for row, cells in enumerate(table["rows"]):
                    for column, cell in enumerate(cells):
                        kind = f"{table['key']}.{table['columns'][column]['key']}"
                        is_number = isinstance(cell.get("value"), (int, float))
                        if is_number and TABLES.match(kind) and not UNSEEN_COLUMNS.fullmatch(kind):
                            found.setdefault(kind, []).append((*content, "rows", row, column, "value"))

    for at, tab in enumerate(page["contents"]["tabs"]):
        collect(tab["blocks"], ("contents", "tabs", at, "blocks"))
    return _largest(page, found)


def changed(document: Any, place: Place) -> Any:
    """The document with one number off."""
    other = copy.deepcopy(document)
    _at(other, place[:-1])[place[-1]] = off(_at(document, place))
    return other


def _by_kind(document: Any, is_known: Callable[[str], Any]) -> Places:
    found: Places = {}
    for place, _ in _numbers(document, ()):
        keys = ["*" if isinstance(key, int) or place[at - 1] in NAMED else key for at, key in enumerate(place)]
        if is_known(kind := ".".join(keys)):
            found.setdefault(kind, []).append(place)
    return _largest(document, found)


def _largest(document: Any, found: Places) -> Places:
    return {
        kind: sorted(places, key=lambda place: -abs(_at(document, place)))[:TRIED] for kind, places in found.items()
    }


def off(value: float) -> float:
    """A count by 1, what is measured by far."""
    is_count = isinstance(value, int) and abs(value) < 1 << 16
    return value + (1 if is_count else 1000 * abs(value) + FAR_OFF)


def _numbers(value: Any, place: Place) -> Iterator[tuple[Place, float]]:
    if isinstance(value, bool):
        return
    if isinstance(value, (int, float)):
        if place[-1] not in TIES:
            yield place, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, (*place, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _numbers(inner, (*place, index))


def _at(value: Any, place: Place) -> Any:
    for key in place:
        value = value[key]
    return value
