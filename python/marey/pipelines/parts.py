"""What a pipeline is made of, known from the names and the shape of its parts.

A pipeline is anything that has torch modules as attributes: one of diffusers, a class of the user's own, or a mapping.

| role | known from |
|---|---|
| text encoder, image encoder | ``text_encoder``, ``image_encoder`` in the name |
| VAE | it has the methods ``encode`` and ``decode`` |
| denoiser | the name is ``transformer``, ``unet``, ``prior``, …, with or without a number; or the class has one |
| helper of the denoiser | ``controlnet`` in the name |
| scheduler | no module, has ``step`` and ``set_timesteps`` |
| other | any other module |

A model's parameters are counted as it was trained: weights that are packed count as what they stand for.

| weight | packed | what it stands for |
|---|---|---|
| ``Params4bit`` of bitsandbytes | two to a byte | the shape in its ``quant_state`` |
| ``Int8Params`` of bitsandbytes | no | its own shape |
| ``GGUFParameter`` of diffusers, ``GGMLTensor`` of ComfyUI | in blocks of bytes | ``quant_shape``, ``tensor_shape`` |
| tensors of torchao and quanto | inside | their own shape |
| other whole numbers, ``float4`` in pairs, ``qweight`` of GPTQ and its like | in ways of their own | not known |
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from marey.pipelines.modules import unwrapped
from marey.pipelines.patches import kind_of, values_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Role(Enum):
    """What a part does."""

    TEXT_ENCODER = auto()
    IMAGE_ENCODER = auto()
    VAE = auto()
    DENOISER = auto()
    HELPER = auto()
    SCHEDULER = auto()
    OTHER = auto()


class Part(NamedTuple):
    """One part of a pipeline under the name that the pipeline has for it."""

    name: str
    role: Role
    object: Any


_DENOISER = re.compile(
    r"(transformer|unet|dit|denoiser|prior|decoder|generator|backbone|diffusion_model|model)(_?\d+)?"
)
_DENOISER_CLASS = re.compile(r"Transformer[23]D|UNet|DiT")


def parts(pipeline: Any) -> list[Part]:  # noqa: ANN401
    """The parts of a pipeline, in the order in which it has them; each object once."""
    found: list[Part] = []
    seen: set[int] = set()
    for name, value in _attributes(pipeline):
        role = None if id(value) in seen else _role(name, value)
        if role is not None:
            seen.add(id(value))
            found.append(Part(name, role, value))
    return found


def is_module(value: Any) -> bool:  # noqa: ANN401
    """Whether a value is a torch module; False without torch."""
    kind = getattr(getattr(sys.modules.get("torch"), "nn", None), "Module", None)
    return kind is not None and isinstance(value, kind)


def _attributes(pipeline: Any) -> list[tuple[str, Any]]:  # noqa: ANN401
    if isinstance(pipeline, Mapping):
        return [(str(name), value) for name, value in cast("Mapping[Any, Any]", pipeline).items()]
    attributes: dict[str, Any] = dict(values_of(pipeline))
    attributes.update(attributes.pop("_modules", None) or {})
    # A pipeline that is a module itself holds its parts as such; a hidden attribute is nobody's part.
    return [(name, value) for name, value in attributes.items() if not name.startswith("_")]


def _role(name: str, value: Any) -> Role | None:  # noqa: ANN401
    if not is_module(value):
        # Only the class is asked: an attribute of an object can be a property that does something.
        kind = kind_of(value)
        is_scheduler = callable(getattr(kind, "step", None)) and hasattr(kind, "__dict__")
        return Role.SCHEDULER if is_scheduler and (hasattr(kind, "set_timesteps") or "scheduler" in name) else None
    kind = kind_of(unwrapped(value))
    if "text_encoder" in name:
        return Role.TEXT_ENCODER
    if "image_encoder" in name:
        return Role.IMAGE_ENCODER
    if hasattr(kind, "decode") and hasattr(kind, "encode"):
        return Role.VAE
    if "controlnet" in name:
        return Role.HELPER
    if _DENOISER.fullmatch(name) or _DENOISER_CLASS.search(kind.__name__):
        return Role.DENOISER
    return Role.OTHER


def blocks(denoiser: Any) -> list[tuple[str, Any]]:  # noqa: ANN401
    """The repeated blocks of a transformer or a UNet, with the names of their sections.

    These are the items of lists that the model holds directly, or else one module deeper, as far as each item has
    modules and weights of its own; and a block that stands alone (``mid_block``).
    """
    model = unwrapped(denoiser)
    found = list(_blocks_in(model))
    if not found:
        found = [block for child in model.children() for block in _blocks_in(child)]
    return found


def _blocks_in(model: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    module_list = getattr(getattr(sys.modules.get("torch"), "nn", None), "ModuleList", ())
    for name, child in model.named_children():
        if isinstance(child, module_list):
            items = list(child)
            if items and all(_is_block(unwrapped(item)) for item in items):
                yield from ((_singular(name), item) for item in items)
        elif name.endswith("_block") and _is_block(unwrapped(child)):
            yield name, child


def _is_block(module: Any) -> bool:  # noqa: ANN401
    has_children = next(iter(module.children()), None) is not None
    return has_children and next(iter(module.parameters()), None) is not None


def _singular(name: str) -> str:
    name = name.removesuffix("s")
    return "transformer_block" if name == "block" else name


def weights(module: Any) -> list[Any]:  # noqa: ANN401
    """Parameters and buffers, each once."""
    each = [*module.parameters(), *module.buffers()]
    return list({id(tensor): tensor for tensor in each}.values())


def bytes_of(tensors: list[Any]) -> int:
    """What they take where they lie."""
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def parameters_of(module: Any) -> int | None:  # noqa: ANN401
    """The number of a module's parameters; None where that of one is not known."""
    # Where these are, a layer has no weights that are parameters.
    if any(name.rpartition(".")[2] == "qweight" for name, _ in module.named_buffers()):
        return None
    total = 0
    for weight in module.parameters():
        size = _size(weight)
        if size is None:
            return None
        total += size
    return total


def _size(weight: Any) -> int | None:  # noqa: ANN401
    shapes: Iterable[Any] = (
        getattr(getattr(weight, "quant_state", None), "shape", None),
        getattr(weight, "quant_shape", None),
        getattr(weight, "tensor_shape", None),
    )
    for shape in shapes:
        if shape is not None:
            return math.prod(shape)
    is_plain = weight.is_floating_point() or weight.is_complex()
    # float4_e2m1fn_x2 is two numbers.
    is_known = (is_plain and "_x" not in str(weight.dtype)) or kind_of(weight).__name__ == "Int8Params"
    return weight.numel() if is_known else None
