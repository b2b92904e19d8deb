"""What ``marey.diffusers.instrument`` records of real pipelines is what they do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from recorded_pipeline import generate, quiet, recorded

import marey.diffusers

STEPS = 3


def test_flux_calls_its_transformer_once_a_step(tmp_path: Path) -> None:
    """Guidance is an input there; the pipeline opens one pass, which it calls conditional. 1 + 2 blocks."""
    tiny = quiet("flux")
    marey.diffusers.instrument(tiny.pipe)
    found = recorded(tmp_path, lambda: generate(tiny, STEPS))
    step = "denoising_step"
    assert found.paths == {
        "text_encoding": 1,
        "text_encoding > text_encoder": 1,
        "text_encoding > text_encoder_2": 1,
        step: STEPS,
        f"{step} > cond_pass": STEPS,
        f"{step} > cond_pass > transformer": STEPS,
        f"{step} > cond_pass > transformer > transformer_block": STEPS * 1,
        f"{step} > cond_pass > transformer > single_transformer_block": STEPS * 2,
        f"{step} > scheduler_step": STEPS,
        "vae_decode": 1,
        "vae_decode > vae_decoder": 1,
    }


def test_wan_calls_it_twice_a_step_and_its_decoder_for_each_latent_frame(tmp_path: Path) -> None:
    """5 frames are 2 latent ones; the prompt and the empty one are encoded one after the other; 2 blocks."""
    tiny = quiet("wan")
    marey.diffusers.instrument(tiny.pipe)
    found = recorded(tmp_path, lambda: generate(tiny, STEPS))
    step = "denoising_step"
    assert found.paths == {
        "text_encoding": 1,
        "text_encoding > text_encoder": 2,
        step: STEPS,
        f"{step} > cond_pass": STEPS,
        f"{step} > cond_pass > transformer": STEPS,
        f"{step} > cond_pass > transformer > transformer_block": STEPS * 2,
        f"{step} > uncond_pass": STEPS,
        f"{step} > uncond_pass > transformer": STEPS,
        f"{step} > uncond_pass > transformer > transformer_block": STEPS * 2,
        f"{step} > scheduler_step": STEPS,
        "vae_decode": 1,
        "vae_decode > vae_decoder": 2,
    }
    assert found.events("guidance") == []


def test_stable_diffusion_guides_in_one_call_and_that_is_said(tmp_path: Path) -> None:
    """A UNet of two levels: two blocks down, one in the middle, two up."""
    tiny = quiet("sd")
    marey.diffusers.instrument(tiny.pipe)
    found = recorded(tmp_path, lambda: generate(tiny, STEPS))
    step = "denoising_step"
    assert found.paths == {
        "text_encoding": 1,
        "text_encoding > text_encoder": 2,
        step: STEPS,
        f"{step} > unet": STEPS,
        f"{step} > unet > down_block": STEPS * 2,
        f"{step} > unet > mid_block": STEPS,
        f"{step} > unet > up_block": STEPS * 2,
        f"{step} > scheduler_step": STEPS,
        "vae_decode": 1,
        "vae_decode > vae_decoder": 1,
    }
    (guidance,) = found.events("guidance")
    assert guidance["data"] == {"how": "one call with a doubled batch", "calls_per_step": 1, "batch_factor": 2}


def test_without_guidance_nothing_is_said_of_it(tmp_path: Path) -> None:
    """A scale of 1 switches it off in Stable Diffusion."""
    tiny = quiet("sd")
    marey.diffusers.instrument(tiny.pipe)
    found = recorded(tmp_path, lambda: generate(tiny, STEPS, guidance_scale=1.0))
    assert found.events("guidance") == []


def test_framepack_goes_round_for_each_section_of_frames(tmp_path: Path) -> None:
    """9 frames in windows of 2 latent ones: two rounds of 2 steps, each with a VAE decode behind it.

    The second one decodes 5 latent frames, in tiles of 4 of which one begins every 3. The pipeline opens no passes.
    """
    from tiny_framepack import framepack, generate_frames

    pipe = framepack()
    marey.diffusers.instrument(pipe)
    found = recorded(tmp_path, lambda: generate_frames(pipe, steps=2))
    assert found.counts == {
        "text_encoding": 1,
        "text_encoder": 1,
        "text_encoder_2": 1,
        "image_encoding": 1,
        "image_encoder": 1,
        "vae_encode": 1,
        "vae_encoder": 1,
        "denoising_step": 4,
        "transformer": 4,
        "transformer_block": 4,
        "single_transformer_block": 4,
        "scheduler_step": 4,
        "vae_decode": 2,
        "vae_decoder": 1 + 2,
    }
    # A latent frame is the first one or four more; 2 in the first decode, 5 in the second.
    assert [event["data"]["frames"] for event in found.events("frames_decoded")] == [1 + 4, 1 + 4 * 4]
    assert found.labels == [
        "after_text_encoding",
        "after_image_encoding",
        "after_vae_encode",
        *["after_denoising", "after_vae_decode"] * 2,
    ]


@pytest.mark.parametrize(
    ("kind", "arguments", "expected"),
    [
        ("wan", {}, [("vae_decode", 5)]),
        ("wan", {"num_frames": 9, "num_videos_per_prompt": 2}, [("vae_decode", 2 * 9)]),
        # Frames are 4k + 1, and the pipeline rounds what it is asked for.
        ("wan", {"num_frames": 7}, [("vae_decode", 5)]),
        ("sd", {"num_images_per_prompt": 3}, [("vae_decode", 3)]),
        ("flux", {"output_type": "latent"}, []),
    ],
)
def test_frames_are_counted_where_they_are_decoded(
    kind: str, arguments: dict[str, Any], expected: list[tuple[str, int]], tmp_path: Path
) -> None:
    """An image is a frame."""
    tiny = quiet(kind)
    marey.diffusers.instrument(tiny.pipe)
    found = recorded(tmp_path, lambda: generate(tiny, 1, **arguments))
    assert [tuple(event["data"].values()) for event in found.events("frames_decoded")] == expected


def test_blocks_can_be_left_out(tmp_path: Path) -> None:
    tiny = quiet("flux")
    marey.diffusers.instrument(tiny.pipe, blocks=False)
    found = recorded(tmp_path, lambda: generate(tiny, STEPS))
    assert not [name for name in found.counts if "block" in name]
    assert found.counts["transformer"] == STEPS


def test_each_tile_of_a_tiled_decode_is_a_call_of_the_decoder(tmp_path: Path) -> None:
    """A latent of 16 x 16 in tiles of 8 with an overlap of a quarter: rows and columns begin at 0, 6 and 12."""
    tiny = quiet("sd")
    vae = tiny.pipe.vae
    vae.enable_tiling()
    vae.tile_sample_min_size, vae.tile_latent_min_size = 16, 8
    instrumented = marey.diffusers.instrument(vae=vae)
    found = recorded(tmp_path, lambda: vae.decode(torch.zeros(1, 4, 16, 16)))
    instrumented.undo()
    assert found.paths == {
        "vae_decode": 1,
        "vae_decode > vae_tiled_decode": 1,
        "vae_decode > vae_tiled_decode > vae_decoder": 9,
    }


def test_memory_is_read_after_each_stage(tmp_path: Path) -> None:
    tiny = quiet("wan")
    marey.diffusers.instrument(tiny.pipe)
    found = recorded(tmp_path, lambda: generate(tiny, STEPS))
    assert found.labels == ["after_text_encoding", "after_denoising", "after_vae_decode"]


def test_a_generation_that_ends_with_latents_has_a_reading_after_denoising(tmp_path: Path) -> None:
    tiny = quiet("wan")
    marey.diffusers.instrument(tiny.pipe)
    found = recorded(tmp_path, lambda: generate(tiny, STEPS, output_type="latent"))
    assert found.labels == ["after_text_encoding", "after_denoising"]
    assert "vae_decode" not in found.counts


def test_each_generation_is_a_session_with_its_numbers_and_without_its_prompt(tmp_path: Path) -> None:
    """Steps, size, frames and guidance are tags; models are counted by component."""
    tiny = quiet("wan")
    marey.diffusers.instrument(tiny.pipe)
    found = recorded(tmp_path, lambda: [generate(tiny, steps) for steps in (1, 2)])
    sessions = found.report["sessions"]
    assert [session["name"] for session in sessions] == ["WanPipeline", "WanPipeline"]
    expected = {"pipeline": "WanPipeline", "height": 32, "width": 32, "frames": 5, "guidance": 5.0}
    assert [session["tags"] for session in sessions] == [{"steps": 1, **expected}, {"steps": 2, **expected}]
    assert "red fox" not in str(found.report)
    models = found.report["model_analysis"]["models"]
    assert {name: model["parameters_count"] for name, model in models.items()} == {
        name: sum(weight.numel() for weight in getattr(tiny.pipe, name).parameters())
        for name in ("text_encoder", "transformer", "vae")
    }


def test_a_pipeline_of_an_unknown_class_gets_its_modules(tmp_path: Path) -> None:
    """A class that diffusers does not know, with a scheduler of its own, and a call that is none."""

    class Scheduler:
        def set_timesteps(self, n: int) -> None:
            self.n = n

        def step(self, x: torch.Tensor) -> torch.Tensor:
            return x / 2

    class Home:
        def __init__(self) -> None:
            layer = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
            self.denoiser = torch.nn.Sequential()
            self.denoiser.layers = torch.nn.ModuleList([layer])
            self.denoiser.forward = lambda x: layer(x)
            self.upsampler = torch.nn.Linear(4, 8)
            self.scheduler = Scheduler()

        def __call__(self, num_inference_steps: int = 2) -> torch.Tensor:
            x = torch.ones(1, 4)
            for _ in range(num_inference_steps):
                x = self.scheduler.step(self.denoiser(x))
            return self.upsampler(x)

    home = Home()
    with marey.diffusers.instrument(home):
        found = recorded(tmp_path, home)
    assert found.paths == {
        "denoising_step": 2,
        "denoising_step > denoiser": 2,
        "denoising_step > denoiser > layer": 2,
        "denoising_step > scheduler_step": 2,
        "upsampler": 1,
    }
    assert [session["tags"] for session in found.report["sessions"]] == [{"pipeline": "Home", "steps": 2}]


def test_parts_can_be_given_one_by_one_or_in_a_mapping(tmp_path: Path) -> None:
    tiny = quiet("flux")
    pipe = tiny.pipe
    with marey.diffusers.instrument(transformer=pipe.transformer), marey.diffusers.instrument({"decoder_of": pipe.vae}):
        found = recorded(tmp_path, lambda: generate(tiny, STEPS))
    assert found.counts["transformer"] == STEPS
    assert found.counts["decoder_of_decode"] == 1
    assert "text_encoder" not in found.counts
    assert found.report["sessions"] == []


def test_parts_that_come_later_are_found_at_the_next_call(tmp_path: Path) -> None:
    """A VAE and a scheduler that are put in the place of others."""
    tiny, other = quiet("flux"), quiet("flux")
    marey.diffusers.instrument(tiny.pipe)
    tiny.pipe.vae, tiny.pipe.scheduler = other.pipe.vae, other.pipe.scheduler
    found = recorded(tmp_path, lambda: generate(tiny, STEPS))
    assert (found.counts["vae_decode"], found.counts["scheduler_step"]) == (1, STEPS)


@pytest.mark.parametrize("pipe", [None, 7, "pipeline", object(), {}, {"vae": None}, [1]])
def test_what_is_no_pipeline_is_left_alone(pipe: object) -> None:
    marey.diffusers.instrument(pipe).undo()


def test_a_call_of_the_denoiser_outside_of_a_generation_is_no_step(tmp_path: Path) -> None:
    """A warm-up by hand opens no turn that nothing would end, and nothing of the generation lies in it."""
    tiny = quiet("sd")
    unet = tiny.pipe.unet
    marey.diffusers.instrument(tiny.pipe)

    def work() -> None:
        with torch.no_grad():
            unet(torch.zeros(1, 4, 16, 16), 1, torch.zeros(1, 32, 32))
        generate(tiny, STEPS)

    found = recorded(tmp_path, work)
    assert (found.paths["unet"], found.paths["denoising_step > unet"]) == (1, STEPS)
    assert found.paths["text_encoding"] == 1


def test_an_object_whose_attributes_do_things_is_not_asked_for_them(tmp_path: Path) -> None:
    """A part that connects to somewhere when it is looked at."""
    asked = []

    class Remote:
        def __getattr__(self, name: str) -> object:
            asked.append(name)
            raise ConnectionError(name)

    tiny = quiet("sd")
    tiny.pipe.remote = Remote()
    marey.diffusers.instrument(tiny.pipe)
    found = recorded(tmp_path, lambda: generate(tiny, STEPS))
    assert found.counts["unet"] == STEPS
    assert [name for name in asked if not name.startswith("__")] == []


@pytest.mark.skipif(torch.cuda.is_available(), reason="its weights are on the CPU, and it is replicated to GPUs")
def test_a_replicated_model_is_recorded_from_outside(tmp_path: Path) -> None:
    """Its replicas get the ``__dict__`` of the original, so nothing may be in there that calls the original."""
    tiny = quiet("sd")
    marey.diffusers.instrument(tiny.pipe)
    unet = tiny.pipe.unet
    assert "_compiled_call_impl" in vars(unet.mid_block)
    parallel = torch.nn.DataParallel(unet)
    parallel.config, parallel.dtype, parallel.device = unet.config, unet.dtype, unet.device
    tiny.pipe.unet = parallel
    found = recorded(tmp_path, lambda: generate(tiny, STEPS))
    assert found.counts["unet"] == found.counts["denoising_step"] == STEPS
    assert not any("_compiled_call_impl" in vars(module) for module in unet.modules())
    assert [event["data"]["reason"] for event in found.events("blocks_not_recorded")] == ["the module is replicated"]
