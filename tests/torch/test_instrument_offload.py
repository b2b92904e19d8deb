"""Moves of weights are sections with the bytes that moved, and nothing else is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from accelerate import cpu_offload_with_hook
from accelerate.hooks import AlignDevicesHook, CpuOffload, add_hook_to_module
from diffusers.hooks import apply_group_offloading
from pretended_device import Pretended, pretend
from recorded_pipeline import Recorded, quiet, recorded

import marey.diffusers

# 4 x 4 weights and 4 biases of 4 bytes, and a buffer of 3 times 8.
BYTES = (16 + 4) * 4 + 3 * 8


WAYS = (("onload", "h2d"), ("offload", "d2h"))


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.register_buffer("positions", torch.arange(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)


def moves(found: Recorded) -> list[tuple[str, int, str]]:
    """Name, bytes and direction of each move."""
    names = {row["id"]: row["name"] for row in found.report["sections"]}
    given = [(names[call["section"]], call["attributes"]) for call in found.report["section_attributes"]]
    return [(name, about["bytes"], about["direction"]) for name, about in given if "direction" in about]


def on_pretended_cuda(folder: Path, work: Any) -> Recorded:
    """A model whose tensors say that they are on whatever device they are told to be."""
    model = pretend(Model())
    with marey.diffusers.instrument(transformer=model):
        return recorded(folder, lambda: work(model))


@pytest.mark.parametrize("way", [lambda m: m.to("cuda"), lambda m: m.cuda(), lambda m: m.to(torch.device("cuda", 0))])
def test_a_model_that_goes_to_the_device_is_onloaded(way: Any, tmp_path: Path) -> None:
    found = on_pretended_cuda(tmp_path, way)
    assert moves(found) == [("onload_transformer", BYTES, "h2d")]


def test_there_and_back_and_once_more(tmp_path: Path) -> None:
    """A move to where it is already moves nothing, nor does another type on the same device."""

    def work(model: Model) -> None:
        model.to("cuda").to("cuda").half().float()
        model.to("cpu").cpu().double()

    found = on_pretended_cuda(tmp_path, work)
    assert moves(found) == [("onload_transformer", BYTES, "h2d"), ("offload_transformer", BYTES, "d2h")]


def test_only_what_lies_elsewhere_is_counted(tmp_path: Path) -> None:
    """The buffer is on the device already."""

    def work(model: Model) -> None:
        model.positions = model.positions.to("cuda")
        model.to("cuda")

    found = on_pretended_cuda(tmp_path, work)
    assert moves(found) == [("onload_transformer", BYTES - 3 * 8, "h2d")]


def test_between_two_devices_it_is_neither(tmp_path: Path) -> None:
    found = on_pretended_cuda(tmp_path, lambda model: model.to("cuda:0").to("cuda:1"))
    assert moves(found)[1] == ("transformer_to_device", BYTES, "d2d")


def test_the_host_alone_and_tensors_without_data_move_nothing(tmp_path: Path) -> None:
    tiny = quiet("flux")
    marey.diffusers.instrument(tiny.pipe)

    def work() -> None:
        tiny.pipe.to("cpu").to(torch.float64).to(torch.float32)
        tiny.pipe.vae.to("meta")

    found = recorded(tmp_path, work)
    assert found.counts == {}


def test_model_offload_of_accelerate_brings_one_and_sends_the_one_before_away(tmp_path: Path) -> None:
    """``enable_model_cpu_offload`` puts these hooks in: text encoder, then transformer, then both back.

    encoder(x)       onload encoder
    transformer(x)   offload encoder, onload transformer
    offload()        offload transformer
    """
    encoder, transformer = pretend(Model()), pretend(Model())
    with marey.diffusers.instrument(text_encoder=encoder, transformer=transformer):
        _, first = cpu_offload_with_hook(encoder, torch.device("cuda", 0))
        _, second = cpu_offload_with_hook(transformer, torch.device("cuda", 0), prev_module_hook=first)

        def work() -> None:
            for model in (encoder, transformer):
                model._hf_hook.pre_forward(model)
            second.offload()

        found = recorded(tmp_path, work)
    assert moves(found) == [
        ("onload_text_encoder", BYTES, "h2d"),
        ("offload_text_encoder", BYTES, "d2h"),
        ("onload_transformer", BYTES, "h2d"),
        ("offload_transformer", BYTES, "d2h"),
    ]
    assert isinstance(encoder._hf_hook, CpuOffload)


class Bringing(AlignDevicesHook):
    """A hook of accelerate for a device that is not there."""

    def init_hook(self, module: torch.nn.Module) -> torch.nn.Module:
        return module

    def pre_forward(self, module: torch.nn.Module, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        module.to_empty(device="cpu")
        return args, kwargs

    def post_forward(self, module: torch.nn.Module, output: Any) -> Any:
        module.to("meta")
        return output


def test_sequential_offload_brings_each_module_and_sends_none_back(tmp_path: Path) -> None:
    """Its weights are dropped after the call: the host has kept them. The buffer of the model stays on the device."""
    model = Model()
    model.linear.to("meta")
    hook = Bringing(torch.device("cuda", 0), offload=True)
    add_hook_to_module(model.linear, hook)
    with marey.diffusers.instrument(transformer=model):
        found = recorded(tmp_path, lambda: [model(torch.ones(1, 4)) for _ in range(2)])
        assert "pre_forward" in vars(hook)
    assert "pre_forward" not in vars(hook)
    assert moves(found) == [("onload_transformer", (16 + 4) * 4, "h2d")] * 2


def test_sequential_offload_to_the_host_itself_moves_nothing(tmp_path: Path) -> None:
    """Real tensors: what the hook copies stays where it is."""
    model = Model()
    add_hook_to_module(model.linear, AlignDevicesHook("cpu", offload=True))
    with marey.diffusers.instrument(transformer=model):
        found = recorded(tmp_path, lambda: model(torch.ones(1, 4)))
    assert found.counts == {"transformer": 1}


def test_group_offload_moves_each_group_there_and_back(tmp_path: Path) -> None:
    """By leaves: the linear layer is a group, the buffer is one with the model; each goes and comes once a call."""
    model = pretend(Model())
    apply_group_offloading(model, torch.device("cuda", 0), torch.device("cpu"), offload_type="leaf_level")
    with marey.diffusers.instrument(transformer=model):
        found = recorded(tmp_path, lambda: model(torch.ones(1, 4).as_subclass(Pretended)))
    linear, buffer = (16 + 4) * 4, 3 * 8
    expected = [(f"{verb}_transformer", size, way) for size in (linear, buffer) for verb, way in WAYS]
    assert sorted(moves(found)) == sorted(expected)


def test_group_offload_on_the_host_alone_moves_nothing_and_is_taken_back(tmp_path: Path) -> None:
    tiny = quiet("flux")
    transformer = tiny.pipe.transformer
    cpu = torch.device("cpu")
    apply_group_offloading(transformer, cpu, cpu, offload_type="block_level", num_blocks_per_group=1)
    instrumented = marey.diffusers.instrument(tiny.pipe)
    hooks = [module._diffusers_hook.hooks for module in transformer.modules() if hasattr(module, "_diffusers_hook")]
    groups = [hook.group for each in hooks for hook in each.values() if hasattr(hook, "group")]
    assert groups
    assert all("onload_" in vars(group) for group in groups)
    instrumented.undo()
    assert not any("onload_" in vars(group) or "offload_" in vars(group) for group in groups)
