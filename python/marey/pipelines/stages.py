"""What of each part of a pipeline becomes a section.

| part | sections |
|---|---|
| ``encode_prompt``, ``encode_image`` of the pipeline | ``text_encoding``, ``image_encoding`` |
| encoders | their names (``text_encoder_2``) |
| denoisers and their helpers | ``cond_pass``, ``uncond_pass``; in them their names (``transformer``), their blocks' |
| VAE | ``vae_encode``, ``vae_decode``; in them ``vae_tiled_decode``, ``vae_decoder`` for each tile or chunk of frames |
| scheduler | ``scheduler_step``, with its time step |
| any other module | its name |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from marey import _core, work_device
from marey.pipelines.modules import hook, is_compiled, is_hooked, is_replicated, unhook, unwrapped
from marey.pipelines.parts import Role, blocks, is_module
from marey.pipelines.patches import owner_of
from marey.pipelines.steps import guidance_pass, in_stage, in_turn, scheduler_step
from marey.pipelines.timesteps import Timesteps

if TYPE_CHECKING:
    from collections.abc import Callable

    from marey.pipelines.parts import Part
    from marey.pipelines.patches import Around, Call, Patches


def hook_pipeline(patches: Patches, pipeline: Any) -> None:  # noqa: ANN401
    """The stages that a pipeline has methods for."""
    if hasattr(pipeline, "__dict__"):
        for method, stage in (("encode_prompt", "text_encoding"), ("encode_image", "image_encoding")):
            patches.wrap(pipeline, method, in_stage(stage, f"after_{stage}"))


class Asked(NamedTuple):
    """What is recorded of a pipeline."""

    blocks: bool
    is_turn: Callable[[], bool] | None
    """Whether a denoiser that is called now takes a step; None where there is no scheduler to end one."""


def hook_part(patches: Patches, part: Part, asked: Asked) -> None:
    """One part; what is recorded already stays as it is."""
    name, role, module = part
    if role is not Role.SCHEDULER:
        leave_inside(module)
    if role is Role.SCHEDULER:
        timesteps = Timesteps()
        patches.wrap(module, "set_timesteps", timesteps.set)
        patches.wrap(module, "step", scheduler_step(module, timesteps))
    elif role is Role.TEXT_ENCODER:
        hook(patches, module, name, in_stage(name, "after_text_encoding"))
    elif role is Role.IMAGE_ENCODER:
        hook(patches, module, name, in_stage(name, "after_image_encoding"))
    elif role is Role.VAE:
        _hook_vae(patches, name, unwrapped(module))
    elif role is Role.OTHER:
        hook(patches, module, name)
    else:
        _hook_denoiser(patches, part, asked)


def leave_inside(module: Any) -> None:  # noqa: ANN401
    """Take out what would be called for another module than the one that it was put into.

    A compiled module holds the user's; replicas of ``DataParallel`` get what is in the original.
    """
    if unwrapped(module) is not module:
        unhook(unwrapped(module))
    if is_replicated(module):
        for inner in module.module.modules():
            unhook(inner)


def _hook_denoiser(patches: Patches, part: Part, asked: Asked) -> None:
    name, role, module = part
    is_new = not is_hooked(module)
    with_blocks = asked.blocks and role is Role.DENOISER

    is_turn = asked.is_turn
    hook(patches, module, name, None if is_turn is None else in_turn(name, is_turn, role is Role.HELPER))
    patches.wrap(unwrapped(module), "cache_context", guidance_pass(is_turn or bool))
    if with_blocks and not is_compiled(module) and not is_replicated(module):
        for block_name, block in blocks(module):
            hook(patches, block, block_name)
    elif with_blocks and is_new:
        how = "replicated" if is_replicated(module) else "compiled as a whole"
        _core.event("blocks_not_recorded", component=name, reason=f"the module is {how}")


def _hook_vae(patches: Patches, name: str, vae: Any) -> None:  # noqa: ANN401
    for method in ("encode", "decode"):
        stage = f"{name}_{method}"
        patches.wrap(vae, method, in_stage(stage, f"after_{stage}", is_decoding=method == "decode"))
        patches.wrap(vae, f"tiled_{method}", in_section(f"{name}_tiled_{method}"))
    for child in ("encoder", "decoder"):
        module = getattr(vae, child, None)
        if is_module(module):
            hook(patches, module, f"{name}_{child}")


def in_section(name: str) -> Around:
    """A section of this name around each call of a method."""

    def around(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        with work_device.of(owner_of(call)), _core.profile_section(name):
            return call(*args, **kwargs)

    return around
