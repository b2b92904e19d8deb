"""Quantised weights count as many parameters as they stand for."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from marey.pipelines.parts import parameters_of


class Packed(torch.nn.Parameter):
    """A weight of bytes, as libraries make them: a tensor with attributes."""

    def __new__(cls, n: int, *_shape: int, dtype: torch.dtype = torch.uint8) -> Any:
        return super().__new__(cls, torch.zeros(n, dtype=dtype), requires_grad=False)


class Params4bit(Packed):
    """bitsandbytes: two weights to a byte, and the shape beside them once they are packed."""

    def __init__(self, _n: int, *shape: int) -> None:
        self.quant_state = SimpleNamespace(shape=torch.Size(shape), dtype=torch.bfloat16) if shape else None


class Int8Params(Packed):
    """bitsandbytes: a weight is a byte."""

    def __new__(cls, n: int) -> Any:
        return super().__new__(cls, n, dtype=torch.int8)


class GGMLTensor(Packed):
    """ComfyUI's: the shape of what it was made of."""

    def __init__(self, _n: int, *shape: int) -> None:
        self.tensor_shape = torch.Size(shape)


class Logical(torch.Tensor):
    """As torchao and quanto make them: the shape and type of what was quantised, and 4 bits inside."""

    @staticmethod
    def __new__(cls, *shape: int) -> Any:
        return torch.Tensor._make_wrapper_subclass(cls, shape, dtype=torch.bfloat16)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return args[0] if func is torch.ops.aten.detach.default else NotImplemented


def gguf() -> Any:
    """diffusers' own class; Q8_0 has 34 bytes for 32 weights. 2 rows of 64 weights are 2 x 68 bytes."""
    from diffusers.quantizers.gguf.utils import GGUFParameter

    return GGUFParameter(torch.zeros(2, 68, dtype=torch.uint8), quant_type=8)


def like_gguf() -> Any:
    """What it has where the library is not there."""
    weight = Packed(136)
    weight.quant_type, weight.quant_shape = 8, (2, 64)
    return weight


def holder(*weights: Any) -> torch.nn.Module:
    module = torch.nn.Module()
    for number, weight in enumerate(weights):
        module.register_parameter(f"weight_{number}", weight)
    return module


def plain(*shape: int) -> torch.nn.Parameter:
    return torch.nn.Parameter(torch.zeros(*shape))


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: plain(3, 5), 15),
        (lambda: Params4bit(60, 10, 12), 120),
        # An odd number of weights has half a byte over.
        (lambda: Params4bit(8, 3, 5), 15),
        (lambda: Params4bit(8), None),
        (lambda: Int8Params(12), 12),
        (like_gguf, 128),
        *([(gguf, 128)] if find_spec("gguf") else []),
        (lambda: GGMLTensor(18, 4, 8), 32),
        (lambda: torch.nn.Parameter(Logical(6, 7), requires_grad=False), 42),
        (lambda: torch.nn.Parameter(torch.zeros(4, 4).to(torch.float8_e4m3fn), requires_grad=False), 16),
        # Packed by somebody who does not say how.
        (lambda: Packed(9), None),
        (lambda: Packed(9, dtype=torch.int32), None),
    ],
)
def test_a_weight_counts_what_it_stands_for(make: Callable[[], Any], expected: int | None) -> None:
    weight = make()
    assert parameters_of(holder(weight)) == expected
    beside = None if expected is None else expected + 8
    assert parameters_of(holder(plain(2, 4), weight)) == beside


def test_a_weight_of_a_full_precision_that_is_to_be_packed_is_one_of_its_own() -> None:
    """bitsandbytes packs when the model goes to the device."""
    weight = Params4bit(15)
    weight.data = torch.zeros(3, 5, dtype=torch.bfloat16)
    assert parameters_of(holder(weight)) == 15


def test_weights_in_two_places_are_counted_once() -> None:
    weight = plain(4)
    assert parameters_of(holder(weight, weight)) == 4


def test_layers_that_keep_packed_weights_in_buffers_have_no_number() -> None:
    """GPTQ and its like: what is left as parameters would be the biases alone."""
    layer = torch.nn.Module()
    layer.register_buffer("qweight", torch.zeros(4, 8, dtype=torch.int32))
    layer.bias = plain(8)
    assert parameters_of(torch.nn.Sequential(torch.nn.Linear(2, 2), layer)) is None
