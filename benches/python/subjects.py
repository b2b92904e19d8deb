"""What is timed, in groups: one group runs in one process, because some peers change the process that they are in.

Every group starts with the anchors, so that each ratio has both of its sides from one process.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator

from batches import Subject
from seed_timer import AllDurations, RunningTotals, TimerClass, timer_generator

import marey

WITH_SECTION = 'with section("x"): pass'


def section() -> Subject:
    """The recorded section with a literal name, which is what most code has."""
    return Subject("profile_section", WITH_SECTION, {"section": marey.profile_section}, records=True)


def anchors() -> Iterator[Subject]:
    """The recorded section and, where it could be compiled, the empty C context manager."""
    yield section()
    with contextlib.suppress(ImportError):
        from c_empty_context import EmptyContext

        yield Subject("empty C context manager", "with empty: pass", {"empty": EmptyContext()})


def plain(x: int) -> int:
    """A function that does nothing, to be decorated."""
    return x


def decorators() -> Iterator[Subject]:
    """Marey's decorator and a wrapper that does nothing; what they add to a plain call."""

    @functools.wraps(plain)
    def passing_through(*args: int, **keywords: int) -> int:
        return plain(*args, **keywords)

    recorded = marey.profile_function("decorated")(plain)
    both = {"f": plain}
    yield Subject("profile_function", "g(1)", {**both, "g": recorded}, baseline="f(1)", records=True)
    yield Subject("functools.wraps wrapper", "g(1)", {**both, "g": passing_through}, baseline="f(1)")


def seed_timers() -> Iterator[Subject]:
    """The timer that people write themselves, in its forms."""
    for kind, stats in (("totals", RunningTotals()), ("list", AllDurations())):
        for form, timer in (("class", TimerClass), ("@contextmanager", timer_generator)):
            names = {"timer": timer, "stats": stats}
            yield Subject(f"seed timer {form}, {kind}", 'with timer(stats, "x"): pass', names, clear=stats.clear)


def switched_off() -> Iterator[Subject]:
    """Sections that are off, one by one, and a null context of the standard library."""
    yield Subject("enabled=False", 'with section("x", False): pass', {"section": marey.profile_section})
    yield Subject(
        "enabled=False by keyword", 'with section("x", enabled=False): pass', {"section": marey.profile_section}
    )
    yield null_context()


def null_context() -> Subject:
    """A fresh null context each time, as `with nullcontext() if off else …` makes it."""
    return Subject("nullcontext", "with null(): pass", {"null": contextlib.nullcontext})


def main() -> Iterator[Subject]:
    """Everything that leaves the process as it is."""
    yield from anchors()
    yield from seed_timers()
    yield from decorators()
    yield from switched_off()


def recorder_off() -> Iterator[Subject]:
    """The same statement while the recorder is stopped."""
    marey.stop()
    yield Subject("recorder off", WITH_SECTION, {"section": marey.profile_section})
    yield null_context()


def torch() -> Iterator[Subject]:
    """torch.profiler's record_function without a profiler."""
    from torch.profiler import record_function

    yield from anchors()
    yield Subject("record_function", 'with mark("x"): pass', {"mark": record_function})


def viztracer() -> Iterator[Subject]:
    """VizTracer's own events; its profile hook is in place and makes our call dearer too."""
    from viztracer import VizTracer

    tracer = VizTracer(log_sparse=True, verbose=0)
    yield from anchors()
    yield Subject("log_event", 'with event("x"): pass', {"event": tracer.log_event}, clear=tracer.clear)


def opentelemetry() -> Iterator[Subject]:
    """OpenTelemetry's SDK with the batch processor and an exporter that throws everything away."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

    class Nowhere(SpanExporter):
        def export(self, spans: object) -> SpanExportResult:
            return SpanExportResult.SUCCESS

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(Nowhere()))
    yield from anchors()
    names = {"span": provider.get_tracer("bench").start_as_current_span}
    yield Subject("span", 'with span("x"): pass', names)


def nvtx() -> Iterator[Subject]:
    """NVIDIA's annotations with no tool attached."""
    from nvtx import annotate

    yield from anchors()
    yield Subject("annotate", 'with annotate("x"): pass', {"annotate": annotate})


GROUPS: dict[str, Callable[[], Iterator[Subject]]] = {
    "main": main,
    "off": recorder_off,
    "torch": torch,
    "viztracer": viztracer,
    "opentelemetry": opentelemetry,
    "nvtx": nvtx,
}
