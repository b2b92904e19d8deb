"""What the examples of several ranks share: how they meet, and a rank that is slower than the others."""

from __future__ import annotations

import argparse
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch
import torch.distributed as dist

import marey
import marey.distributed

if TYPE_CHECKING:
    from collections.abc import Iterator

# A product of matrices of this size takes some milliseconds on one core.
SLOW_SIZE = 256


def add_slow_rank(parser: argparse.ArgumentParser) -> None:
    """Flags for a rank that has more to compute than the others."""
    parser.add_argument("--slow-rank", type=int, metavar="R", help="a rank that computes more in each step")
    parser.add_argument("--slow-ms", type=float, default=20.0, metavar="MS", help="for how long, default: %(default)s")


@contextmanager
def meeting() -> Iterator[None]:
    """All ranks of torchrun together, or this process alone; recorded."""
    if "RANK" not in os.environ:
        os.environ.update(RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="29500")
    marey.distributed.instrument()
    dist.init_process_group("gloo")
    try:
        yield
        dist.barrier()
    finally:
        dist.destroy_process_group()


def work_more(asked: argparse.Namespace) -> None:
    """On the slow rank: real work for the time asked for. On others nothing."""
    if dist.get_rank() != asked.slow_rank:
        return
    with marey.profile_section("more_work"):
        stopwatch = _cpu_seconds()
        x = torch.ones(SLOW_SIZE, SLOW_SIZE)
        while _cpu_seconds() - stopwatch < asked.slow_ms / 1000:
            x = torch.tanh(x @ x)


def _cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system
