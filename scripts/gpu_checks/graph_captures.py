"""Graphs that are captured within sections, and errors of the program that it has not looked at yet."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_checks.rows import NotAvailableError, Row, check, cycles_of_50_ms, recorded, row

if TYPE_CHECKING:
    import torch


def runtime() -> ctypes.CDLL:
    """The CUDA runtime that torch has loaded."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = line.split(maxsplit=5)[-1]
        if "/libcudart" in path:
            return ctypes.CDLL(path)
    raise NotAvailableError("torch has loaded no libcudart")


@contextmanager
def raw_capture() -> Iterator[None]:
    """A capture of which torch knows nothing, on a stream of its own; what it captured is thrown away."""
    import torch

    library, stream, graph = runtime(), torch.cuda.Stream(), ctypes.c_void_p()
    with torch.cuda.stream(stream):
        handle = ctypes.c_void_p(stream.cuda_stream)
        assert library.cudaStreamBeginCapture(handle, 0) == 0
        yield
        error = library.cudaStreamEndCapture(handle, ctypes.byref(graph))
    if error != 0:
        raise RuntimeError(f"the capture was broken: CUDA error {error}")


@contextmanager
def began_and_ended(graph: torch.cuda.CUDAGraph) -> Iterator[None]:
    """A capture without `torch.cuda.graph`."""
    import torch

    with torch.cuda.stream(torch.cuda.Stream()):
        graph.capture_begin()
        yield
        graph.capture_end()


@check
def captures() -> Iterator[Row]:
    """Graphs are captured and replayed within sections, however the capture begins."""
    import torch

    import marey

    x = torch.ones(1024, device="cuda")
    torch.cuda.synchronize()
    for way in ("torch.cuda.graph", "capture_begin", "without torch"):
        graph = torch.cuda.CUDAGraph()
        ways = {"torch.cuda.graph": torch.cuda.graph, "capture_begin": began_and_ended}
        y = torch.zeros_like(x)
        with recorded() as found:
            with marey.profile_section("before"):
                x.add_(0)
            torch.cuda.synchronize()
            try:
                with raw_capture() if way == "without torch" else ways[way](graph):
                    with marey.profile_section("within"):
                        y.copy_(x)
                    other = threading.Thread(target=_section_beside) if way != "without torch" else None
                    if other is not None:
                        other.start()
                        other.join()
                broken = "none"
            except NotAvailableError as error:
                yield Row(f"capture, {way}", "-", str(error), "not available")
                continue
            except Exception as error:
                broken = f"{type(error).__name__}: {error}".splitlines()[0]
            with marey.profile_section("after"):
                if way != "without torch" and broken == "none":
                    graph.replay()
            torch.cuda.synchronize()
        yield row(f"capture, {way}: error", "none", broken)
        named = [span["name"] for span in found["gpu_spans"]]
        yield row(f"capture, {way}: sections with a time", ["before", "after"], named)
        if way != "without torch":
            yield row(f"capture, {way}: sum after a replay", 1024.0, y.sum().item())


def _section_beside() -> None:
    import marey

    with marey.profile_section("beside"):
        pass


@check
def pending_error() -> Iterator[Row]:
    """An error of the program that nobody looked at yet is still there after sections."""
    import torch

    import marey

    cycles = cycles_of_50_ms()
    library = runtime()
    with recorded() as found:
        with marey.profile_section("long"):
            torch.cuda._sleep(cycles)
        before = library.cudaSetDevice(10_000)  # no such device
        for _ in range(3):
            with marey.profile_section("asks"):
                pass
        after = library.cudaGetLastError()
        torch.cuda.synchronize()
    yield row("pending error after sections", before, after)
    yield row("sections with a time", 4, len(found["gpu_spans"]))
