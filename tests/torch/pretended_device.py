"""Tensors that say that they are on another device, and are on the CPU."""

from __future__ import annotations

from typing import Any

import torch

_MOVES = (torch.Tensor.to, torch.Tensor.cuda, torch.Tensor.cpu)


class Pretended(torch.Tensor):
    """A tensor with a device of its own choice, which it hands on to what is made of it."""

    where = torch.device("cpu")

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Answer for the device; do everything else on the CPU."""
        kwargs = kwargs or {}
        tensor = args[0] if isinstance(args[0], Pretended) else next(a for a in args if isinstance(a, Pretended))
        if function == torch.Tensor.device.__get__:
            return tensor.where
        where = tensor.where
        if function in _MOVES:
            where, args, kwargs = _target(function, tensor, args, kwargs)
            function = torch.Tensor.to
        result = super().__torch_function__(function, types, args, kwargs)
        if function == torch.Tensor.data.__set__:
            tensor.where = args[1].where
        if isinstance(result, Pretended):
            result.where = where
        return result


def _target(function: Any, tensor: Pretended, args: Any, kwargs: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """The device of a move, and the move without it."""
    if function is torch.Tensor.cpu:
        return torch.device("cpu"), (tensor, tensor.dtype), {"copy": True}
    if function is torch.Tensor.cuda:
        return torch.device("cuda", 0), (tensor, tensor.dtype), {"copy": True}
    device, dtype, *_ = torch._C._nn._parse_to(*args[1:], **kwargs)
    return device or tensor.where, (tensor, dtype or tensor.dtype), {"copy": True}


def pretend(model: torch.nn.Module) -> torch.nn.Module:
    """Let all tensors of a model choose their device."""
    for module in model.modules():
        for name, weight in module._parameters.items():
            module._parameters[name] = torch.nn.Parameter(weight.data.as_subclass(Pretended))
        for name, buffer in module._buffers.items():
            module._buffers[name] = buffer.as_subclass(Pretended)
    return model
