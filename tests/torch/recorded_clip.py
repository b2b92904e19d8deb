"""One clip that was generated, and what Marey says about it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from generation import generate_clip, time_the_denoiser
from tiny_pipeline import TinyPipeline

import marey


@dataclass
class RecordedClip:
    """Frames in memory and on disk, with the sections, iterations and memory readings taken on the way."""

    tiny: TinyPipeline
    steps: int
    folder: Path
    frames: np.ndarray
    sections: dict[str, dict[str, float]]
    iterations: marey.IterationProfiler
    memory: marey.MemoryTracker

    @classmethod
    def generate(cls, tiny: TinyPipeline, folder: Path, *, steps: int, seed: int = 7) -> RecordedClip:
        """Generate it; whether it is recorded is up to the caller."""
        iterations, memory = marey.IterationProfiler("diffusion_step"), marey.MemoryTracker()
        time_the_denoiser(tiny)
        frames = generate_clip(
            tiny, "a red fox", steps=steps, seed=seed, folder=folder, iterations=iterations, memory=memory
        )
        return cls(tiny, steps, folder, frames, marey.get_global_stats().get_all_stats(), iterations, memory)
