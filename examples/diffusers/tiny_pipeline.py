"""What the three example pipelines have in common: a real diffusers pipeline, cut into the stages that are measured."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from diffusers import DiffusionPipeline

Size = Literal["tiny", "small"]
"""Tiny: milliseconds a run, for tests. Small: seconds a run, with something to see in a profile."""

StepEnd = Callable[[DiffusionPipeline, int, torch.Tensor, dict[str, Any]], dict[str, Any]]
"""Diffusers' `callback_on_step_end`: pipeline, number of the step, timestep, tensors → tensors to go on with."""


class TinyPipeline(ABC):
    """A diffusers pipeline with random weights, and how to call its stages one by one.

    Stages are called one by one, instead of `pipe(prompt)`, so that each can have a section and a memory reading of its
    own. This is also how one runs a pipeline whose text encoder and VAE take turns on a small card.
    """

    forwards_per_step: ClassVar[int] = 1
    """Calls of the denoiser in one step: 2 where guidance calls it twice, 1 where it doubles the batch."""

    pipe: DiffusionPipeline
    frame_shape: tuple[int, int, int]
    frames: int = 1

    @property
    @abstractmethod
    def denoiser(self) -> torch.nn.Module:
        """The model that is called in every step: a transformer or a UNet."""

    @abstractmethod
    def encode(self, prompt: str) -> dict[str, torch.Tensor]:
        """Text encoding: the pipeline's arguments that stand for the prompt."""

    @abstractmethod
    def decode(self, latents: torch.Tensor) -> np.ndarray:
        """VAE decode: float32 frames between 0 and 1, of shape (frames, height, width, 3)."""

    def denoise(
        self, prompt_arguments: dict[str, torch.Tensor], steps: int, seed: int, on_step_end: StepEnd
    ) -> torch.Tensor:
        """The denoising loop alone: final latents."""
        height, width, _ = self.frame_shape
        return self.pipe(
            **prompt_arguments,
            **self.more_arguments(),
            height=height,
            width=width,
            num_inference_steps=steps,
            generator=torch.Generator().manual_seed(seed),
            callback_on_step_end=on_step_end,
            output_type="latent",
            return_dict=False,
        )[0]

    def more_arguments(self) -> dict[str, Any]:
        """Arguments of the pipeline's call that the others do not have."""
        return {}


def parameter_count(pipe: DiffusionPipeline) -> int:
    """How many weights all models of the pipeline have together."""
    models = (model for model in pipe.components.values() if isinstance(model, torch.nn.Module))
    return sum(weight.numel() for model in models for weight in model.parameters())
