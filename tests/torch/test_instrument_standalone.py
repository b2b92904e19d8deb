"""Programs that use models and schedulers of diffusers without a pipeline are recorded by ``marey run`` alone."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

from recorded_pipeline import Recorded
from test_instrument_marey_run import EXAMPLES, capture, run

from interpreter import environment

MODELS = """
import gc, sys, weakref
import torch
from diffusers import AutoencoderKL, ControlNetModel, DDIMScheduler, HeunDiscreteScheduler, UNet2DConditionModel
from transformers import CLIPTextConfig, CLIPTextModel

torch.manual_seed(0)
torch.set_grad_enabled(False)
text_encoder = CLIPTextModel(CLIPTextConfig(
    hidden_size=32, intermediate_size=37, num_attention_heads=4, num_hidden_layers=2, vocab_size=1000,
    bos_token_id=0, eos_token_id=1)).eval()
unet = UNet2DConditionModel(
    block_out_channels=(32, 64), layers_per_block=1, sample_size=8, cross_attention_dim=32,
    down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D")).eval()
vae = AutoencoderKL(
    block_out_channels=[32, 64], down_block_types=["DownEncoderBlock2D"] * 2,
    up_block_types=["UpDecoderBlock2D"] * 2, latent_channels=4).eval()
scheduler = DDIMScheduler()
hidden = torch.zeros(1, 7, 32)

def denoise(denoiser=unet, scheduler=scheduler, n=3, **more):
    scheduler.set_timesteps(n)
    latents = torch.ones(1, 4, 8, 8) * scheduler.init_noise_sigma
    for t in scheduler.timesteps:
        said = denoiser(scheduler.scale_model_input(latents, t), t, hidden, **more).sample
        latents = scheduler.step(said, t, latents).prev_sample
    return latents
"""


def counts(folder: Path, program: str) -> dict[str, int]:
    """Of the sections of the program, without imports and the blocks of models."""
    run(folder, MODELS + textwrap.dedent(program))
    return counted(capture(folder))


def counted(found: Recorded) -> dict[str, int]:
    return {name: n for name, n in found.counts.items() if name != "import" and "block" not in name}


def test_a_loop_of_ones_own_is_recorded_as_one_of_a_pipeline_would_be(tmp_path: Path) -> None:
    """Two calls a step, the decoder after them, and a call of the denoiser that is no step."""
    program = """
    hidden = text_encoder(torch.arange(7).reshape(1, 7)).last_hidden_state
    scheduler.set_timesteps(3)
    latents = torch.ones(1, 4, 8, 8)
    for t in scheduler.timesteps:
        cond, uncond = unet(latents, t, hidden).sample, unet(latents, t, hidden * 0).sample
        latents = scheduler.step(uncond + 3 * (cond - uncond), t, latents).prev_sample
    print(vae.decode(latents).sample.sum(), vae.encode(torch.ones(1, 3, 16, 16)).latent_dist.mean.sum())
    unet(latents, 1, hidden)
    """
    program = MODELS + textwrap.dedent(program)
    recorded, bare = run(tmp_path, program), run(tmp_path, program, under=False)
    assert recorded.stdout == bare.stdout
    found = capture(tmp_path)
    assert {path: n for path, n in found.paths.items() if not path.endswith("import")} == {
        "text_encoder": 1,
        "denoising_step": 3,
        "denoising_step > unet": 6,
        "denoising_step > unet > down_block": 12,
        "denoising_step > unet > mid_block": 6,
        "denoising_step > unet > up_block": 12,
        "denoising_step > scheduler_step": 3,
        "vae_decode": 1,
        "vae_decode > vae_decoder": 1,
        "vae_encode": 1,
        "vae_encode > vae_encoder": 1,
        "unet": 1,
        "unet > down_block": 2,
        "unet > mid_block": 1,
        "unet > up_block": 2,
    }
    calls = [call["attributes"] for call in found.report["section_attributes"]]
    assert [call["timestep"] for call in calls if "timestep" in call] == [666, 333, 0]
    assert found.labels == ["after_text_encoding", "after_denoising", "after_vae_decode", "after_vae_encode"]
    models = found.report["model_analysis"]["models"]
    kinds = {"text_encoder": "CLIPTextModel", "unet": "UNet2DConditionModel", "vae": "AutoencoderKL"}
    assert {name: model["model_type"] for name, model in models.items()} == kinds


def test_training_has_no_steps_and_neither_has_what_follows_a_schedule(tmp_path: Path) -> None:
    program = """
    with torch.enable_grad():
        for t in range(4):
            unet(torch.ones(1, 4, 8, 8), t, hidden).sample.sum().backward()
    denoise(scheduler=HeunDiscreteScheduler())
    unet(torch.ones(1, 4, 8, 8), 0, hidden)
    denoise(n=2)
    """
    assert counts(tmp_path, program) == {"unet": 12, "denoising_step": 5, "scheduler_step": 7}


def test_a_pipeline_takes_over_what_it_gets(tmp_path: Path) -> None:
    """Whether its parts were called before or not, and with a net that only another one of its parts has."""
    program = f"""
    sys.path.insert(0, {str(EXAMPLES)!r})
    from generate import build
    from diffusers import MultiControlNetModel, StableDiffusionControlNetPipeline
    tiny = build("sd", "tiny", seed=0)
    tiny.pipe.unet(torch.ones(1, 4, 8, 8), 1, torch.zeros(1, 7, tiny.pipe.unet.config.cross_attention_dim))
    net = ControlNetModel.from_unet(tiny.pipe.unet, conditioning_embedding_out_channels=(8, 16))
    unet(torch.ones(1, 4, 8, 8), 1, hidden)
    both = MultiControlNetModel([net, ControlNetModel.from_unet(tiny.pipe.unet)])
    parts = {{**tiny.pipe.components, "scheduler": scheduler}}
    print(sorted(vars(unet).keys() & {{"_compiled_call_impl"}}))
    StableDiffusionControlNetPipeline(**{{**parts, "unet": unet, "controlnet": both}})
    print(sorted(type(value).__name__ for value in vars(scheduler).values() if callable(value)))
    print([inner for inner in both.modules() if "_compiled_call_impl" in vars(inner)] == [both])
    """
    done = run(tmp_path, MODELS + textwrap.dedent(program))
    assert done.stdout.splitlines() == ["['_compiled_call_impl']", "['Method', 'Method', 'Method']", "True"]
    assert counted(capture(tmp_path)) == {"unet": 2}


def test_a_modular_pipeline_is_a_session(tmp_path: Path) -> None:
    program = f"""
    sys.path.insert(0, {str(EXAMPLES)!r})
    from generate import build
    from diffusers import FluxAutoBlocks
    tiny = build("flux", "tiny", seed=0)
    pipe = FluxAutoBlocks().init_pipeline()
    known = {{name: part for name, part in tiny.pipe.components.items() if part is not None}}
    pipe.update_components(**known)
    pipe.set_progress_bar_config(disable=True)
    pipe(prompt="a red fox", height=32, width=32, num_inference_steps=3, max_sequence_length=32, output="images")
    """
    run(tmp_path, MODELS + textwrap.dedent(program))
    found = capture(tmp_path)
    assert [session["name"] for session in found.report["sessions"]] == ["FluxModularPipeline"]
    wanted = {"denoising_step": 3, "scheduler_step": 3, "transformer": 3, "vae_decode": 1}
    assert {name: found.counts[name] for name in wanted} == wanted


def test_what_is_put_around_a_model_is_recorded_in_its_place(tmp_path: Path) -> None:
    """``compile()``, ``torch.compile`` and ``DataParallel``; each gives what the bare model gives."""
    program = """
    expected = denoise()
    unet.compile(backend="eager")
    assert (denoise() - expected).abs().max() < 1e-4
    other = UNet2DConditionModel.from_config(unet.config).eval()
    other.load_state_dict(unet.state_dict())
    assert (denoise(torch.compile(other, backend="eager")) - expected).abs().max() < 1e-4
    last = UNet2DConditionModel.from_config(unet.config).eval()
    last.load_state_dict(unet.state_dict())
    assert (denoise(torch.nn.DataParallel(last)) - expected).abs().max() < 1e-4
    print([inner for inner in last.modules() if "_compiled_call_impl" in vars(inner)])
    """
    done = run(tmp_path, MODELS + textwrap.dedent(program))
    assert done.stdout == "[]\n"
    found = {name: n for name, n in counted(capture(tmp_path)).items() if "compile" not in name}
    assert found == {"unet": 6, "unet_2": 6, "denoising_step": 12, "scheduler_step": 12}


def test_models_are_freed_without_the_garbage_collector_and_give_their_names_back(tmp_path: Path) -> None:
    program = """
    gc.disable()
    for _ in range(2):
        more = UNet2DConditionModel.from_config(unet.config).eval()
        fresh = DDIMScheduler()
        denoise(more, fresh)
        references = weakref.ref(more), weakref.ref(fresh)
        del more, fresh
        print([reference() for reference in references])
    """
    done = run(tmp_path, MODELS + textwrap.dedent(program))
    assert done.stdout == "[None, None]\n" * 2
    assert counted(capture(tmp_path))["unet"] == 6


def test_copies_and_pickles_are_bare(tmp_path: Path) -> None:
    program = """
    import copy, pickle
    for part in (unet, scheduler, vae):
        for twin in (copy.deepcopy(part), pickle.loads(pickle.dumps(part))):
            print([key for key in ("_compiled_call_impl", "step", "decode") if key in vars(twin)
                   and "marey" in type(vars(twin)[key]).__module__])
            assert b"marey" not in pickle.dumps(twin)
    denoise()
    """
    done = run(tmp_path, MODELS + textwrap.dedent(program))
    assert set(done.stdout.splitlines()) == {"[]"}


def test_of_models_that_nobody_knows_the_summary_says_what_to_add(tmp_path: Path) -> None:
    """Also of those that are gone by then; largest first, without torch's own."""
    program = """
    import subprocess, sys, torch
    class Small(torch.nn.Module):
        def __init__(self, n=1):
            super().__init__()
            self.layers = torch.nn.Sequential(*[torch.nn.Linear(2, 2) for _ in range(n)])
        def forward(self, x):
            return self.layers(x)
    class Large(Small):
        def __init__(self):
            super().__init__(3)
            self.small = Small()
    def main():
        Small(2)(torch.ones(2)), Large()(torch.ones(2)), torch.nn.Sequential(torch.nn.Linear(2, 2))
    main()
    """
    (tmp_path / "program.py").write_text(textwrap.dedent(program))
    command = [sys.executable, "-m", "marey", "run", "-o", "out", "--", sys.executable, "program.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True)
    assert "It made torch models: Large" in done.stderr, done.stderr
    assert "marey.diffusers.instrument(transformer=model" in done.stderr
    assert counted(capture(tmp_path)) == {}
