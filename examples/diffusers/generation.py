"""One clip, stage by stage, with Marey's sections placed by hand.

The names that a profile shows come from here: the sections `text_encoding`, `denoising` (and in it
`transformer_forward`, once or twice a step), `vae_decode`, `write_frames`, and the iterations of `diffusion_step`.
With recording switched off the same lines run and do nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from diffusers import DiffusionPipeline
from PIL import Image
from tiny_pipeline import StepEnd, TinyPipeline

import marey


def time_the_denoiser(tiny: TinyPipeline) -> None:
    """Put every call of the transformer or UNet into a section. To be called once for a pipeline."""
    tiny.denoiser.forward = marey.profile_function("transformer_forward")(tiny.denoiser.forward)


def turn_at_step_end(steps: marey.IterationProfiler) -> StepEnd:
    """A `callback_on_step_end` that closes the iteration that is open and opens the next one, except after the last."""

    def turn(pipe: DiffusionPipeline, step: int, _timestep: torch.Tensor, tensors: dict[str, Any]) -> dict[str, Any]:
        steps.end_iteration()
        if step + 1 < pipe.num_timesteps:
            steps.start_iteration()
        return tensors

    return turn


def generate_clip(
    tiny: TinyPipeline,
    prompt: str,
    *,
    steps: int,
    seed: int,
    folder: Path,
    iterations: marey.IterationProfiler,
    memory: marey.MemoryTracker,
) -> np.ndarray:
    """Generate one clip and write its frames into `folder`; returns the frames.

    float32 between 0 and 1, of shape (frames, height, width, 3).
    """
    memory.snapshot("start")
    with marey.profile_section("text_encoding"):
        prompt_arguments = tiny.encode(prompt)
    memory.snapshot("after_text_encoding")

    with marey.profile_section("denoising"):
        iterations.start_iteration()  # the first step includes the preparation of latents and schedule
        latents = tiny.denoise(prompt_arguments, steps, seed, turn_at_step_end(iterations))
    memory.snapshot("after_denoising")

    with marey.profile_section("vae_decode"):
        frames = tiny.decode(latents)
    memory.snapshot("after_vae_decode")

    with marey.profile_section("write_frames"):
        write_frames(frames, folder)
    memory.snapshot("after_write_frames")
    return frames


def write_frames(frames: np.ndarray, folder: Path) -> None:
    """Write each frame as frame_0000.png and so on."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, frame in enumerate((frames * 255).round().astype(np.uint8)):
        Image.fromarray(frame).save(folder / f"frame_{number:04}.png")
