"""Steps, evaluations and guidance of real pipelines are counted as they are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from diffusers import (
    AutoencoderKL,
    ControlNetModel,
    DDIMScheduler,
    FlowMatchEulerDiscreteScheduler,
    HeunDiscreteScheduler,
    KDPM2DiscreteScheduler,
    PNDMScheduler,
    SD3Transformer2DModel,
    StableDiffusion3Pipeline,
    StableDiffusionControlNetPipeline,
    StableDiffusionPAGPipeline,
    UniPCMultistepScheduler,
)
from recorded_pipeline import Recorded, generate, quiet, recorded

import marey.diffusers
from marey import denoising_steps
from marey.pipelines.steps import batch_of, guidance
from marey.pipelines.timesteps import Timesteps

STEPS = 4


def timesteps(found: Recorded) -> list[float]:
    """Of the scheduler's steps, in order."""
    calls = found.report["section_attributes"]
    return [call["attributes"]["timestep"] for call in calls if "timestep" in call["attributes"]]


def stable_diffusion(kind: Any = None, **more: Any) -> Any:
    """The tiny one, or another class with its parts."""
    tiny = quiet("sd")
    if kind is not None:
        tiny.pipe = kind(**tiny.pipe.components, **more)
        tiny.pipe.set_progress_bar_config(disable=True)
    marey.diffusers.instrument(tiny.pipe)
    return tiny


def controlnet() -> Any:
    """A net whose picture is as large as the clip, and as deep as the UNet."""
    net = ControlNetModel.from_unet(quiet("sd").pipe.unet, conditioning_embedding_out_channels=(8, 16))
    return stable_diffusion(StableDiffusionControlNetPipeline, controlnet=net)


def shown_by_top() -> tuple[int | None, int | None]:
    """Which step of how many it says that this process is at."""
    top = [sys.executable, "-m", "marey", "top", "--once", "--json", "--interval", "0.1", str(os.getpid())]
    shown = json.loads(subprocess.run(top, capture_output=True, check=True).stdout)
    generation = shown["processes"][0]["generation"]
    return generation.get("schedule_made"), generation.get("schedule_steps")


@pytest.mark.parametrize(
    ("scheduler", "expected"),
    [
        (DDIMScheduler, [(1, 4), (2, 4), (3, 4), (4, 4)]),
        # Two evaluations a step, but for the last one; a callback after each.
        (HeunDiscreteScheduler, [(None, None), (1, 4), (1, 4), (2, 4), (2, 4), (3, 4), (4, 4)]),
    ],
)
def test_who_watches_sees_which_step_of_how_many_it_is(
    scheduler: Any, expected: list[tuple[int | None, int | None]], tmp_path: Path
) -> None:
    tiny = quiet("sd")
    tiny.pipe.scheduler = scheduler.from_config(tiny.pipe.scheduler.config)
    marey.diffusers.instrument(tiny.pipe)
    seen: list[tuple[int | None, int | None]] = []

    def look(_pipe: Any, _step: int, _timestep: Any, values: dict[str, Any]) -> dict[str, Any]:
        seen.append(shown_by_top())
        return values

    def work() -> None:
        generate(tiny, STEPS, callback_on_step_end=look)
        seen.append(shown_by_top())

    recorded(tmp_path, work)
    assert seen == [*expected, (None, None)], "of what is over there is none"


def said(found: Recorded) -> list[dict[str, Any]]:
    return [event["data"] for event in found.events("guidance")]


DOUBLED = {"how": "one call with a doubled batch", "calls_per_step": 1, "batch_factor": 2}
TRIPLED = {"how": "one call with a tripled batch", "calls_per_step": 1, "batch_factor": 3}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [({}, [DOUBLED]), ({"num_images_per_prompt": 3}, [DOUBLED]), ({"guidance_scale": 1.0}, [])],
)
def test_a_controlnet_is_no_second_call_of_the_denoiser(
    arguments: dict[str, Any], expected: list[dict[str, Any]], tmp_path: Path
) -> None:
    """In each step the net and the UNet are called once.

    denoising_step  |-----------------------------------|
      controlnet      |------|
      unet                     |------|
      scheduler_step                    |--|
    """
    tiny = controlnet()
    image = torch.rand(1, 3, 32, 32)
    found = recorded(tmp_path, lambda: generate(tiny, STEPS, image=image, **arguments))
    assert said(found) == expected
    names = ("denoising_step", "controlnet", "unet", "scheduler_step")
    assert [found.counts[name] for name in names] == [STEPS] * 4
    assert found.paths["denoising_step > controlnet"] == found.paths["denoising_step > unet"] == STEPS


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        # unconditional, conditional, perturbed
        ({}, [TRIPLED]),
        # conditional, perturbed
        ({"guidance_scale": 0.0}, [DOUBLED]),
        ({"pag_scale": 0.0}, [DOUBLED]),
        ({"pag_scale": 0.0, "guidance_scale": 0.0}, []),
    ],
)
def test_perturbed_attention_is_one_more_batch(
    arguments: dict[str, Any], expected: list[dict[str, Any]], tmp_path: Path
) -> None:
    tiny = stable_diffusion(StableDiffusionPAGPipeline, pag_applied_layers="mid")
    found = recorded(tmp_path, lambda: generate(tiny, STEPS, **arguments))
    assert said(found) == expected
    assert found.paths["denoising_step > unet"] == STEPS


@pytest.mark.parametrize(("scale", "expected"), [(5.0, [DOUBLED]), (1.0, [])])
def test_stable_diffusion_3_doubles_its_batch(scale: float, expected: list[Any], tmp_path: Path) -> None:
    torch.manual_seed(0)
    transformer = SD3Transformer2DModel(
        sample_size=8,
        patch_size=1,
        in_channels=4,
        num_layers=1,
        attention_head_dim=8,
        num_attention_heads=2,
        joint_attention_dim=16,
        caption_projection_dim=16,
        pooled_projection_dim=16,
        out_channels=4,
    )
    pipe = StableDiffusion3Pipeline(
        transformer=transformer.eval(),
        scheduler=FlowMatchEulerDiscreteScheduler(),
        vae=AutoencoderKL(block_out_channels=(4,), norm_num_groups=4).eval(),
        **dict.fromkeys(f"{part}{n}" for part in ("text_encoder", "tokenizer") for n in ("", "_2", "_3")),
    )
    pipe.set_progress_bar_config(disable=True)
    marey.diffusers.instrument(pipe)
    prompts = {
        f"{negative}{pooled}prompt_embeds": torch.zeros(1, *shape, 16)
        for negative in ("", "negative_")
        for pooled, shape in (("", (3,)), ("pooled_", ()))
    }
    work = lambda: pipe(  # noqa: E731
        **prompts, num_inference_steps=STEPS, guidance_scale=scale, height=8, width=8, output_type="latent"
    )
    assert said(recorded(tmp_path, work)) == expected


def test_flux_with_guidance_beside_its_own_opens_two_passes(tmp_path: Path) -> None:
    """Their names say it, and each holds one call."""
    tiny = quiet("flux")
    marey.diffusers.instrument(tiny.pipe)
    found = recorded(tmp_path, lambda: generate(tiny, STEPS, negative_prompt="a dog", true_cfg_scale=4.0))
    step = "denoising_step"
    passes = [found.paths[f"{step} > {name}_pass > transformer"] for name in ("cond", "uncond")]
    assert (found.paths[step], passes, said(found)) == (STEPS, [STEPS, STEPS], [])


@pytest.mark.parametrize(
    ("batches", "samples", "is_on", "expected"),
    [
        ([2], 1, True, DOUBLED),
        ([4, 4], 4, True, {"how": "separate calls", "calls_per_step": 2, "batch_factor": 1}),
        # The pipeline says nothing of guidance, and may have two denoisers.
        ([4, 4], 4, False, None),
        ([12], 3, False, {"how": "one call with a 4-fold batch", "calls_per_step": 1, "batch_factor": 4}),
        # An input of the model.
        ([1], 1, True, None),
        # What the scheduler got is not known, or no part of the batch.
        ([2], None, True, {"how": "one call", "calls_per_step": 1}),
        ([3], 2, True, {"how": "one call", "calls_per_step": 1}),
        ([None, 2], 2, True, {"how": "separate calls", "calls_per_step": 2}),
        ([], 1, True, None),
    ],
)
def test_guidance_is_told_by_the_batches(
    batches: list[int | None], samples: int | None, is_on: bool, expected: dict[str, Any] | None
) -> None:
    assert guidance(batches, samples, is_on) == expected


@pytest.mark.parametrize("kind", [HeunDiscreteScheduler, KDPM2DiscreteScheduler])
def test_a_step_of_two_evaluations_is_one(kind: Any, tmp_path: Path) -> None:
    """Four steps are seven evaluations, of which the last step has one.

    denoising_step  |-------| |-------| |-------| |---|
      unet            |-| |-|   |-| |-|   |-| |-|   |-|
    """
    tiny, told = quiet("sd"), []
    tiny.pipe.scheduler = kind.from_config(tiny.pipe.scheduler.config)
    marey.diffusers.instrument(tiny.pipe)
    leave = denoising_steps.listen(lambda: told.append(1))
    found = recorded(tmp_path, lambda: [generate(tiny, STEPS), generate(tiny, 1)])
    leave()
    assert found.paths["denoising_step"] == len(told) == 4 + 1
    names = ("unet", "scheduler_step")
    assert [found.paths[f"denoising_step > {name}"] for name in names] == [7 + 1] * 2
    assert "unet" not in found.paths
    assert said(found) == [DOUBLED] * 2
    # Nothing of what follows the last step lies in it.
    assert found.paths["vae_decode"] == 2


def test_a_step_that_fails_in_its_second_evaluation_is_the_one_that_failed(tmp_path: Path) -> None:
    tiny, calls = quiet("sd"), []
    tiny.pipe.scheduler = HeunDiscreteScheduler.from_config(tiny.pipe.scheduler.config)
    marey.diffusers.instrument(tiny.pipe)
    forward = tiny.pipe.unet.forward

    def fail_in_the_fourth(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        if len(calls) == 4:
            raise RuntimeError
        return forward(*args, **kwargs)

    def work() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tiny.pipe.unet, "forward", fail_in_the_fourth)
            with pytest.raises(RuntimeError):
                generate(tiny, STEPS)
        generate(tiny, 2)

    found = recorded(tmp_path, work)
    (steps,) = [row for row in found.report["sections"] if row["name"] == "denoising_step"]
    assert (steps["count"], steps["errors"]) == (2 + 2, 1)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        # 1000 steps of training in quarters, and one on.
        (lambda config: DDIMScheduler.from_config(config), [751, 501, 251, 1]),
        # The multistep method begins with a step back: five evaluations.
        (lambda config: PNDMScheduler.from_config(config, skip_prk_steps=True), [751, 501, 501, 251, 1]),
        # Each but the first is where one step ends and the next begins.
        (
            lambda config: HeunDiscreteScheduler.from_config(config, timestep_spacing="leading"),
            [751, 501, 501, 251, 251, 1, 1],
        ),
    ],
)
def test_the_time_step_stands_with_the_schedulers_step(
    make: Callable[[Any], Any], expected: list[float], tmp_path: Path
) -> None:
    tiny = quiet("sd")
    tiny.pipe.scheduler = make(tiny.pipe.scheduler.config)
    marey.diffusers.instrument(tiny.pipe)
    assert timesteps(recorded(tmp_path, lambda: generate(tiny, STEPS))) == expected


class Sets:
    """A scheduler of diffusers under ``Timesteps``, on a device that nothing can be read from."""

    def __init__(self, device: str, **how: Any) -> None:
        self.scheduler = DDIMScheduler(**how)
        self.known = Timesteps()
        self.known.set(self.scheduler.set_timesteps, (STEPS,), {"device": device})

    def of(self, timesteps: Any) -> list[float | None]:
        return [self.known.of(timestep) for timestep in timesteps]


def test_time_steps_on_a_device_are_known_without_reading_them() -> None:
    """As a pipeline goes over them: all, behind the first with strength below 1, and one for each sample."""
    sets = Sets("meta")
    theirs = sets.scheduler.timesteps
    assert theirs.device.type == "meta"
    assert sets.of(theirs) == [750.0, 500.0, 250.0, 0.0]
    assert sets.of(theirs[2:]) == [250.0, 0.0]
    assert sets.of([theirs[1].expand(1), theirs[1:2]]) == [500.0, 500.0]
    assert sets.of([theirs, theirs[1].expand(2), None, "t"]) == [None] * 4
    assert sets.of([3, 2.5, torch.tensor(7)]) == [3.0, 2.5, 7.0]
    sets.known.set(sets.scheduler.set_timesteps, (2, "meta"), {})
    assert sets.of(sets.scheduler.timesteps) == [500.0, 0.0]


def test_what_is_made_on_the_host_is_not_made_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    original = DDIMScheduler.set_timesteps
    monkeypatch.setattr(
        DDIMScheduler, "set_timesteps", lambda self, *a, **kw: calls.append(1) or original(self, *a, **kw)
    )
    assert Sets("cpu").of([torch.tensor([3])]) == [3.0]
    assert calls == [1]


def test_a_scheduler_that_works_on_its_device_only_tells_no_time_steps() -> None:
    known = Timesteps()

    class Elsewhere:
        def set_timesteps(self, n: int, device: str) -> int:
            if device == "cpu":
                raise ValueError("not here")
            self.timesteps = torch.empty(n, device=device)
            return n

    elsewhere = Elsewhere()
    assert known.set(elsewhere.set_timesteps, (2,), {"device": "meta"}) == 2
    assert known.of(elsewhere.timesteps[0]) is None


def test_what_a_scheduler_has_inside_is_left_on_its_device() -> None:
    """A solver with a predictor of its own: what is asked of the copy reaches it, too."""
    inner = DDIMScheduler()
    scheduler = UniPCMultistepScheduler(solver_p=inner)
    known = Timesteps()
    known.set(scheduler.set_timesteps, (STEPS,), {"device": "meta"})
    assert inner.timesteps.device.type == "meta"
    assert known.of(scheduler.timesteps[0]) == 999.0


def test_what_a_program_asks_wrongly_fails_as_it_would() -> None:
    with pytest.raises(TypeError, match="steps_of_mine"):
        Timesteps().set(DDIMScheduler().set_timesteps, (), {"steps_of_mine": 3})


class _Shaped:
    """Something that calls what it likes its shape."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape


@pytest.mark.parametrize("shape", ["text", 4, {"height": 4}, (None, 2), (), len, float("nan"), object()])
def test_what_has_an_odd_shape_is_passed_on(shape: Any) -> None:
    assert batch_of((_Shaped(shape),), {}) is None
    assert batch_of((_Shaped(shape), torch.ones(3, 2)), {}) == 3


def test_a_tensor_that_has_no_size_is_passed_on() -> None:
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    assert batch_of((nested,), {"x": torch.ones(2, 2)}) == 2
