#!/usr/bin/env python3
"""A causal, block-wise generator on several ranks, with the flags of Self Forcing's profiling guide.

    torchrun --nproc-per-node 2 examples/profiling/self_forcing.py --output_folder out --enable_profiling

Each rank predicts the noise for a prompt of its own, and all_reduce takes the mean of the predictions, so the ranks
make one clip together and meet in each step. The models are the tiny ones of examples/diffusers.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from ranks import add_slow_rank, meeting, work_more

import marey
from marey.cli_args import add_profiling_args

sys.path.insert(0, str(Path(__file__).parents[1] / "diffusers"))

from causal_blocks import CausalLoop


class CausalLoopOfRanks(CausalLoop):
    """The loop, with one prediction of all ranks."""

    def __init__(self, asked: argparse.Namespace) -> None:
        """Make the same models on all ranks."""
        super().__init__(asked.size, seed=0)
        self.asked = asked

    def predict(self, latents: torch.Tensor, context: torch.Tensor | None, timestep: torch.Tensor) -> torch.Tensor:
        """The mean of what the ranks' transformers say."""
        work_more(self.asked)
        noise = super().predict(latents, context, timestep)
        dist.all_reduce(noise)
        return noise / dist.get_world_size()


def parse() -> argparse.Namespace:
    """The command line, and the model's configuration."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--config_path", metavar="FILE", help="YAML with size, blocks and steps (default: tiny, 3, 4)")
    parser.add_argument("--default_config_path", metavar="FILE", help="not used: the model is small")
    parser.add_argument("--checkpoint_path", metavar="FILE", help="weights, of torch.save; default: random ones")
    parser.add_argument("--prompt", default="a fox runs over the snow")
    parser.add_argument("--output_folder", type=Path, required=True, metavar="DIR", help="for the frames")
    parser.add_argument("--use_ema", action="store_true", help="not used: random weights have no average")
    add_slow_rank(parser)
    asked = add_profiling_args(parser).parse_args()
    asked.size, asked.blocks, asked.steps = "tiny", 3, 4
    if asked.config_path:
        import yaml

        for key, value in yaml.safe_load(Path(asked.config_path).read_text()).items():
            setattr(asked, key, value)
    return asked


def main() -> None:
    """Generate one clip on all ranks; rank 0 writes its frames."""
    asked = parse()
    profiler = marey.Profiler(marey.ProfilingConfig.from_args(asked))
    with meeting():
        with profiler.stage("model_initialization"):
            loop = CausalLoopOfRanks(asked)
        if asked.checkpoint_path:
            with profiler.stage("checkpoint_loading"):
                loop.transformer.load_state_dict(torch.load(asked.checkpoint_path, weights_only=True))
        with profiler.session("video_generation", {"rank": dist.get_rank()}):
            loop.prompt = torch.roll(loop.prompt, len(asked.prompt) + dist.get_rank(), dims=1)
            frames = loop.generate(asked.blocks, asked.steps, seed=7)
        if dist.get_rank() == 0:
            asked.output_folder.mkdir(parents=True, exist_ok=True)
            torch.save(frames, asked.output_folder / "frames.pt")
            print(f"{frames.shape[2]} frames in {asked.output_folder}")


if __name__ == "__main__":
    main()
