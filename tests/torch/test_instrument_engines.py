"""xDiT, sglang-diffusion and vLLM-Omni are recorded by ``marey run`` alone.

The classes that run pipelines are the engines' own (``scripts/torch-env/engines.txt``); the models are the tiny ones of
the examples, and what the engines import beside (kernels, servers, vLLM itself) is stood in for: no engine has a
device here, and each has one process.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from test_instrument_marey_run import EXAMPLES, capture, run
from test_instrument_standalone import counted

HEAD = f"""
import os, sys, types
sys.path[:0] = [{str(EXAMPLES)!r}, {str(Path(__file__).parent)!r}]
import torch, torch._inductor.config, diffusers
from absent_packages import stand_in, without_init
from generate import build
tiny = build("flux", "tiny", seed=0)
tiny.pipe.set_progress_bar_config(disable=True)
parts = {{name: part for name, part in tiny.pipe.components.items() if part is not None}}
torch.set_grad_enabled(False)

def encode(prompt):
    return type(tiny.pipe).encode_prompt(tiny.pipe, prompt, prompt, max_sequence_length=32)

def no_scheduler(timesteps):
    return types.SimpleNamespace(
        timesteps=timesteps, step=lambda said, t, latents: types.SimpleNamespace(prev_sample=said))

def denoise(scheduler, transformer, encoded, step=lambda i: open(os.devnull)):
    text, pooled, ids = encoded
    latents = torch.ones(1, 4, 16)
    for i, t in enumerate(scheduler.timesteps):
        with step(i):
            said = transformer(
                hidden_states=latents, timestep=t.expand(1) / 1000, pooled_projections=pooled, guidance=torch.ones(1),
                encoder_hidden_states=text, txt_ids=ids, img_ids=torch.zeros(4, 3)).sample
            latents = scheduler.step(said, t, latents).prev_sample
    return latents
"""

PARTS = {"transformer": 3, "scheduler_step": 3, "denoising_step": 3, "vae_decode": 1, "vae_decoder": 1}
ENCODERS = {"text_encoder": 1, "text_encoder_2": 1}


def generated(folder: Path, program: str) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """How often each section was there, and the sessions."""
    run(folder, HEAD + textwrap.dedent(program))
    found = capture(folder)
    assert found.events("not_instrumented") == []
    counts = {name: n for name, n in counted(found).items() if name != "init_process_group"}
    return counts, [{"name": session["name"], **session["tags"]} for session in found.report["sessions"]]


WRAPPED = """
stand_in("distvae einops triton")
from xfuser.model_executor.pipelines.pipeline_flux import xFuserFluxPipeline
from xfuser.core.distributed import init_distributed_environment
import xfuser.envs
torch.version.cuda = None  # Of a torch that has CUDA xDiT expects a device.
xfuser.envs.get_torch_distributed_backend = lambda: "gloo"
torch.distributed.init_process_group("gloo", rank=0, world_size=1, store=torch.distributed.HashStore())
os.environ["LOCAL_RANK"] = "0"
init_distributed_environment()
engine, _ = xfuser.xFuserArgs(model="tiny").create_config()
pipe = xFuserFluxPipeline(tiny.pipe, engine)

def generate():
    return pipe(
        prompt="a red fox", height=32, width=32, num_inference_steps=3, max_sequence_length=32,
        output_type="pt", generator=torch.Generator().manual_seed(7))[0].sum()

"""


def test_a_wrapper_of_xdit_is_a_pipeline_whether_it_runs_the_loop_or_the_pipeline_does(tmp_path: Path) -> None:
    """On one GPU it calls the pipeline (``use_naive_forward``), else it runs its own loop: here in one process, too."""
    counts, sessions = generated(
        tmp_path,
        WRAPPED
        + """
by_the_pipeline = generate()
xFuserFluxPipeline.use_naive_forward = lambda _self: False
assert generate() == by_the_pipeline
""",
    )
    twice = {name: 2 * n for name, n in {**PARTS, **ENCODERS, "text_encoding": 1}.items()}
    # The pipeline names its one pass of guidance, the wrapper does not.
    assert counts == {**twice, "cond_pass": 3}
    asked = {"steps": 3, "height": 32, "width": 32, "guidance": 3.5}
    assert sessions == [{"name": "xFuserFluxPipeline", "pipeline": "xFuserFluxPipeline", **asked}] * 2


def test_what_was_asked_of_a_pipeline_is_asked_of_its_wrapper_of_xdit_and_taken_back_with_it(tmp_path: Path) -> None:
    """No blocks, one part more; and after ``undo`` the second generation is nobody's."""
    program = f"""
import marey.diffusers
marey.diffusers.instrument(tiny.pipe).undo()
upscaler = torch.nn.Linear(2, 2)
mine = marey.diffusers.instrument(tiny.pipe, blocks=False, upscaler=upscaler)
{WRAPPED}
kind = type(tiny.pipe), xFuserFluxPipeline
assert marey.diffusers.instrument(pipe) is marey.diffusers.instrument(tiny.pipe) is mine
generate(), upscaler(torch.ones(2))
mine.undo()
assert (type(tiny.pipe), type(pipe)) == kind
assert not [key for each in (tiny.pipe, pipe) for key in vars(each) if "marey" in key]
generate(), upscaler(torch.ones(2))
"""
    run(tmp_path, HEAD + program)
    found = capture(tmp_path)
    assert not [name for name in found.counts if "block" in name]
    assert (found.counts["transformer"], found.counts["upscaler"], len(found.report["sessions"])) == (3, 1, 1)


def test_a_pipeline_of_sglang_has_its_stages_and_the_steps_that_no_scheduler_takes(tmp_path: Path) -> None:
    """The second request is one of a group and of a distilled model: its steps are the stage's, without a scheduler."""
    counts, sessions = generated(
        tmp_path,
        """
        without_init("sglang")
        multimodal = "sglang.multimodal_gen.runtime"
        stand_in("IPython addict dateutil einops imageio msgspec pybase64 zmq")
        stand_in("sglang.srt sglang.kernels sglang.jit_kernel")
        stand_in(" ".join(f"{multimodal}.{name}" for name in "layers loader models pipelines_core.lora".split()))
        from sglang.multimodal_gen.runtime.pipelines_core import composed_pipeline_base
        from sglang.multimodal_gen.runtime.pipelines_core.stages.base import PipelineStage, logger
        from sglang.multimodal_gen.runtime.utils.perf_logger import StageProfiler

        class Stage(PipelineStage):
            __init__ = lambda self, modules: self.__dict__.update(modules=modules, server_args=None)
            _apply_nvtx_gate = lambda self, is_warmup: None

        class EncodingStage(Stage):
            def forward(self, batch, server_args):
                batch.encoded = encode("a red fox")
                return batch

        class DenoisingStage(Stage):
            def forward(self, batch, server_args):
                scheduler = self.modules["scheduler"]
                scheduler.set_timesteps(batch.num_inference_steps, mu=1.0)
                if not batch.height:
                    scheduler = no_scheduler(scheduler.timesteps)
                denoise(scheduler, self.modules["transformer"], batch.encoded,
                        lambda i: StageProfiler(f"denoising_step_{i}", logger, None, record_as_step=True))
                return batch

        class DecodingStage(Stage):
            def forward(self, batch, server_args):
                batch.decoded = self.modules["vae"].decode(torch.ones(1, 4, 4, 4)).sample
                return batch

        class Executor:
            def execute_with_profiling(self, stages, batch, server_args):
                for stage in stages:
                    batch = stage(batch, server_args)
                return batch

            def execute_group_with_profiling(self, stages, batches, server_args):
                return [self.execute_with_profiling(stages, batch, server_args) for batch in batches]

        class TinyPipeline(composed_pipeline_base.ComposedPipelineBase):
            is_lora_set = lambda self: False
            load_modules = lambda self, server_args, loaded: parts
            _install_component_residency_manager = lambda self, server_args: None

            def create_pipeline_stages(self, server_args):
                self.add_stages([kind(self.modules) for kind in (EncodingStage, DenoisingStage, DecodingStage)])

        from sglang.multimodal_gen.runtime.disaggregation.roles import RoleType
        server_args = types.SimpleNamespace(disagg_role=RoleType.MONOLITHIC, comfyui_mode=False)
        composed_pipeline_base.is_comfyui_mode = lambda server_args: False

        def request(**asked):
            return types.SimpleNamespace(
                sampling_params=types.SimpleNamespace(num_inference_steps=3, prompt="a red fox", **asked),
                is_warmup=True, suppress_logs=True, metrics=None, perf_dump_path=None, num_inference_steps=3, **asked)

        pipe = TinyPipeline("tiny", server_args, executor=Executor())
        pipe.forward(request(height=32, width=48), server_args)
        assert len(pipe.forward_batch([request(height=0), request(height=32)], server_args)) == 2
        """,
    )
    stages = {f"{name}Stage": 3 for name in ("Encoding", "Denoising", "Decoding")}
    assert counts == {**{name: 3 * n for name, n in {**PARTS, **ENCODERS}.items()}, **stages, "scheduler_step": 6}
    assert sessions == [
        {"name": "TinyPipeline", "pipeline": "TinyPipeline", "steps": 3, "height": 32, "width": 48},
        {"name": "TinyPipeline", "pipeline": "TinyPipeline", "steps": 3, "height": 0},
    ]


def test_a_pipeline_of_vllm_omni_is_recorded_by_request_and_by_step(tmp_path: Path) -> None:
    """The second request is one of those whose steps the server schedules: then the pipeline has no call for it.

    Its scheduler is a copy, as that of each request; windows learn of its steps all the same.
    """
    counts, sessions = generated(
        tmp_path,
        """
        without_init("vllm_omni")
        stand_in("vllm vllm_omni.distributed vllm_omni.platforms vllm_omni.quantization")
        stand_in(" ".join("vllm_omni.diffusion." + name for name in
                          "attention cache distributed model_loader registry offloader diffusion_kv".split()))
        from unittest.mock import MagicMock
        from vllm_omni.diffusion.request import OmniDiffusionRequest
        from vllm_omni.diffusion.worker import diffusion_model_runner as runners

        class TinyPipeline(torch.nn.Module):
            def __init__(self):
                super().__init__()
                for name, part in parts.items():
                    setattr(self, name, part)

            def encode_prompt(self, prompt):
                return encode(prompt)

            def forward(self, batch):
                encoded = self.encode_prompt(batch.requests[0].prompt)
                self.scheduler.set_timesteps(batch.sampling_params.num_inference_steps, mu=1.0)
                denoise(self.scheduler, self.transformer, encoded)
                return runners.DiffusionOutput(output=self.vae.decode(torch.ones(1, 4, 4, 4)).sample)

            def prepare_encode(self, state):
                self.scheduler.set_timesteps(3, mu=1.0)
                self._of_request = copy.deepcopy(self.scheduler)
                return self.encode_prompt("a red fox")

            def denoise_step(self, input_batch):
                return denoise(no_scheduler([torch.ones(())]), self.transformer, input_batch)

            def step_scheduler(self, state, said):
                self._of_request.step(said, self._of_request.timesteps[state], said)

            def post_decode(self, state):
                return self.vae.decode(torch.ones(1, 4, 4, 4)).sample

        class Runner(runners.DiffusionModelRunner):
            init_omni_connectors = _maybe_send_stage_payload = lambda self, *args, **kwargs: None
            _validate_diffusion_kv_metadata = _prepare_request_for_forward = init_omni_connectors

        import copy
        from marey import denoising_steps
        ended = []
        denoising_steps.listen(lambda: ended.append("step"))
        pipe = TinyPipeline().eval()
        config = MagicMock(
            enforce_eager=True, cache_backend=None, enable_prompt_embed_cache=False, step_execution=False,
            streaming_output=False, kv_transfer_config=None, enable_cache_dit_summary=False)
        runners.DiffusersPipelineLoader = lambda *_, **__: types.SimpleNamespace(load_model=lambda **_: pipe)
        runners.DeviceMemoryProfiler, runners.GiB_bytes = MagicMock, 1
        runners.resolve_prompt_embed_cache_config = lambda **_: (False, 0)
        runners.enable_offload_backend = lambda config, pipeline, *_, **__: (pipeline, None)
        runners.current_omni_platform = MagicMock()
        runners.InteractionCoordinator = MagicMock()
        runners.get_cache_backend = lambda *_: None
        runner = Runner(MagicMock(), config, torch.device("cpu"))
        runner.load_model()
        params = MagicMock(num_inference_steps=3, height=32, width=32, guidance_scale=1.0, num_frames=1)
        runner._sample_peak_memory_mb = lambda: 0.0
        assert runner.execute_model(OmniDiffusionRequest("a red fox", params, "1")).error is None
        encoded = pipe.prepare_encode(None)
        for i in range(3):
            pipe.step_scheduler(i, pipe.denoise_step(encoded))
        pipe.post_decode(None)
        assert len(ended) == 6
        """,
    )
    in_steps = {"prepare_encode": 1, "step_scheduler": 3, "post_decode": 1, "scheduler_step": 3, "text_encoding": 2}
    assert counts == {**{name: 2 * n for name, n in {**PARTS, **ENCODERS}.items()}, **in_steps}
    asked = {"steps": 3, "height": 32, "width": 32, "guidance": 1.0, "frames": 1}
    assert sessions == [{"name": "TinyPipeline", "pipeline": "TinyPipeline", **asked}]
