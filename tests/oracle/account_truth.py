"""What held a run up, moment by moment, from the program's own stamps: docs/explanation/account.md."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import bounds
import section_truth
from bounds import Bounds
from logbook import Call, Log, plain

Path = tuple[str, ...]
# So many ways to cut the tree into rows are tried.
MOST_TRIED = 20_000
OTHER = "other"
# So many rows there are at most, and what is at least such a share of the time is one.
MOST_ROWS, ROW = 7, 0.01


@dataclass(frozen=True)
class Account:
    """A time, and what of it was each call path's own; sums of these are off by no more than ``slack`` besides."""

    whole: Bounds
    own: dict[Path, Bounds]
    slack: float

    def held(self, path: Path) -> Bounds:
        """With all that is below it."""
        return bounds.total(own for other, own in self.own.items() if other[: len(path)] == path)

    def below(self, path: Path) -> list[Path]:
        """Call paths right below another, the longest first."""
        found = {other[: len(path) + 1] for other in self.own if other[: len(path)] == path and len(other) > len(path)}
        return sorted(found, key=lambda other: -self.held(other).high)


def of_run(log: Log, main: str) -> Account:
    """Of the whole run; ``main`` is its main thread."""
    return _account(log.wall, log.calls, main)


def of_requests(log: Log, main: str) -> Account:
    """Of the outermost sessions, added up."""
    sessions = [session for session in log.sessions.values() if session.parent is None]
    each = []
    for session in sessions:
        calls = [call for call in log.calls if log.is_in(call.session, session.name)]
        each.append(_account(session.span.length, calls, main))
    own: dict[Path, Bounds] = {}
    for account in each:
        for path, time in account.own.items():
            own[path] = own.get(path, bounds.ZERO) + time
    whole = bounds.total(account.whole for account in each)
    return Account(whole, own, sum(account.slack for account in each))


def _account(whole: Bounds, calls: Sequence[Call], main: str) -> Account:
    is_one_flow = len({call.flow for call in calls}) < 2 and not any(
        "~" in mark for call in calls for mark in call.path
    )
    if is_one_flow:
        paths = {call.path for call in calls}
        return Account(whole, {path: section_truth.self_time(path, calls) for path in paths}, 0)
    widths = [end.high - end.low for call in calls for end in (call.span.start, call.span.end)]
    own = {path: bounds.exactly(seconds) for path, seconds in _by_moments(calls, main).items()}
    return Account(whole, own, sum(widths) / 2)


def _by_moments(calls: Sequence[Call], main: str) -> dict[Path, float]:
    """Own time of each call path, were each stamp in the middle of where it may be."""

    def middle(moment: Bounds) -> float:
        return (moment.low + moment.high) / 2

    spans = [(middle(call.span.start), middle(call.span.end), call) for call in calls]
    moments = sorted({moment for start, end, _ in spans for moment in (start, end)})
    own: dict[Path, float] = collections.defaultdict(float)
    for since, until in itertools.pairwise(moments):
        innermost: dict[tuple[str, str | None], Path] = {}
        for start, end, call in spans:
            if start <= since and until <= end and len(call.path) > len(innermost.get(call.flow, ())):
                innermost[call.flow] = call.path
        holders = list(_holders(innermost, main))
        for path in holders:
            own[path] += (until - since) / len(holders)
    return own


def _holders(innermost: dict[tuple[str, str | None], Path], main: str) -> Iterable[Path]:
    """The section of the main thread, or what runs for it; where it is in none, its tasks, and then other threads."""
    here = innermost.get((main, None))
    tasks = [path for (thread, task), path in innermost.items() if thread == main and task is not None]
    elsewhere = [path for (thread, _), path in innermost.items() if thread != main]
    found = [path for path in tasks if here is None or _runs_for(path, here)]
    if here is None and not found:
        found = elsewhere
    else:
        found += [
            path for path in elsewhere if any(_runs_for(path, other) for other in [*tasks, *filter(None, [here])])
        ]
    # Who waits for another of them holds nothing up.
    found = [path for path in found if not any(_runs_for(other, path) for other in found)]
    return found or filter(None, [here])


def _runs_for(path: Path, other: Path) -> bool:
    """It was opened below the other, in a task or thread of its own: the other waits for it."""
    return path[: len(other)] == other and any(mark.startswith("~") for mark in path[len(other) :])


def rows(account: Account, shown: dict[str, float], rounding: float) -> dict[str, list[Path]]:
    """Which call paths each row is: some cut through the tree, the parts of which are as long as what is shown.

    Which cut it is, is a matter of taste; that it is one makes each moment count once.
    """
    slack = account.slack + rounding
    tried = itertools.count()
    is_full = len(shown.keys() - {OTHER}) >= MOST_ROWS
    gains = _gains(account)

    def cuts(
        paths: list[Path], left: dict[str, Bounds], found: dict[str, list[Path]]
    ) -> Iterator[dict[str, list[Path]]]:
        # More than all that is to come cannot be missing.
        to_come = {part: sum(gains[path].get(part, 0) for path in paths) for part in left}
        if next(tried) > MOST_TRIED or any(left[part].low > to_come[part] + slack for part in left):
            return
        if not paths:
            yield found
            return
        path, *rest = paths
        name, below = plain(path[-1]), account.below(path)
        parts = [(name, account.held(path), [])]
        # Into what holds nothing that is shown nobody has to look.
        if below and gains[path].keys() & left.keys():
            parts.append((f"{name}, {OTHER}", account.own.get(path, bounds.ZERO), below))
        for part, time, more in parts:
            if part in left:
                after = left | {part: left[part] - time}
                if after[part].high >= -slack:
                    yield from cuts([*more, *rest], after, found | {part: [*found.get(part, []), path]})
            elif is_full or time.low <= ROW * account.whole.high + slack:
                yield from cuts([*more, *rest], left, found)

    amounts = {name: bounds.exactly(seconds) for name, seconds in shown.items() if name != OTHER}
    return next(cuts(account.below(()), amounts, {}), {})


def _gains(account: Account) -> dict[Path, dict[str, float]]:
    """By call path the most that it and what is below it can be of rows."""
    every = {path[:length] for path in account.own for length in range(1, len(path) + 1)}
    gains: dict[Path, dict[str, float]] = {path: collections.defaultdict(float) for path in every}
    for path in every:
        own, held = account.own.get(path, bounds.ZERO).high, account.held(path).high
        for length in range(1, len(path) + 1):
            gains[path[:length]][plain(path[-1])] += held
            gains[path[:length]][f"{plain(path[-1])}, {OTHER}"] += own
    return gains
