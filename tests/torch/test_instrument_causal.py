"""The causal example, which is no pipeline of diffusers, is recorded block by block."""

from __future__ import annotations

from pathlib import Path

import torch
from recorded_pipeline import recorded

BLOCKS, STEPS = 3, 2


def test_steps_of_each_block_are_told_from_the_pass_that_commits_it(tmp_path: Path) -> None:
    """3 blocks of 3 latent frames, 2 steps and one more pass each; the transformer has 2 blocks of its own."""
    from causal_blocks import LATENT_FRAMES, CausalLoop

    loop, frames = CausalLoop("tiny", seed=0), []
    found = recorded(tmp_path, lambda: frames.append(loop.generate(BLOCKS, STEPS, seed=7)))
    step, commit = "block > denoising_step", "block > kv_cache_commit"
    assert found.paths == {
        "block": BLOCKS,
        step: BLOCKS * STEPS,
        f"{step} > transformer": BLOCKS * STEPS,
        f"{step} > transformer > transformer_block": BLOCKS * STEPS * 2,
        f"{step} > scheduler_step": BLOCKS * STEPS,
        commit: BLOCKS,
        f"{commit} > transformer": BLOCKS,
        f"{commit} > transformer > transformer_block": BLOCKS * 2,
        "block > vae_decoder": BLOCKS * LATENT_FRAMES,
    }
    # The first latent frame is one frame, each of the 8 others four.
    assert frames[0].shape == (1, 3, 1 + 8 * 4, 32, 32)
    loop.instrumented.undo()
    assert torch.equal(loop.generate(BLOCKS, STEPS, seed=7), frames[0])


def test_the_report_knows_its_blocks_and_steps(tmp_path: Path) -> None:
    """What questions about generation make of the names."""
    from causal_blocks import CausalLoop

    loop = CausalLoop("tiny", seed=0)
    found = recorded(tmp_path, lambda: loop.generate(BLOCKS, STEPS, seed=7))
    assert found.report["diffusion_analysis"]["total_steps"] == BLOCKS * STEPS
    assert found.report["block_analysis"]["total_blocks"] == BLOCKS
