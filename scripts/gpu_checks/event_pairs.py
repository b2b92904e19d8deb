"""Event pairs: what they say, on which stream and device, and that they open no context."""

from __future__ import annotations

from collections.abc import Iterator

from gpu_checks.rows import NotAvailableError, Row, check, cycles_of_50_ms, ms, near, recorded, row, spans


@check
def event_pairs() -> Iterator[Row]:
    """A section has the time of the sleep kernel in it, and does not wait for it."""
    import torch

    import marey

    cycles = cycles_of_50_ms()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    with recorded() as found:
        with marey.profile_section("sleep"):
            begin.record()
            torch.cuda._sleep(cycles)
            end.record()
        is_done = end.query()
        with marey.profile_section("twice"):
            torch.cuda._sleep(2 * cycles)
        torch.cuda.synchronize()
        own_ms = begin.elapsed_time(end)
    sleep, twice = ms(spans(found, "sleep")[0]), ms(spans(found, "twice")[0])
    yield near("event pair, sleep kernel", "ms", own_ms, sleep, 0.02 * own_ms + 0.1)
    yield near("event pair, twice the cycles", "× the first", 2.0, twice / sleep, 0.1)
    yield row("the section waits for the GPU", False, is_done)


@check
def streams() -> Iterator[Row]:
    """Two streams at once: each section has its own stream's time."""
    import torch

    import marey

    cycles, side = cycles_of_50_ms(), torch.cuda.Stream()
    with recorded() as found:
        with marey.profile_section("main"):
            torch.cuda._sleep(2 * cycles)
        with torch.cuda.stream(side), marey.profile_section("side"):
            torch.cuda._sleep(cycles)
        torch.cuda.synchronize()
    main, beside = spans(found, "main")[0], spans(found, "side")[0]
    yield row("stream of a section", side.stream_id, beside["stream"])
    yield near("a stream beside another one", "× the other", 0.5, ms(beside) / ms(main), 0.05)


@check
def contexts() -> Iterator[Row]:
    """Sections before the first use of a device open no context on it."""
    import torch

    import marey

    with recorded() as found:
        torch.cuda.init()
        was_open = torch._C._cuda_hasPrimaryContext(0)
        with marey.profile_section("before"):
            pass
        is_open = torch._C._cuda_hasPrimaryContext(0)
        torch.ones(1, device="cuda")
        with marey.profile_section("after"):
            torch.cuda._sleep(1000)
        torch.cuda.synchronize()
    yield row("context after a section, as before it", was_open, is_open)
    expected = ["before", "after"] if was_open else ["after"]
    yield row("sections with a time", expected, [span["name"] for span in found["gpu_spans"]])


@check
def two_devices() -> Iterator[Row]:
    """Work on cuda:1 while cuda:0 is current."""
    import torch

    import marey

    if torch.cuda.device_count() < 2:
        raise NotAvailableError("one device")
    with recorded() as found:
        matrix = torch.randn(4096, 4096, device="cuda:1")
        torch.cuda.synchronize(1)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        stream = torch.cuda.current_stream(1)
        with marey.profile_section("multiply"):
            begin.record(stream)
            for _ in range(50):
                matrix = matrix @ matrix
            end.record(stream)
        torch.cuda.synchronize(1)
        own_ms, is_open = begin.elapsed_time(end), torch._C._cuda_hasPrimaryContext(0)
    (span,) = spans(found, "multiply")
    yield row("device of the work", 1, span["device"])
    yield near("time on cuda:1", "ms", own_ms, ms(span), 0.02 * own_ms + 0.1)
    yield row("context opened on cuda:0", False, is_open)
