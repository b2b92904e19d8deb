"""What the process itself used: memory, bytes that calls moved, processor time; from its own readings of the kernel."""

from __future__ import annotations

from bounds import Bounds
from figures import Figures, between, exact
from logbook import Call, Log

MIB = 1 << 20
# Kernels count resident pages for each processor in portions, and take them together now and then.
RESIDENT_ERROR_BYTES = MIB


def of_process(log: Log) -> Figures:
    """Peak, reads, writes and processor time between the start and the end of the recording."""
    if not log.has_stopped or not log.is_sampled:
        return {}
    (began, begun), (ending, ended) = log.lines["start"][0]["usage"], log.lines["stop"][0]["usage"]
    said: Figures = {}
    peak = Bounds(ending["peak_bytes"], ended["peak_bytes"])
    said["process.peak_bytes"] = between(peak, slack=RESIDENT_ERROR_BYTES)
    for name in ("read_bytes", "written_bytes"):
        inner = ending[name] - begun[name]
        outer = ended[name] - began[name]
        said[f"process.{name}"] = between(Bounds(inner, outer), slack=64 << 10)
    inner = sum(ending[name] - begun[name] for name in ("user_s", "system_s"))
    outer = sum(ended[name] - began[name] for name in ("user_s", "system_s"))
    # The first and the last reading are not at the ends of the recording to the millisecond.
    said["process.cpu_s"] = between(Bounds(inner, outer), slack=0.005)
    return said


# What each of the player's readings is called, and by how much one may be off: the kernel adds processor time up at
# switches and ticks, and resident pages in portions.
USED = (("cpu_s", 2e-3), ("thread_cpu_s", 2e-3), ("read_bytes", 0), ("written_bytes", 0), ("growth_bytes", MIB))


def of_outer_sections(log: Log) -> Figures:
    """What the process used while each outer section was open, by the program's own readings at both ends."""
    said: Figures = {}
    for path in dict.fromkeys(call.path for call in log.calls if call.used and call.thread == "MainThread"):
        calls = [call for call in log.calls if call.path == path]
        if any("~" in mark for mark in path) or not all(call.used for call in calls):
            continue
        said[f"used[{' > '.join(path)}].calls"] = exact(len(calls))
        # Beside a section of another thread nobody knows whose it was; sections further down are not read, but may be.
        is_beside = any(_are_at_once(call, other) for call in calls for other in log.calls)
        for column, (name, error) in enumerate(USED):
            if is_beside and name != "thread_cpu_s":
                continue
            inner = [call.used[2][column] - call.used[1][column] for call in calls]
            outer = [call.used[3][column] - call.used[0][column] for call in calls]
            ends = Bounds(sum(map(min, inner, outer)), sum(map(max, inner, outer)))
            said[f"used[{' > '.join(path)}].{name}"] = between(ends, slack=error * len(calls))
    return said


def _are_at_once(call: Call, other: Call) -> bool:
    """In two threads at the same moment, perhaps, and neither is around the other."""
    length = min(len(call.path), len(other.path))
    is_around = call.path[:length] == other.path[:length] and len(call.path) != len(other.path)
    is_apart = other.span.end.high <= call.span.start.low or call.span.end.high <= other.span.start.low
    return other.thread != call.thread and not is_around and not is_apart


def of_sessions(log: Log) -> Figures:
    """The same of each session that ended, of all threads together."""
    said: Figures = {}
    for session in log.sessions.values():
        for column, (name, error) in enumerate(USED):
            if session.used and name != "thread_cpu_s":
                inner, outer = (session.used[to][column] - session.used[of][column] for of, to in ((1, 2), (0, 3)))
                ends = Bounds(min(inner, outer), max(inner, outer))
                said[f"session[{session.name}].used.{name}"] = between(ends, slack=error)
    return said


def of_readings(log: Log) -> Figures:
    """Labelled readings, each between two of the program's own."""
    said: Figures = {}
    after = [line["after"] for line in log.lines.get("resident", [])]
    for place, line in enumerate(log.of("snapshot")):
        read = sorted([line["before"], after[place]])
        said[f"reading[{line['label']}]"] = between(Bounds(read[0], read[1]), slack=RESIDENT_ERROR_BYTES)
    return said
