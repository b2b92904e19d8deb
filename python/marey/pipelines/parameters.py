"""How many parameters a model has, as it was trained: weights that are packed count as what they stand for.

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
from typing import TYPE_CHECKING, Any

from marey.pipelines.patches import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable


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
