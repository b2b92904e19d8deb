#!/usr/bin/env python3
"""A causal, block-wise generator on several ranks, with the flags of Self Forcing's profiling guide.

    torchrun --nproc-per-node 2 examples/profiling/self_forcing.py --output_folder out --enable_profiling

Each rank predicts the noise for a prompt of its own, and all_reduce takes the mean of the predictions, so the ranks
make one clip together and meet in each step; rank 0 delivers each block as soon as it is decoded. The models are the
tiny ones of examples/diffusers.

What `instrument` cannot know of a loop is said by decorators: how many latent frames a step and a block have, what was
delivered, that the clean latents of the block before are a cache.
"""

from __future__ import annotations

import argparse
import resource
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from ranks import add_slow_rank, meeting, work_more

import marey
from marey.cli_args import add_profiling_args
from marey.decorators import (
    add_profiling_event,
    profile_block_computation,
    profile_diffusion_step,
    profile_streaming,
)

sys.path.insert(0, str(Path(__file__).parents[1] / "diffusers"))

from causal_blocks import LATENT_FRAMES, CausalLoop


class CausalLoopOfRanks(CausalLoop):
    """The loop, with one prediction of all ranks."""

    def __init__(self, asked: argparse.Namespace, profiler: marey.Profiler) -> None:
        """Make the same models on all ranks."""
        super().__init__(asked.size, seed=0)
        self.asked = asked
        self._profiler = profiler  # where the decorators look
        self.caches = marey.CacheEventRecorder()

    @add_profiling_event("generation_completed", lambda result, **kwargs: {"output_shape": list(result.shape)})
    def generate(self, blocks: int, steps: int, seed: int) -> torch.Tensor:
        """All frames."""
        for name in ("transformer", "vae"):
            model = getattr(self, name)
            count = sum(weight.numel() for weight in model.parameters())
            self._profiler.record_model_parameters(name, parameters_count=count, model_type=type(model).__name__)
        return super().generate(blocks, steps, seed)

    @profile_block_computation(
        lambda args, kwargs: {"block_index": args[0], "block_size": LATENT_FRAMES, "memory_usage_mb": peak_mib()}
    )
    def make_block(self, number: int, latents: torch.Tensor, context: torch.Tensor | None, steps: int) -> torch.Tensor:
        """One block, behind the clean one before it, which stands for the KV cache of a causal model."""
        if context is None:
            self.caches.record_miss("kv_cache", block=number)
        else:
            self.caches.record_hit("kv_cache", block=number, held_bytes=context.numel() * context.element_size())
        return super().make_block(number, latents, context, steps)

    @profile_diffusion_step(
        lambda args, kwargs: {"step": args[0], "timestep": float(args[1]), "block_size": LATENT_FRAMES}
    )
    def denoise(
        self, step: int, timestep: torch.Tensor, latents: torch.Tensor, context: torch.Tensor | None
    ) -> torch.Tensor:
        """One step of a block."""
        return super().denoise(step, timestep, latents, context)

    def predict(self, latents: torch.Tensor, context: torch.Tensor | None, timestep: torch.Tensor) -> torch.Tensor:
        """The mean of what the ranks' transformers say."""
        work_more(self.asked)
        noise = super().predict(latents, context, timestep)
        dist.all_reduce(noise)
        return noise / dist.get_world_size()

    def decode(self, latents: torch.Tensor, is_first: bool) -> torch.Tensor:
        """A block's frames, delivered by rank 0."""
        with self._profiler.stage("vae_decode"):
            frames = super().decode(latents, is_first)
        if dist.get_rank() == 0:
            self.deliver(frames)
        return frames

    @profile_streaming(lambda args, kwargs: args[0].shape[2])
    def deliver(self, frames: torch.Tensor) -> None:
        """Write what a viewer would get: the newest block."""
        self.asked.output_folder.mkdir(parents=True, exist_ok=True)
        torch.save(frames, self.asked.output_folder / "newest_block.pt")


def peak_mib() -> float:
    """The most memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


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
            loop = CausalLoopOfRanks(asked, profiler)
        if asked.checkpoint_path:
            with profiler.stage("checkpoint_loading"):
                loop.transformer.load_state_dict(torch.load(asked.checkpoint_path, weights_only=True))
        with profiler.session("video_generation", {"rank": dist.get_rank()}):
            loop.prompt = torch.roll(loop.prompt, len(asked.prompt) + dist.get_rank(), dims=1)
            frames = loop.generate(asked.blocks, asked.steps, seed=7)
        if dist.get_rank() == 0:
            torch.save(frames, asked.output_folder / "frames.pt")
            print(f"{frames.shape[2]} frames in {asked.output_folder}")


if __name__ == "__main__":
    main()
