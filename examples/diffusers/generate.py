#!/usr/bin/env python3
"""Generates clips with a real diffusers pipeline of random weights, recorded by Marey.

    python examples/diffusers/generate.py --pipeline wan --steps 6 --size small --out profiling_results/wan

Needs no download and no GPU. The pictures are noise; what takes how long, and in which order, is as in the real thing.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

from generation import generate_clip, time_the_denoiser
from tiny_pipeline import TinyPipeline, parameter_count

import marey


def build(pipeline: str, size: str, seed: int) -> TinyPipeline:
    """The pipeline of this name; only its own module is imported."""
    if pipeline == "wan":
        from tiny_wan import TinyWan as Chosen
    elif pipeline == "flux":
        from tiny_flux import TinyFlux as Chosen
    else:
        from tiny_stable_diffusion import TinyStableDiffusion as Chosen
    return Chosen(size, seed)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--pipeline", choices=("wan", "flux", "sd"), default="wan")
    parser.add_argument("--size", choices=("tiny", "small"), default="tiny", help="tiny: milliseconds; small: seconds")
    parser.add_argument("--steps", type=int, default=4, metavar="N", help="denoising steps, default: %(default)s")
    parser.add_argument("--clips", type=int, default=1, metavar="N", help="how many to generate, default: %(default)s")
    parser.add_argument("--seed", type=int, default=7, help="of the first clip; each next one has the next seed")
    parser.add_argument("--prompt", default="a fox runs over the snow")
    parser.add_argument("--out", type=Path, metavar="DIR", help="default: profiling_results/<pipeline>")
    parser.add_argument("--no-recording", action="store_true", help="the same program with the recorder switched off")
    asked = parser.parse_args(arguments)
    if asked.steps < 1 or asked.clips < 1:
        parser.error("--steps and --clips must be at least 1")
    return asked


def main(arguments: list[str] | None = None) -> None:
    """Generate the clips; with recording, print the summaries and write the report."""
    asked = parse(arguments)
    out = asked.out or Path("profiling_results", asked.pipeline)
    if asked.no_recording:
        marey.stop()
    else:
        marey.start(output_dir=str(out))
    iterations, memory = marey.IterationProfiler("diffusion_step"), marey.MemoryTracker()

    with marey.profile_section("build_pipeline"):
        tiny = build(asked.pipeline, asked.size, seed=0)
    tiny.pipe.set_progress_bar_config(disable=None)  # a bar on a terminal, none in a log
    time_the_denoiser(tiny)
    print(f"{type(tiny.pipe).__name__}, {parameter_count(tiny.pipe) / 1e6:.2f} million random weights")

    for clip in range(asked.clips):
        seed = asked.seed + clip
        with marey.session(f"clip-{clip}", seed=seed, model=asked.pipeline, steps=asked.steps):
            folder = out / f"clip-{clip}"
            frames = generate_clip(
                tiny,
                asked.prompt,
                steps=asked.steps,
                seed=seed,
                folder=folder,
                iterations=iterations,
                memory=memory,
            )
        print(f"{folder}: {len(frames)} frames of {frames.shape[2]} x {frames.shape[1]}")

    if not asked.no_recording:
        stats = marey.get_global_stats()
        stats.print_summary(top_n=20)
        iterations.print_summary()
        memory.print_summary()
        memory.export_json(str(out / "memory_log.json"))
        report = marey.export_profiling_report(
            str(out), timing_stats=stats, memory_tracker=memory, iteration_profiler=iterations
        )
        print(f"report: {report}")
        marey.stop()


if __name__ == "__main__":
    main()
