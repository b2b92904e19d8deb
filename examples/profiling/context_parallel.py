#!/usr/bin/env python3
"""Attention over a sequence that is cut over ranks, in both usual ways.

    torchrun --nproc-per-node 4 examples/profiling/context_parallel.py --how all_to_all --steps 8 --slow-rank 2

`all_gather`: each rank has its tokens' queries and fetches the keys and values of all. `all_to_all`: tokens are
exchanged for heads, each rank attends with some heads over the whole sequence, and they are exchanged back. The result
is the same, and does not depend on the number of ranks. Prints it on rank 0.
"""

from __future__ import annotations

import argparse

import torch
import torch.distributed as dist
from ranks import add_slow_rank, meeting, work_more

import marey

TOKENS, HEADS, WIDTH = 128, 8, 16


def by_gathering(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Attention of this rank's queries to all keys; tensors are (heads, tokens of the rank, width)."""
    with marey.profile_section("attention"):
        return torch.nn.functional.scaled_dot_product_attention(q, _of_all(k), _of_all(v))


def by_exchange(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """The same, with this rank's heads over all tokens in between."""
    whole = [_heads_for_tokens(x) for x in (q, k, v)]
    with marey.profile_section("attention"):
        attended = torch.nn.functional.scaled_dot_product_attention(*whole)
    return _tokens_for_heads(attended)


def _of_all(x: torch.Tensor) -> torch.Tensor:
    parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, x.contiguous())
    return torch.cat(parts, dim=1)


def _heads_for_tokens(x: torch.Tensor) -> torch.Tensor:
    size = dist.get_world_size()
    given = x.contiguous()  # the heads of rank 0, of rank 1, …
    taken = torch.empty_like(given)
    dist.all_to_all_single(taken, given)
    return torch.cat(taken.chunk(size, dim=0), dim=1)


def _tokens_for_heads(x: torch.Tensor) -> torch.Tensor:
    size = dist.get_world_size()
    given = torch.cat(x.chunk(size, dim=1), dim=0).contiguous()
    taken = torch.empty_like(given)
    dist.all_to_all_single(taken, given)
    return taken


@torch.no_grad()
def generate(asked: argparse.Namespace) -> torch.Tensor:
    """Sum of all latents after all steps."""
    attend = by_gathering if asked.how == "all_gather" else by_exchange
    whole = torch.randn(HEADS, TOKENS, WIDTH, generator=torch.Generator().manual_seed(7))
    latents = whole.chunk(dist.get_world_size(), dim=1)[dist.get_rank()]
    steps = marey.IterationProfiler("denoising_step")
    for _ in range(asked.steps):
        with steps.iteration():
            work_more(asked)
            latents = latents - 0.1 * attend(latents, latents, latents)
    total = latents.double().sum()
    dist.all_reduce(total)
    return total


def main() -> None:
    """Generate once on all ranks."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--steps", type=int, default=8, metavar="N")
    parser.add_argument("--how", choices=("all_gather", "all_to_all"), default="all_gather")
    parser.add_argument("--out", metavar="DIR", help="record into this folder, default: as the environment says")
    add_slow_rank(parser)
    asked = parser.parse_args()
    if asked.out:
        marey.start(asked.out)
    with meeting():
        if HEADS % dist.get_world_size():
            parser.error(f"the number of ranks must divide {HEADS}")
        total = generate(asked)
        if dist.get_rank() == 0:
            print(f"{total:.4f}")


if __name__ == "__main__":
    main()
