#!/usr/bin/env python3
"""Generates a clip block by block, each from what came before, and records a loop that is no pipeline of diffusers.

    python examples/diffusers/causal_blocks.py --blocks 3 --steps 4 --out profiling_results/causal

The models are those of the Wan example. Each block of latent frames is denoised behind the one before it, then
committed in one more pass of the transformer, where a causal model fills its KV cache (this small one has none, so that
pass is for its time alone), then decoded frame by frame. Three lines are Marey's: `instrument` with the parts by name,
`blocks.iteration()` for the loop, and `clean_pass()` around the pass that is no denoising step.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from tiny_wan import CHANNELS, TinyWan

import marey
import marey.diffusers

LATENT_FRAMES = 3
HEIGHT = WIDTH = 4


class CausalLoop:
    """A transformer, a scheduler and a VAE, and the loop that makes blocks of frames of them."""

    def __init__(self, size: str, seed: int) -> None:
        """Make the models and the embedding of a prompt; the same seed gives the same weights."""
        tiny = TinyWan(size, seed)
        self.transformer, self.vae, self.scheduler = tiny.pipe.transformer, tiny.pipe.vae, tiny.pipe.scheduler
        self.prompt = tiny.encode("a fox runs over the snow")["prompt_embeds"]
        self.instrumented = marey.diffusers.instrument(
            transformer=self.transformer, vae=self.vae, scheduler=self.scheduler
        )
        self.blocks = marey.IterationProfiler("block")

    @torch.no_grad()
    def generate(self, blocks: int, steps: int, seed: int) -> torch.Tensor:
        """All frames, of shape (1, 3, frames, height, width)."""
        generator = torch.Generator().manual_seed(seed)
        context, frames = None, []
        self.vae.clear_cache()
        for number in range(blocks):
            with self.blocks.iteration():
                noise = torch.randn(1, CHANNELS, LATENT_FRAMES, HEIGHT, WIDTH, generator=generator)
                context = self.make_block(number, noise, context, steps)
                frames.append(self.decode(context, is_first=number == 0))
        return torch.cat(frames, dim=2)

    def make_block(self, number: int, latents: torch.Tensor, context: torch.Tensor | None, steps: int) -> torch.Tensor:
        """One block, from noise, and committed."""
        self.scheduler.set_timesteps(steps)
        for step, timestep in enumerate(self.scheduler.timesteps):
            latents = self.denoise(step, timestep, latents, context)
        with self.instrumented.clean_pass():
            self.predict(latents, context, torch.zeros(1))
        return latents

    def denoise(
        self, step: int, timestep: torch.Tensor, latents: torch.Tensor, context: torch.Tensor | None
    ) -> torch.Tensor:
        """One step of a block."""
        noise = self.predict(latents, context, timestep.expand(1))
        return self.scheduler.step(noise, timestep, latents, return_dict=False)[0]

    def predict(self, latents: torch.Tensor, context: torch.Tensor | None, timestep: torch.Tensor) -> torch.Tensor:
        """What the transformer says of a block behind its context."""
        seen = latents if context is None else torch.cat([context, latents], dim=2)
        said = self.transformer(seen, timestep=timestep, encoder_hidden_states=self.prompt, return_dict=False)[0]
        return said[:, :, -LATENT_FRAMES:]

    def decode(self, latents: torch.Tensor, is_first: bool) -> torch.Tensor:
        """A block's frames, one latent frame after the other, with the decoder's memory of the ones before."""
        x = self.vae.post_quant_conv(latents)
        frames = []
        for i in range(LATENT_FRAMES):
            first = {"first_chunk": True} if is_first and i == 0 else {}
            one = x[:, :, i : i + 1]
            frames.append(self.vae.decoder(one, feat_cache=self.vae._feat_map, feat_idx=[0], **first))
        return torch.cat(frames, dim=2)


def main() -> None:
    """Generate one clip and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--blocks", type=int, default=3, metavar="N")
    parser.add_argument("--steps", type=int, default=4, metavar="N")
    parser.add_argument("--size", choices=("tiny", "small"), default="tiny")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", type=Path, default=Path("profiling_results", "causal"), metavar="DIR")
    asked = parser.parse_args()
    marey.start(output_dir=str(asked.out))
    loop = CausalLoop(asked.size, seed=0)
    with marey.session("clip-0", seed=asked.seed, steps=asked.steps, blocks=asked.blocks):
        frames = loop.generate(asked.blocks, asked.steps, asked.seed)
    print(f"{frames.shape[2]} frames of {frames.shape[4]} x {frames.shape[3]}")
    marey.get_global_stats().print_summary(top_n=20)
    marey.stop()


if __name__ == "__main__":
    main()
