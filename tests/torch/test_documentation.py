"""Pages of the documentation whose programs need torch and diffusers: each runs, on the CPU, with tiny models."""

from __future__ import annotations

from pathlib import Path

import pytest

from documented import OF_TORCH, ROOT, Reader

# What pages call pipe, model and so on: a tiny Stable Diffusion.
PRELUDE = f"""
import os, sys
os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.append({str(ROOT / "examples/diffusers")!r})
import torch
from tiny_stable_diffusion import TinyStableDiffusion

class Denoiser(torch.nn.Module):
    def forward(self, block, timestep):
        return block

pipe = TinyStableDiffusion("tiny", 0).pipe
model, block, zero = Denoiser(), torch.zeros(1, 4, 8, 8), torch.zeros(1)
transformer, vae, scheduler = pipe.unet, pipe.vae, pipe.scheduler
latents = torch.zeros(1, transformer.config.in_channels, 8, 8)
prompt = torch.zeros(1, 77, transformer.config.cross_attention_dim)
"""
# The program that pages call pipeline.py and generate.py: to import diffusers takes longer than all else.
GENERATE = """
import marey
import torch

model, latents = torch.nn.Linear(64, 64), torch.zeros(16, 64)
steps = marey.IterationProfiler("denoising_step")
for _ in range(8):
    with steps.iteration(), torch.no_grad():
        latents = model(latents)
"""


@pytest.mark.parametrize("page", sorted(OF_TORCH))
def test_a_page_does_what_it_says(page: str, tmp_path: Path) -> None:
    reader = Reader(tmp_path / "home", prelude=PRELUDE if "diffusers" in page else "")
    reader.prepare()
    for name in ("pipeline.py", "generate.py"):
        (reader.folder / name).write_text(GENERATE)
    reader.follow(page)
