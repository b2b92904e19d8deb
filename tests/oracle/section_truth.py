"""The figures of sections, loops and stages, from the program's own stamps (docs/explanation/time.md, *Sections*)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import bounds
from bounds import Bounds, covered
from figures import Figures, exact, timed
from logbook import Call, Log

NONE_WITHOUT_CALLS = (
    "mean",
    "min",
    "max",
    "median",
    "p50",
    "p95",
    "p99",
    "std_dev",
    "first",
    "last",
    "rest_mean",
    "percentiles_are_exact",
)


def of_calls(calls: Sequence[Call]) -> Figures:
    """Figures of completed calls by the names that the JSON report gives them."""
    done = [call for call in calls if call.has_ended]
    durations = [call.duration for call in done]
    n = len(done)
    said: Figures = {"count": exact(n), "errors": exact(sum(call.has_failed for call in done))}
    sum_of_all = bounds.total(durations)
    said["total"] = timed(sum_of_all)
    if not done:
        return said | {key: exact(None) for key in NONE_WITHOUT_CALLS}
    first = _either([call.duration for call in done if _may_be_first(call, done)])
    last = _either([call.duration for call in done if _may_be_last(call, done)])
    # Which call of several threads came first or last may not be known: then there is none.
    unknown = (None,) if len({call.thread for call in done}) > 1 else ()
    said["mean"] = timed(sum_of_all.times(1 / n))
    said["min"] = timed(bounds.ordered(durations, 0))
    said["max"] = timed(bounds.ordered(durations, n - 1))
    said["median"] = timed(bounds.median(durations))
    said["p50"] = said["median"]
    for percent in (95, 99):
        said[f"p{percent}"] = timed(bounds.nearest_rank(durations, percent))
    deviation = bounds.deviation(durations)
    said["std_dev"] = exact(None) if deviation is None else timed(deviation)
    said["first"] = timed(first, *unknown)
    said["last"] = timed(last, *unknown)
    said["rest_mean"] = exact(None) if n < 2 else timed((sum_of_all - first).times(1 / (n - 1)), *unknown)
    said["percentiles_are_exact"] = exact(True)
    return said


def _either(found: list[Bounds]) -> Bounds:
    low, high = min(one.low for one in found), max(one.high for one in found)
    return Bounds(low, high)


def _may_be_first(call: Call, calls: Sequence[Call]) -> bool:
    return call.span.start.low <= min(other.span.start.high for other in calls)


def _may_be_last(call: Call, calls: Sequence[Call]) -> bool:
    return call.span.end.high >= max(other.span.end.low for other in calls)


def of_run(log: Log) -> Figures:
    """Sections by call path and by name, loops, and time under no section."""
    said: Figures = {"run.wall": timed(log.wall)}
    paths = {call.path: [c for c in log.calls if c.path == call.path] for call in log.calls}
    own = {path: self_time(path, log.calls) for path in paths}
    for path, calls in paths.items():
        key = f"path[{' > '.join(path)}]"
        said |= _under(key, of_calls(calls))
        said[f"{key}.inclusive"] = timed(bounds.total(call.duration for call in calls))
        said[f"{key}.self"] = timed(own[path])
        said[f"{key}.covered"] = timed(covered(call.span for call in calls))
        n_open = sum(not call.has_ended for call in calls)
        said[f"{key}.open"] = exact(n_open or None)
    for name, calls in _by_name(log.calls, lambda call: not call.is_turn).items():
        if any(call.has_ended for call in calls):
            said |= _under(f"name[{name}]", of_calls(calls))
            parts = [own[path] for path in {call.path for call in calls}]
            said[f"name[{name}].self"] = timed(bounds.total(parts))
            said[f"name[{name}].covered"] = timed(covered(call.span for call in calls))
    for name, calls in _by_name(log.calls, lambda call: call.is_turn).items():
        if any(call.has_ended for call in calls):
            found = of_calls(calls)
            said |= _under(f"loop[{name}]", found)
            count = sum(call.has_ended for call in calls)
            total = bounds.total(call.duration for call in calls if call.has_ended)
            said[f"loop[{name}].per_second"] = timed(bounds.exactly(count) / total)
    everything = covered(call.span for call in log.calls)
    said["under no section"] = timed(log.wall - everything)
    said["under any section"] = timed(everything)
    said |= of_stages("", log.calls)
    return said


def of_stages(prefix: str, calls: Sequence[Call]) -> Figures:
    """Sections by name as stages, of a run or of a session; turns of loops are none."""
    said: Figures = {}
    stages = _by_name(calls, lambda call: not call.is_turn)
    said[f"{prefix}stages.count"] = exact(len(stages))
    for name, found in stages.items():
        figures = of_calls([call for call in found if call.has_ended])
        key = f"{prefix}stage[{name}]"
        said |= {f"{key}.{figure}": figures[figure] for figure in ("count", "total", "mean", "min", "max")}
        paths = {call.path for call in found}
        # Of several paths of which no call has ended what they cover together is not said.
        is_said = len(paths) == 1 or any(call.has_ended for call in found)
        said[f"{key}.covered"] = timed(covered(call.span for call in found)) if is_said else exact(None)
        said[f"{key}.own"] = timed(bounds.total(own_time(path, calls) for path in paths))
    return said


def own_time(path: tuple[str, ...], among: Sequence[Call]) -> Bounds:
    """Inclusive time without that of other stages in it; turns of loops in between are no stages."""
    turns = {call.path for call in among if call.is_turn}

    def is_next_stage(call: Call) -> bool:
        below = call.path[len(path) :]
        is_attached = bool(below) and call.path[: len(path)] == path and not any(name.startswith("~") for name in below)
        between = [call.path[:length] for length in range(len(path) + 1, len(call.path))]
        return is_attached and not call.is_turn and all(outer in turns for outer in between)

    inclusive = bounds.total(call.duration for call in among if call.path == path)
    return (inclusive - bounds.total(call.duration for call in among if is_next_stage(call))).at_least(0)


def self_time(path: tuple[str, ...], calls: Sequence[Call]) -> Bounds:
    """Inclusive time without that of the call paths under it; what ran beside it is none of its time."""
    inclusive = bounds.total(call.duration for call in calls if call.path == path)
    under = [
        c for c in calls if len(c.path) == len(path) + 1 and c.path[:-1] == path and not c.path[-1].startswith("~")
    ]
    return (inclusive - bounds.total(call.duration for call in under)).at_least(0)


def of_sessions(log: Log) -> Figures:
    """Each session: when, how long, in which, and its stages."""
    said: Figures = {"sessions": exact(len(log.sessions))}
    for session in log.sessions.values():
        key = f"session[{session.name}]."
        said[f"{key}duration"] = timed(session.span.length) if session.has_ended else exact(None)
        said[f"{key}parent"] = exact(session.parent)
        said[f"{key}tags"] = exact(session.tags)
        # Since the start of the recorder, which lies between two stamps.
        said[f"{key}start"] = timed(session.span.start - log.start)
        calls = [call for call in log.calls if log.is_in(call.session, session.name)]
        said |= of_stages(key, calls)
    return said


def _by_name(calls: Sequence[Call], is_meant: Callable[[Call], bool]) -> dict[str, list[Call]]:
    found: dict[str, list[Call]] = {}
    for call in calls:
        if is_meant(call):
            found.setdefault(call.name, []).append(call)
    return found


def _under(key: str, figures: Figures) -> Figures:
    return {f"{key}.{name}": figure for name, figure in figures.items()}
