#!/usr/bin/env python3
"""A transformer's linear layers cut over ranks: each computes a part of every layer, and all_reduce adds them up.

    torchrun --nproc-per-node 4 examples/profiling/tensor_parallel.py --steps 8 --slow-rank 2

The result does not depend on the number of ranks. Prints it on rank 0.
"""

from __future__ import annotations

import argparse

import torch
import torch.distributed as dist
from ranks import add_slow_rank, meeting, work_more

import marey

WIDTH, HIDDEN, TOKENS = 64, 256, 32


class ParallelMlp:
    """Two linear layers: the first cut by rows, the second by columns, so that one sum per layer is enough."""

    def __init__(self, seed: int) -> None:
        """This rank's part of weights that are the same for any number of ranks."""
        generator = torch.Generator().manual_seed(seed)
        up = torch.randn(HIDDEN, WIDTH, generator=generator) / WIDTH**0.5
        down = torch.randn(WIDTH, HIDDEN, generator=generator) / HIDDEN**0.5
        rank, size = dist.get_rank(), dist.get_world_size()
        self.up = up.chunk(size, dim=0)[rank]
        self.down = down.chunk(size, dim=1)[rank]

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """What the whole layer makes of x, on all ranks."""
        with marey.profile_section("linear"):
            part = torch.relu(x @ self.up.T) @ self.down.T
        dist.all_reduce(part)
        return x + part


@torch.no_grad()
def generate(asked: argparse.Namespace) -> torch.Tensor:
    """Latents after all steps."""
    layers = [ParallelMlp(seed) for seed in range(asked.layers)]
    latents = torch.randn(TOKENS, WIDTH, generator=torch.Generator().manual_seed(7))
    steps = marey.IterationProfiler("denoising_step")
    for _ in range(asked.steps):
        with steps.iteration():
            work_more(asked)
            predicted = latents
            for layer in layers:
                predicted = layer(predicted)
            latents = latents - 0.1 * torch.tanh(predicted)
    return latents


def main() -> None:
    """Generate once on all ranks."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--steps", type=int, default=8, metavar="N")
    parser.add_argument("--layers", type=int, default=4, metavar="N")
    parser.add_argument("--out", metavar="DIR", help="record into this folder, default: as the environment says")
    add_slow_rank(parser)
    asked = parser.parse_args()
    if asked.out:
        marey.start(asked.out)
    with meeting():
        latents = generate(asked)
        if dist.get_rank() == 0:
            print(f"{latents.sum():.4f}")


if __name__ == "__main__":
    main()
