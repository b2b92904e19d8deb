"""A recorded pipeline gives the same frames, raises the same errors and looks the same as a bare one."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from generation import time_the_denoiser
from recorded_clip import RecordedClip

import marey

if TYPE_CHECKING:
    from tiny_pipeline import TinyPipeline


def test_frames_are_the_same_to_the_bit_with_and_without_recording(
    build: Callable[[], TinyPipeline], tmp_path: Path
) -> None:
    """Recorder on, recorder off, and the pipeline called without any section give one and the same clip."""
    bare = build()
    latents = bare.denoise(bare.encode("a red fox"), 3, 7, lambda _pipe, _step, _time, tensors: tensors)
    expected = bare.decode(latents)
    assert expected.std() > 0.05

    marey.stop()
    marey.get_global_stats().clear()
    unrecorded = RecordedClip.generate(build(), tmp_path / "off", steps=3)
    assert unrecorded.sections == {}

    marey.start(output_dir=str(tmp_path / "recording"))
    recorded = RecordedClip.generate(build(), tmp_path / "on", steps=3)
    another = RecordedClip.generate(build(), tmp_path / "another", steps=3, seed=8)
    marey.stop()
    marey.get_global_stats().clear()
    assert recorded.sections["denoising"]["count"] == 1

    assert np.array_equal(unrecorded.frames, expected)
    assert np.array_equal(recorded.frames, expected)
    assert not np.array_equal(another.frames, expected)
    for path in sorted((tmp_path / "off").iterdir()):
        assert path.read_bytes() == (tmp_path / "on" / path.name).read_bytes()


@pytest.mark.usefixtures("recording")
def test_error_of_the_denoiser_arrives_as_it_was_raised(build: Callable[[], TinyPipeline], tmp_path: Path) -> None:
    """The very exception object comes out, and the sections that it passed through are closed and counted."""
    tiny, error, calls = build(), RuntimeError("no memory left for this step"), []
    forward = tiny.denoiser.forward

    def forward_that_fails_in_the_second_call(*args: object, **keywords: object) -> object:
        calls.append(len(calls))
        if len(calls) == 2:
            raise error
        return forward(*args, **keywords)

    tiny.denoiser.forward = forward_that_fails_in_the_second_call
    with pytest.raises(RuntimeError) as caught:
        RecordedClip.generate(tiny, tmp_path / "frames", steps=3)
    assert caught.value is error
    counts = {name: stats["count"] for name, stats in marey.get_global_stats().get_all_stats().items()}
    assert counts == {"text_encoding": 1, "denoising": 1, "transformer_forward": 2}


@pytest.mark.usefixtures("recording")
def test_wrapped_denoiser_looks_like_the_bare_one(build: Callable[[], TinyPipeline]) -> None:
    """Diffusers and its hooks inspect signatures; a wrapped model keeps its own, its name and its docstring."""
    tiny = build()
    bare = tiny.denoiser.forward
    time_the_denoiser(tiny)
    wrapped = tiny.denoiser.forward
    assert wrapped is not bare
    assert inspect.signature(wrapped) == inspect.signature(bare)
    assert (wrapped.__name__, wrapped.__doc__) == (bare.__name__, bare.__doc__)


@pytest.mark.usefixtures("recording")
def test_random_numbers_of_the_program_are_not_used_up(tmp_path: Path) -> None:
    """Programs that seed globally get the same numbers with sections, iterations and readings between the draws."""

    def states() -> tuple[object, ...]:
        return random.getstate(), torch.get_rng_state().tolist(), np.random.get_state()[1].tolist()

    before = states()
    iterations, memory = marey.IterationProfiler("diffusion_step"), marey.MemoryTracker()
    with marey.session("clip-0", seed=7):
        for step in range(3):
            with iterations.iteration(), marey.profile_section("work", step=step):
                memory.snapshot("inside")
    marey.export_profiling_report(str(tmp_path / "report"), memory_tracker=memory, iteration_profiler=iterations)
    assert states() == before


@pytest.mark.usefixtures("recording")
def test_section_keeps_grad_mode_and_autocast_as_they_are() -> None:
    """What torch keeps for a thread is not touched by entering and leaving a section."""
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        with marey.profile_section("inside"):
            assert torch.is_inference_mode_enabled()
            assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.bfloat16
        assert torch.is_inference_mode_enabled()
    assert not torch.is_inference_mode_enabled()
