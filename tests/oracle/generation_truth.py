"""Figures of steps, blocks, caches, deliveries, models from what a program told (docs/explanation/generations.md)."""

from __future__ import annotations

import collections
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import bounds
from bounds import Bounds, Span, covered
from figures import Figure, Figures, between, exact, reckoned, timed
from logbook import Call, Line, Log


@dataclass
class Step:
    """A denoising step of one or more passes, or a turn of a loop that stands for one."""

    number: int
    timestep: float | None
    frames: int | None
    loop: int
    passes: int
    is_cached: bool | None
    duration: Bounds
    end: Bounds
    # On the time axis: where its turn is, else what it took, up to its end.
    span: Span
    thread: str


def steps_of(log: Log, session: str | None = None) -> list[Step]:
    """Steps in order of their ends: what was reported in one turn of one loop is one; without reports turns are."""
    turns: dict[tuple[int, int], list[Line]] = {}
    for line in log.of("step", session):
        turns.setdefault((line["loop"], line["turn"]), []).append(line)
    steps = [_reported(lines) for lines in turns.values()]
    if not log.of("step"):
        numbers: dict[int, Iterator[int]] = {}
        for call in log.calls:
            if call.loop is not None and call.has_ended and (session is None or log.is_in(call.session, session)):
                number = next(numbers.setdefault(call.loop, itertools.count()))
                steps.append(
                    Step(number, None, None, call.loop, 1, None, call.duration, call.span.end, call.span, call.thread)
                )
    return sorted(steps, key=lambda step: step.end.low)


def _reported(lines: list[Line]) -> Step:
    given = lines[0]["given"]
    duration, end = bounds.total(_took(line) for line in lines), lines[-1]["at"]
    return Step(
        number=given["step"],
        timestep=given.get("timestep"),
        frames=given["block_size"],
        loop=lines[0]["loop"],
        passes=len(lines),
        is_cached=lines[0]["cached"],
        duration=duration,
        end=end,
        span=lines[-1].get("of_turn", Span(end - duration, end)),
        thread=lines[-1]["thread"],
    )


def _took(line: Line) -> Bounds:
    """What the program told; where it told nothing, what the turn took that it was told in."""
    told = line["given"].get("computation_time_ms")
    return line["of_turn"].length if told is None else bounds.exactly(told / 1e3)


def of_durations(durations: Sequence[Bounds]) -> Figures:
    """Figures of durations, which the program told or which lie between stamps."""
    deviation = bounds.deviation(durations)
    together = bounds.total(durations)
    return {
        "count": exact(len(durations)),
        "total": _duration(together),
        "avg": _duration(together.times(1 / len(durations))),
        "min": _duration(bounds.ordered(durations, 0)),
        "max": _duration(bounds.ordered(durations, len(durations) - 1)),
        "p50": _duration(bounds.median(durations)),
        "p95": _duration(bounds.nearest_rank(durations, 95)),
        "p99": _duration(bounds.nearest_rank(durations, 99)),
        "std_dev": exact(None) if deviation is None else _duration(deviation),
    }


def _duration(value: Bounds) -> Figure:
    """A duration that was told is kept in nanoseconds; one between stamps is read from a clock."""
    return reckoned((value.low + value.high) / 2) if value.high - value.low < 1e-12 else timed(value)


def of_steps(log: Log, prefix: str = "", session: str | None = None) -> Figures:
    """Denoising steps of a run or a session."""
    steps = steps_of(log, session)
    if not steps:
        return {f"{prefix}steps.count": exact(0, None)}
    durations = [step.duration for step in steps]
    loops: dict[int, list[Step]] = {}
    for step in steps:
        loops.setdefault(step.loop, []).append(step)
    frames = [loop[0].frames for loop in loops.values() if loop[0].frames is not None]
    figures = of_durations(durations)
    said: Figures = {name: figures[name] for name in ("count", "total", "avg", "min", "max")}
    said["loops"] = exact(len(loops))
    said["per_loop_max"] = exact(max(map(len, loops.values())))
    said["total_frames"] = exact(sum(frames) if frames else None)
    # Frames of the loops that said theirs, over the time of those loops.
    counted = [loop for loop in loops.values() if loop[0].frames is not None]
    said["fps"] = timed(bounds.exactly(sum(frames)) / _time_of_loops(counted)) if frames else exact(None)
    said["bps"] = timed(bounds.exactly(len(loops)) / _time_of_loops(list(loops.values())))
    for name in ("timestep", "frames"):
        values = [getattr(step, name) for step in steps if getattr(step, name) is not None]
        said[f"{name}.avg"] = reckoned(math.fsum(values) / len(values)) if values else exact(None)
        said[f"{name}.min"] = reckoned(min(values)) if values else exact(None)
        said[f"{name}.max"] = reckoned(max(values)) if values else exact(None)
    if all(one.end.high <= other.end.low for one, other in itertools.pairwise(steps)):
        said |= _in_order(steps)
    return {f"{prefix}steps.{name}": figure for name, figure in said.items()}


def _time_of_loops(loops: list[list[Step]]) -> Bounds:
    """What all steps took, less what loops of several threads took at the same time."""
    together = bounds.total(step.duration for loop in loops for step in loop)
    ends = sorted((loop[0].span.start.low, max(step.span.end.high for step in loop)) for loop in loops)
    if all(one[1] <= other[0] for one, other in itertools.pairwise(ends)):
        return together
    spans = [step.span for loop in loops for step in loop]
    beside = bounds.total(span.length for span in spans) - covered(spans)
    return together - beside.at_least(0)


def _in_order(steps: list[Step]) -> Figures:
    """What takes to know which step ended before which."""
    said: Figures = {}
    loops = list(dict.fromkeys(step.loop for step in steps))
    said["each"] = exact([[s.number, s.timestep, s.frames, loops.index(s.loop), s.passes, s.is_cached] for s in steps])
    said |= {f"warm_up.{name}": figure for name, figure in of_durations([steps[0].duration]).items()}
    if len(steps) > 1:
        said |= {f"steady.{name}": figure for name, figure in of_durations([s.duration for s in steps[1:]]).items()}
    if all(step.duration.high - step.duration.low < 1e-12 for step in steps):
        said["outliers"] = exact(outliers(steps))
    answered = [step for step in steps if step.is_cached]
    computed = [step for step in steps if not step.is_cached]
    if any(step.is_cached is not None for step in steps):
        said["caching.cached"] = exact(len(answered))
        said["caching.computed"] = exact(len(computed))
        rest = [step.duration.low for step in computed if step is not steps[0]]
        said["caching.saved"] = exact(None)
        if answered and rest:
            saved = _median(rest) - _median([step.duration.low for step in answered])
            said["caching.saved"] = reckoned(saved * len(answered))
    return said


def outliers(steps: list[Step]) -> list[int]:
    """Places of steady steps that are far above those like them, the longest first."""
    alike: dict[tuple[Any, ...], list[tuple[int, float]]] = {}
    in_loop: dict[tuple[Any, ...], list[tuple[int, float]]] = {}
    lengths = collections.Counter(step.loop for step in steps)
    for at, step in enumerate(steps):
        if at:
            key = (bool(step.is_cached), step.passes)
            alike.setdefault((*key, lengths[step.loop], step.thread), []).append((at, step.duration.low))
            in_loop.setdefault((step.loop, *key), []).append((at, step.duration.low))
    found: list[int] = []
    for (loop, *key), own in in_loop.items():
        if len(own) >= 5:
            found += _far_above(own)
            continue
        middle = _median([seconds for _, seconds in own])
        for at, seconds in own:
            is_far = at in _far_above(alike[(*key, lengths[loop], steps[at].thread)])
            if is_far and (len(own) < 3 or seconds > middle * 1.1):
                found.append(at)
    return sorted(found, key=lambda place: -steps[place].duration.low)


def _far_above(among: list[tuple[int, float]]) -> list[int]:
    """Longer than the median by more than 5 deviations and a tenth."""
    middle = _median([seconds for _, seconds in among])
    spread = _median([abs(seconds - middle) for _, seconds in among])
    return [place for place, seconds in among if seconds - middle > max(5 * spread, middle / 10)]


def _median(values: Sequence[float]) -> float:
    return bounds.median([bounds.exactly(value) for value in values]).low


def of_blocks(log: Log, prefix: str = "", session: str | None = None) -> Figures:
    """Blocks of frames of a run or a session."""
    lines = sorted(log.of("block", session), key=lambda line: line["at"].low)
    if not lines:
        return {f"{prefix}blocks.count": exact(None)}
    given = [line["given"] for line in lines]
    durations = [bounds.exactly(one["computation_time_ms"] / 1e3) for one in given]
    frames = [one["block_size"] for one in given if one["block_size"] is not None]
    memory = [one["memory_usage_mb"] for one in given if "memory_usage_mb" in one]
    figures = of_durations(durations)
    said: Figures = {name: figures[name] for name in ("count", "total", "avg", "min", "max")}
    said["total_frames"] = exact(sum(frames) if frames else None)
    said["frames.avg"] = reckoned(sum(frames) / len(frames)) if frames else exact(None)
    said["frames.min"] = reckoned(min(frames)) if frames else exact(None)
    said["frames.max"] = reckoned(max(frames)) if frames else exact(None)
    said["memory.avg"] = reckoned(sum(memory) / len(memory)) if memory else exact(None)
    said["memory.max"] = reckoned(max(memory)) if memory else exact(None)
    said["memory.min"] = reckoned(min(memory)) if memory else exact(None)
    spans = [_span(line) for line in lines]
    said["bps"] = timed(bounds.exactly(len(lines)) / covered(spans))
    said["fps"] = timed(bounds.exactly(sum(frames)) / covered(_with_frames(lines))) if frames else exact(None)
    begin = _begin(log, session)
    # Of the run the session of its first block is meant, where it has one; what came before was loading.
    within = _begin(log, session or lines[0]["session"])
    said["time_to_first"] = timed(lines[0]["at"] - Bounds(min(begin.low, within.low), max(begin.high, within.high)))
    gaps: list[Bounds] = []
    jumps: list[Bounds] = []
    for generation in dict.fromkeys(line["generation"] for line in lines):
        ends = [line["at"] for line in lines if line["generation"] == generation]
        own = [later - earlier for earlier, later in itertools.pairwise(ends)]
        gaps += own
        jumps += [_distance(one, other) for one, other in itertools.pairwise(own)]
    said["between.count"] = exact(len(gaps) or None)
    if gaps:
        said["between.total"] = timed(bounds.total(gaps))
        said["between.min"] = timed(bounds.ordered(gaps, 0))
        said["between.max"] = timed(bounds.ordered(gaps, len(gaps) - 1))
        said["between.p50"] = timed(bounds.median(gaps))
    said["jitter"] = timed(bounds.total(jumps).times(1 / len(jumps))) if jumps else exact(None)
    return {f"{prefix}blocks.{name}": figure for name, figure in said.items()}


def _begin(log: Log, session: str | None) -> Bounds:
    return log.start if session is None else log.sessions[session].span.start


def _span(line: Line) -> Span:
    """From the time that was told to the report."""
    took = bounds.exactly(line["given"]["computation_time_ms"] / 1e3)
    return Span(line["at"] - took, line["at"])


def _with_frames(lines: Sequence[Line]) -> list[Span]:
    return [_span(line) for line in lines if line["given"]["block_size"] is not None]


def _distance(one: Bounds, other: Bounds) -> Bounds:
    low = max(one.low - other.high, other.low - one.high, 0)
    return Bounds(low, max(one.high - other.low, other.high - one.low))


def of_rates(log: Log, prefix: str = "", session: str | None = None) -> Figures:
    """Frames a second of work, each once, over the time of blocks or of steps, in which each moment counts once.

    Where text encoding or VAE decoding was recorded, with and without each: without, what of it lies in a block is
    taken off; with it, what lies outside of all blocks is added. Here all of it lies outside of blocks. Pixel frames
    are those of some generations, and the time is that of their work. What is encoded and decoded for other
    generations than those of the work is no part of it. Where sessions made all of them, over their wall time, too.
    """
    blocks, steps = log.of("block", session), steps_of(log, session)
    # Readers put a step of several passes together up to its end; the pauses between its passes are some microseconds.
    spans = [_span(line) for line in blocks] or [step.span for step in steps]
    if not spans:
        return {}
    text, vae = (_named(log, session, name) for name in ("text_encoding", "vae_decode"))
    counted, makers = frames_of(log, session)
    is_of_any = session is not None or None in makers
    spans_of = {"latent": spans, "pixel": spans if is_of_any else _work_of(log, makers)}
    of_latent = generations_of_work(log)
    of_work = {"latent": of_latent, "pixel": of_latent if is_of_any else of_latent & (makers | {None})}
    pauses = Bounds(0, 1e-4 * sum(step.passes - 1 for step in steps))
    said: Figures = {}
    for kind, count in counted.items():
        if count is None or not spans_of[kind]:
            continue
        is_of_all = session is not None or None in of_work[kind]
        own = [
            [call for call in calls if is_of_all or outermost(log, call.session) in of_work[kind] | {None}]
            for calls in (text, vae)
        ]
        for with_text in (False, True) if own[0] else (None,):
            for with_vae in (False, True) if own[1] else (None,):
                added = (own[0] if with_text else []) + (own[1] if with_vae else [])
                time = covered([*spans_of[kind], *(call.span for call in added)])
                time = Bounds(time.low - pauses.high, time.high + pauses.high) if not blocks else time
                said[f"{prefix}rate[{kind}, {with_text}, {with_vae}]"] = timed(bounds.exactly(count) / time)
        of = {session} if session is not None else of_latent if kind == "latent" else makers
        if None not in of:
            wall = covered(log.sessions[name].span for name in of if name is not None)
            said[f"{prefix}rate[{kind}, generations]"] = timed(bounds.exactly(count) / wall)
    return said


def frames_of(log: Log, session: str | None = None) -> tuple[dict[str, int | None], set[str | None]]:
    """Frames, each once, where all are known, and the generations that made those of pixels."""
    if blocks := log.of("block", session):
        frames = [line["given"]["block_size"] for line in blocks]
    else:
        frames = list({step.loop: step.frames for step in reversed(steps_of(log, session))}.values())
    vae = _named(log, session, "vae_decode")
    delivered, decoded = collections.Counter[str | None](), collections.Counter[str | None]()
    for line in log.of("delivery", session):
        delivered[outermost(log, line["session"])] += line["given"]["batch_size"]
    for call in vae:
        decoded[outermost(log, call.session)] += call.attributes.get("frames", 0)
    pixels = {maker: count for maker, count in {**decoded, **delivered}.items() if count}
    latent = None if None in frames else sum(frames) or None
    return {"latent": latent, "pixel": sum(pixels.values()) or None}, set(pixels)


def outermost(log: Log, session: str | None) -> str | None:
    while session is not None and (parent := log.sessions[session].parent) is not None:
        session = parent
    return session


def generations_of_work(log: Log) -> set[str | None]:
    """In which blocks, otherwise steps, were made; None is in none."""
    lines = log.of("block") or log.of("step")
    sessions = {line["session"] for line in lines}
    if not lines:
        sessions = {call.session for call in log.calls if call.loop is not None and call.has_ended}
    return {outermost(log, session) for session in sessions}


def _work_of(log: Log, makers: set[str | None]) -> list[Span]:
    """Blocks, otherwise steps, of these generations and of none."""
    blocks = log.of("block")
    if blocks:
        return [_span(line) for line in blocks if outermost(log, line["session"]) in makers | {None}]
    in_sessions = {name: steps_of(log, name) for name in log.sessions if log.sessions[name].parent is None}
    ends = {step.end for steps in in_sessions.values() for step in steps}
    of_none = [step for step in steps_of(log) if step.end not in ends]
    of_makers = [step for name in makers if name is not None for step in in_sessions[name]]
    return [step.span for step in of_makers + of_none]


def _named(log: Log, session: str | None, name: str) -> list[Call]:
    return [c for c in log.calls if c.name == name and (session is None or log.is_in(c.session, session))]


def of_deliveries(log: Log, prefix: str = "", session: str | None = None) -> Figures:
    """Frames that were handed to a viewer, of a run or a session."""
    lines = sorted(log.of("delivery", session), key=lambda line: line["at"].low)
    dropped = sum(line["count"] for line in log.of("dropped", session))
    if not lines and not dropped:
        return {f"{prefix}streaming.deliveries": exact(None)}
    frames = sum(line["given"]["batch_size"] for line in lines)
    said: Figures = {"deliveries": exact(len(lines)), "dropped": exact(dropped)}
    said["frames"] = exact(frames) if lines else exact(0, None)
    said["drop_percent"] = reckoned(100 * dropped / (frames + dropped)) if frames else exact(None, 100.0)
    for name, key in (("encoding_ms", "encoding_time_ms"), ("latency_ms", "network_latency_ms")):
        values = [line["given"][key] for line in lines if key in line["given"]]
        said[name] = reckoned(sum(values) / len(values)) if values else exact(None)
    buffer = [line["given"]["buffer_occupancy"] for line in lines if "buffer_occupancy" in line["given"]]
    said["buffer.avg"] = reckoned(sum(buffer) / len(buffer)) if buffer else exact(None)
    said["buffer.max"] = reckoned(max(buffer)) if buffer else exact(None)
    # Frames after the first delivery of each session, over the time in which one was between its first and last.
    later, spans = 0, []
    for name in dict.fromkeys(line["session"] for line in lines):
        own = [line for line in lines if line["session"] == name]
        later += sum(line["given"]["batch_size"] for line in own[1:])
        spans.append(Span(own[0]["at"], own[-1]["at"]))
    time = covered(spans)
    said["delivery_time"] = timed(time)
    said["fps"] = timed(bounds.exactly(later) / time) if any(s.start.high < s.end.low for s in spans) else exact(None)
    said |= _as_reported(lines, sorted(log.of("dropped", session), key=lambda line: line["at"].low))
    return {f"{prefix}streaming.{name}": figure for name, figure in said.items()}


def _as_reported(lines: list[Line], drops: list[Line]) -> Figures:
    said: Figures = {"each": exact([line["given"]["batch_size"] for line in lines])}
    said["drops"] = exact([line["count"] for line in drops])
    for index, line in enumerate(lines):
        for name in ("encoding_time_ms", "network_latency_ms", "buffer_occupancy"):
            value = line["given"].get(name)
            said[f"each[{index}].{name}"] = exact(None) if value is None else reckoned(value)
    return said


def of_caches(log: Log, prefix: str = "", session: str | None = None) -> Figures:
    """Decisions of caches, of a run or a session."""
    kinds = {"hits": "hit", "miss": "miss", "evictions": "eviction"}
    found = [
        (line["cache"], line["outcome"], line["details"].get("held_bytes")) for line in log.of("decision", session)
    ]
    # What a Profiler is told names no cache; its size is what it holds.
    told = [line["given"] for line in log.of("cache_event", session)]
    found += [("cache", kinds[outcome], size) for outcome, size in told]
    if not found:
        return {f"{prefix}caches.lookups": exact(None)}
    said: Figures = {}
    for name in dict.fromkeys(["", *(cache for cache, _, _ in found)]):
        own = [one for one in found if name in ("", one[0])]
        counts = {kind: sum(outcome == kind for _, outcome, _ in own) for kind in ("hit", "miss", "eviction")}
        lookups = counts["hit"] + counts["miss"]
        key = f"cache[{name}]" if name else "caches"
        said |= {f"{key}.{kind}": exact(n) for kind, n in counts.items()}
        said[f"{key}.lookups"] = exact(lookups)
        said[f"{key}.hit_rate"] = reckoned(counts["hit"] / lookups) if lookups else exact(None)
        if name:
            said[f"{key}.peak_held"] = exact(max((size for _, _, size in own if size is not None), default=None))
    return {f"{prefix}{name}": figure for name, figure in said.items()}


def models_of(log: Log, session: str | None) -> list[Line]:
    """Models that were named in a session, and before its end outside of any, or in one that it is nested in."""
    if session is None:
        return log.of("model")
    end = log.sessions[session].span.end.low

    def was_known(line: Line) -> bool:
        is_around = line["session"] is None or log.is_in(session, line["session"])
        return log.is_in(line["session"], session) or (is_around and line["at"].high <= end)

    return [line for line in log.of("model") if was_known(line)]


def of_told(log: Log, prefix: str = "", session: str | None = None) -> Figures:
    """Events and models, of a run or a session."""
    events = sorted(log.of("event", session), key=lambda line: line["at"].low)
    said: Figures = {"events": exact([[line["name"], line["data"]] for line in events])}
    for index, line in enumerate(events):
        wall = Bounds(line["wall"][0] / 1e9, line["wall"][1] / 1e9)
        said[f"event[{index}].timestamp"] = between(wall, slack=1e-3)
    models = {line["given"]["model_name"]: line["given"].get("parameters_count") for line in models_of(log, session)}
    said["models"] = exact(models or None)
    said["parameters"] = exact(sum(models.values()) if models else None)
    return {f"{prefix}{name}": figure for name, figure in said.items()}


def of_layers(log: Log, prefix: str = "", session: str | None = None) -> Figures:
    """Layers that the program measured, of a run or a session."""
    lines = log.of("layer", session)
    if not lines:
        return {f"{prefix}layers": exact(None)}
    names = dict.fromkeys(line["name"] for line in lines)
    spans = [Bounds(low / 1e9, high / 1e9) for low, high in (line["took"] for line in lines)]
    whole = bounds.total(spans)
    said: Figures = {"layers": exact(len(names)), "layers.total": timed(whole)}
    for name in names:
        own = [(line, span) for line, span in zip(lines, spans, strict=True) if line["name"] == name]
        total = bounds.total(span for _, span in own)
        said[f"layer[{name}].calls"] = exact(len(own))
        said[f"layer[{name}].parameters"] = exact(own[-1][0]["parameters"])
        said[f"layer[{name}].total"] = timed(total)
        said[f"layer[{name}].mean"] = timed(total / bounds.exactly(len(own)))
        said[f"layer[{name}].min"] = timed(Bounds(min(s.low for _, s in own), min(s.high for _, s in own)))
        said[f"layer[{name}].max"] = timed(Bounds(max(s.low for _, s in own), max(s.high for _, s in own)))
        low, high = whole.low - total.low, whole.high - total.high
        share = Bounds(total.low / (total.low + high), total.high / (total.high + low))
        said[f"layer[{name}].share"] = timed(share)
    return {f"{prefix}{name}": figure for name, figure in said.items()}


def of_memory_events(log: Log, prefix: str = "", session: str | None = None) -> Figures:
    """Allocations and releases that the program reported, of a run or a session."""
    lines = sorted(log.of("memory_event", session), key=lambda line: line["at"].low)
    signed = [(1 if line["given"]["event_type"] == "alloc" else -1) * line["given"]["size_bytes"] for line in lines]
    gained, lost = [size for size in signed if size > 0], [-size for size in signed if size < 0]
    levels = list(itertools.accumulate(signed))
    said: Figures = {"each": exact(signed or None)}
    if lines:
        said["all"] = exact([len(gained), sum(gained), len(lost), sum(lost), sum(signed)])
        said["peak"] = exact(max(0, *levels))
        at = lines[levels.index(max(levels))]["wall"]
        said["peak_at"] = between(Bounds(at[0] / 1e9, at[1] / 1e9), slack=1e-3)
        said["uses"] = exact([["cuda", None, len(gained), sum(gained), len(lost), sum(lost), sum(signed)]])
    return {f"{prefix}memory_events.{name}": figure for name, figure in said.items()}


def of_counters(log: Log) -> Figures:
    """What counters read."""
    said: Figures = {}
    for name in dict.fromkeys(line["name"] for line in log.of("counter")):
        lines = sorted((line for line in log.of("counter") if line["name"] == name), key=lambda line: line["at"].low)
        values = [line["value"] for line in lines]
        said[f"counter[{name}].count"] = exact(len(values))
        said[f"counter[{name}].min"] = reckoned(min(values))
        said[f"counter[{name}].max"] = reckoned(max(values))
        said[f"counter[{name}].mean"] = reckoned(sum(values) / len(values))
        said[f"counter[{name}].last"] = between(_last(lines))
    return said


def _last(lines: list[Line]) -> Bounds:
    latest = [line["value"] for line in lines if line["at"].high >= lines[-1]["at"].low]
    return Bounds(min(latest), max(latest))


def of_generations(log: Log) -> Figures:
    """All of this for the run and for each session."""
    said = of_counters(log)
    for prefix, session in [("", None), *((f"session[{name}].", name) for name in log.sessions)]:
        for part in (of_steps, of_blocks, of_rates, of_deliveries, of_layers, of_memory_events, of_caches, of_told):
            said |= part(log, prefix, session)
    return said
