"""What the first screen has to say besides what all readers do: the rows of its account, and its rates."""

from __future__ import annotations

from typing import Any

import account_truth
import bounds
import generation_truth
import section_truth
from account_truth import OTHER, Account
from bounds import Bounds, covered
from figures import Figures, between, exact, timed
from logbook import Call, Log, Session
from resource_truth import RESIDENT_ERROR_BYTES

# Less than this of the time is no row of its own.
LEAST = 5e-4


def of(log: Log, account: dict[str, Any] | None, main: str = "MainThread") -> Figures:
    """Of a screen with this account; ``main`` is the main thread."""
    said: Figures = {name: exact(0.0) for name in ("account.left over", "account.share left over")}
    outermost = [session for session in log.sessions.values() if session.parent is None]
    said["generations"] = exact(len(outermost) or None)
    said |= _speed(log, outermost) | _peak(log)
    if account is None:
        return said
    is_of_requests = account["measure"] == "mean_request"
    n = len(outermost) if is_of_requests else 1
    found = account_truth.of_requests(log, main) if is_of_requests else account_truth.of_run(log, main)
    said["account.total"] = timed(found.whole.times(1 / n))
    for row in account["rows"]:
        percent = 100 * row["held_s"] / account["total_s"]
        said[f"row[{row['name']}].share"] = between(Bounds(percent, percent))
    return said | _rows(log, account["rows"], found, n)


def _rows(log: Log, shown: list[dict[str, Any]], account: Account, n: int) -> Figures:
    said: Figures = {}
    loose = LEAST * account.whole.high
    cut = account_truth.rows(account, {row["name"]: row["held_s"] * n for row in shown}, loose)
    left = account.whole
    for row in shown:
        name, paths = row["name"], cut.get(row["name"], [])
        is_rest = name.endswith(f", {OTHER}")
        held = bounds.total(account.own.get(path, bounds.ZERO) if is_rest else account.held(path) for path in paths)
        left = left - held if name != OTHER else left
        held = left if name == OTHER else held
        slack = account.slack + loose
        said[f"row[{name}].held"] = timed(Bounds(held.low - slack, held.high + slack).times(1 / n))
        calls = _counted(log, row, paths, n)
        figures = section_truth.of_calls(calls)
        said |= {f"row[{name}].{key}": figures[key] for key in ("mean", "first", "median", "p95", "min", "max")}
        said[f"row[{name}].count"] = exact(None if len(calls) % n else len(calls) // n)
        if "first_s" in row:
            said[f"row[{name}].mean"] = figures["rest_mean"]
    return said


def _counted(log: Log, row: dict[str, Any], paths: list[account_truth.Path], n: int) -> list[Call]:
    """Calls of the row itself, or the turns of the loops in it: what there are so many of as the row says."""
    ended = [call for call in log.calls if call.has_ended]
    own = [call for call in ended if call.path in paths]
    turns = [call for call in ended if call.is_turn and (call.path in paths or call.path[:-1] in paths)]
    says = row.get("steps", row.get("calls"))
    return turns if turns and len(turns) // n == says else own


def _speed(log: Log, sessions: list[Session]) -> Figures:
    steps = generation_truth.steps_of(log)
    said = {"requests.per_second": timed(bounds.exactly(len(sessions)) / log.wall)}
    said["requests.steps_per_second"] = timed(bounds.exactly(len(steps)) / log.wall)
    computed, cached = ([step for step in steps if bool(step.is_cached) == answer] for answer in (False, True))
    for kind, own in (("cached", cached), ("computed", [step for step in computed if step is not steps[0]])):
        if own:
            said[f"steps.caching.{kind}.p50"] = timed(bounds.median([step.duration for step in own]))
    if len(steps) > 1:
        said["steps.steady.per_second"] = timed(bounds.exactly(1) / bounds.median([s.duration for s in steps[1:]]))
    return said | _frames(log)


def _frames(log: Log) -> Figures:
    """Frames that were delivered or decoded, otherwise latent ones, and of how many generations they are.

    A rate of frames is by the wall time of the generations that made them, each moment once.
    """
    frames, makers = generation_truth.frames_of(log)
    if frames["pixel"] is None:
        makers = generation_truth.generations_of_work(log)
    count = frames["pixel"] or frames["latent"]
    if count is None:
        return {}
    said = {"frames": exact(count)}
    if None not in makers:
        wall = covered(log.sessions[name].span for name in makers if name is not None)
        said["fps"] = timed(bounds.exactly(count) / wall)
    return said


def _peak(log: Log) -> Figures:
    """The most that a process had, as each read itself right before it ended and right after."""
    stops = log.lines.get("stop", [])
    if not stops or len(stops) < len(log.lines["start"]):
        return {}
    low, high = (max(stop["usage"][at]["peak_bytes"] for stop in stops) for at in (0, 1))
    return {"peak_bytes": between(Bounds(low, high), slack=RESIDENT_ERROR_BYTES)}
