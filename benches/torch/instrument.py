#!/usr/bin/env python3
"""Measures what an instrumented pipeline costs, against the same pipeline bare and against torch's own hooks.

    OMP_NUM_THREADS=1 python benches/torch/instrument.py [--rounds N] [--size tiny|small] [--json out.json] [--strict]

Marey, torch and diffusers must be importable. Sides take turns in one process, in an order that changes each round; a
ratio is the median of the rounds' ratios of CPU time, with the range of its middle half.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "diffusers"))

import torch
from generate import build
from tiny_pipeline import TinyPipeline

import marey
import marey.diffusers

CALL_TARGET_US = 2.0
PIPELINE_TARGET = 1.01
PIPELINES = ("sd", "flux", "wan")


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="of each side, default: %(default)s")
    parser.add_argument("--size", choices=("tiny", "small"), default="small")
    parser.add_argument("--only", nargs="+", choices=(*PIPELINES, "call"), default=[*PIPELINES, "call"])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    parser.add_argument("--strict", action="store_true", help="exit code 1 when a target is missed")
    return parser.parse_args()


def cpu_s(work: Callable[[], object]) -> float:
    """CPU time of this thread that some work takes."""
    begun = time.thread_time()
    work()
    return time.thread_time() - begun


def in_turns(sides: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """CPU times of each side, one a round; the order within a round changes."""
    order, taken = random.Random(1), {name: [] for name in sides}
    for work in sides.values():
        work()
    for _ in range(rounds):
        for name in order.sample(list(sides), len(sides)):
            taken[name].append(cpu_s(sides[name]))
    return taken


def calls(rounds: int) -> dict[str, float]:
    """Microseconds that a call of an empty module takes in each way: bare, with torch's empty hooks, with Marey."""
    n, x = 20_000, torch.zeros(1)

    def many(module: torch.nn.Module) -> Callable[[], None]:
        def work() -> None:
            for _ in range(n):
                module(x)

        return work

    bare, hooks, block = torch.nn.Identity(), torch.nn.Identity(), torch.nn.Identity()
    hooks.register_forward_pre_hook(lambda *_: None)
    hooks.register_forward_hook(lambda *_: None, always_call=True)
    instrumented = marey.diffusers.instrument(upsampler=block)
    taken = in_turns({"bare": many(bare), "hooks": many(hooks), "marey": many(block)}, rounds)
    instrumented.undo()
    return {name: statistics.median(times) / n * 1e6 for name, times in taken.items()}


def pipeline(kind: str, size: str, rounds: int) -> dict[str, Any]:
    """A pipeline with and without instrumentation: seconds of CPU, and their ratio."""
    bare, other = build(kind, size, seed=0), build(kind, size, seed=0)
    for tiny in (bare, other):
        tiny.pipe.set_progress_bar_config(disable=True)
    marey.diffusers.instrument(other.pipe)
    before = sections()
    generate(other)
    hooked = sections() - before
    taken = in_turns({"bare": lambda: generate(bare), "marey": lambda: generate(other)}, rounds)
    ratios = [m / b for m, b in zip(taken["marey"], taken["bare"], strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return {
        "bare_s": statistics.median(taken["bare"]),
        "ratio": middle,
        "from": low,
        "to": high,
        "sections": hooked,
        "us_a_section": (statistics.median(taken["marey"]) - statistics.median(taken["bare"])) / hooked * 1e6,
    }


def sections() -> int:
    """How many sections were completed so far."""
    return sum(stats["count"] or 0 for stats in marey.get_global_stats().get_all_stats().values())


def generate(tiny: TinyPipeline) -> None:
    """One generation of two steps."""
    height, width, _ = tiny.frame_shape
    more = {} if "Stable" in type(tiny).__name__ else {"max_sequence_length": 32}
    tiny.pipe(
        "a red fox",
        height=height,
        width=width,
        num_inference_steps=2,
        generator=torch.Generator().manual_seed(7),
        output_type="pt",
        **tiny.more_arguments() | more,
    )


def main() -> None:
    """Measure, print, compare with the targets."""
    asked = parse()
    figures: dict[str, Any] = {}
    misses = 0
    with tempfile.TemporaryDirectory() as folder:
        marey.start(folder)
        if "call" in asked.only:
            figures["call"] = found = calls(asked.rounds)
            more = found["marey"] - found["hooks"]
            misses += more > CALL_TARGET_US
            print("D1 a call of an empty module, us: " + ", ".join(f"{k} {v:.2f}" for k, v in found.items()))
            verdict = holds(more <= CALL_TARGET_US)
            print(f"D1 beyond torch's empty hooks: {more:+.2f} us (target {CALL_TARGET_US}) {verdict}")
        for kind in (kind for kind in PIPELINES if kind in asked.only):
            figures[kind] = found = pipeline(kind, asked.size, asked.rounds)
            misses += found["ratio"] > PIPELINE_TARGET
            print(
                f"D1 {kind} {asked.size}: {found['bare_s']:.3f} s bare, ratio {found['ratio']:.4f} "
                f"({found['from']:.4f} to {found['to']:.4f}), {found['sections']} sections, "
                f"{found['us_a_section']:.1f} us each (target {PIPELINE_TARGET}) "
                f"{holds(found['ratio'] <= PIPELINE_TARGET)}"
            )
        marey.stop()
    if asked.json:
        asked.json.write_text(json.dumps(figures, indent=1))
    sys.exit(1 if asked.strict and misses else 0)


def holds(does: bool) -> str:
    """In a word."""
    return "holds" if does else "MISSED"


if __name__ == "__main__":
    main()
