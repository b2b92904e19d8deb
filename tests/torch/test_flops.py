"""FLOPs of traces against torch's own ``FlopCounterMode``, on models of each family."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode


def counted(run: Callable[[], Any]) -> int:
    """What torch counts."""
    counter = FlopCounterMode(display=False)
    with counter, torch.no_grad():
        run()
    return counter.get_total_flops()


def traced(run: Callable[[], Any], folder: Path) -> int:
    """What Marey counts in a trace in which each operator launched a kernel, as on a GPU."""
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler, torch.no_grad():
        run()
    path = folder / "trace.json"
    profiler.export_chrome_trace(str(path))
    trace = json.loads(path.read_text())
    operators = [event for event in trace["traceEvents"] if event.get("cat") == "cpu_op"]
    for number, operator in enumerate(operators, 1):
        launch = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "dur": 0}
        kernel = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "dur": 1}
        place = {key: operator[key] for key in ("ts", "pid", "tid")}
        trace["traceEvents"] += [
            launch | place | {"args": {"correlation": 10**6 + number}},
            kernel | {"ts": operator["ts"], "args": {"stream": 7, "correlation": 10**6 + number}},
        ]
    path.write_text(json.dumps(trace))
    command = [sys.executable, "-m", "marey", "analyze", str(path), "--format", "json"]
    said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    (device,) = said["files"][0]["answers"]["devices"]
    return sum(row["flops"] or 0 for row in device["work"]["rows"])


MODULES: dict[str, tuple[Callable[[], torch.nn.Module], tuple[int, ...]]] = {
    "linear": (lambda: torch.nn.Linear(24, 40), (3, 5, 24)),
    "without a bias": (lambda: torch.nn.Linear(24, 40, bias=False), (3, 5, 24)),
    "line": (lambda: torch.nn.Conv1d(4, 6, 3, stride=2, padding=1, dilation=2), (2, 4, 33)),
    "picture": (lambda: torch.nn.Conv2d(8, 12, (3, 5), stride=(2, 1), padding=(1, 2), groups=4), (2, 8, 17, 19)),
    "film": (lambda: torch.nn.Conv3d(4, 6, 3, padding=1), (1, 4, 5, 7, 9)),
    "transposed": (lambda: torch.nn.ConvTranspose2d(8, 6, 4, stride=2, padding=1, groups=2), (2, 8, 9, 11)),
    "transposed film": (lambda: torch.nn.ConvTranspose3d(4, 6, 3, stride=2, output_padding=1), (1, 4, 3, 4, 5)),
}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_has_the_flops_that_torch_counts(name: str, tmp_path: Path) -> None:
    build, shape = MODULES[name]
    module, values = build().eval(), torch.randn(shape)

    expected = counted(lambda: module(values))
    assert expected > 0
    assert traced(lambda: module(values), tmp_path) == expected


def test_attention_without_a_mask_has_the_flops_that_torch_counts(tmp_path: Path) -> None:
    queries, keys = torch.randn(2, 4, 12, 16), torch.randn(2, 4, 20, 16)

    def run() -> Any:
        return torch.nn.functional.scaled_dot_product_attention(queries, keys, keys)

    assert traced(run, tmp_path) == counted(run) == 2 * (2 * 4) * (12 * 20) * (16 + 16)


def test_a_pipeline_has_the_flops_that_torch_counts(build: Callable[[], Any], tmp_path: Path) -> None:
    """Without its text encoder, whose causal attention torch counts as if it had no mask."""
    tiny = build()
    with torch.no_grad():
        prompt = tiny.encode("a horse in motion")

    def run() -> None:
        tiny.decode(tiny.denoise(prompt, 1, 0, lambda *_: {}))

    assert traced(run, tmp_path) == counted(run)
