"""Instrumented models compile to the same graphs, and the time that this takes is told apart."""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import diffusers
import numpy as np
import pytest
import torch
from recorded_pipeline import generate, quiet, recorded
from torch._dynamo.testing import CompileCounter

import marey.diffusers


@pytest.fixture(autouse=True)
def nothing_is_compiled() -> None:
    gc.collect()  # pipelines of other tests, which listen for as long as they live
    torch._dynamo.reset()


def instrument(tiny: Any) -> None:
    marey.diffusers.instrument(tiny.pipe)


def compile_whole(tiny: Any, backend: Any, fullgraph: bool = True) -> None:
    tiny.pipe.transformer = torch.compile(tiny.pipe.transformer, backend=backend, fullgraph=fullgraph)


def compile_in_place(tiny: Any, backend: Any) -> None:
    tiny.pipe.transformer.compile(backend=backend, fullgraph=True)


def compile_blocks(tiny: Any, backend: Any) -> None:
    tiny.pipe.transformer.compile_repeated_blocks(backend=backend, fullgraph=True)


def compile_decode(tiny: Any, backend: Any) -> None:
    tiny.pipe.vae.decode = torch.compile(tiny.pipe.vae.decode, backend=backend)


WAYS = pytest.mark.parametrize("compiled", [compile_whole, compile_in_place, compile_blocks, compile_decode])


@WAYS
@pytest.mark.parametrize("is_first", [True, False])
def test_graphs_are_as_many_and_as_large_as_without(compiled: Callable[..., None], is_first: bool) -> None:
    """Instrumented before and after compiling; two generations, so that a recompilation would be seen."""
    seen, frames = [], []
    for is_instrumented in (False, True):
        torch._dynamo.reset()
        tiny, counter = quiet("flux"), CompileCounter()
        if is_instrumented and is_first:
            instrument(tiny)
        compiled(tiny, counter)
        if is_instrumented and not is_first:
            instrument(tiny)
        frames += [generate(tiny, 2), generate(tiny, 2)]
        seen.append((counter.frame_count, counter.op_count))
    assert seen[0] == seen[1]
    assert seen[0][0] > 0
    assert all(np.array_equal(frame, frames[0]) for frame in frames)


def test_undoing_does_not_compile_again() -> None:
    tiny, counter = quiet("flux"), CompileCounter()
    instrumented = marey.diffusers.instrument(tiny.pipe)
    compile_whole(tiny, counter)
    generate(tiny, 2)
    graphs = counter.frame_count
    instrumented.undo()
    generate(tiny, 2)
    assert counter.frame_count == graphs


def test_a_model_that_is_compiled_whole_is_a_section_without_its_blocks(tmp_path: Path) -> None:
    """And it is said that they are not known."""
    tiny = quiet("flux")
    compile_whole(tiny, "eager")

    def work() -> None:
        marey.diffusers.instrument(tiny.pipe)
        generate(tiny, 3)

    found = recorded(tmp_path, work)
    assert found.counts["transformer"] == found.counts["denoising_step"] == 3
    assert "transformer_block" not in found.counts
    (said,) = found.events("blocks_not_recorded")
    assert said["data"]["component"] == "transformer"


def test_one_that_is_compiled_after_it_was_instrumented_is_recorded_once(tmp_path: Path) -> None:
    """The user's module is in the compiled one; only the outer call is a section."""
    tiny = quiet("flux")
    instrument(tiny)
    compile_whole(tiny, "eager")
    found = recorded(tmp_path, lambda: generate(tiny, 3))
    assert found.counts["transformer"] == 3


def test_blocks_that_are_compiled_one_by_one_are_sections(tmp_path: Path) -> None:
    """1 double and 2 single blocks, 3 steps; each kind is compiled once."""
    tiny = quiet("flux")
    compile_blocks(tiny, "eager")
    instrument(tiny)
    found = recorded(tmp_path, lambda: generate(tiny, 3))
    assert (found.counts["transformer_block"], found.counts["single_transformer_block"]) == (3, 6)
    assert found.counts["compile"] == 2


def test_compiling_is_a_section_of_its_own_and_so_is_compiling_again(tmp_path: Path) -> None:
    """Another batch size makes torch compile a second time; the first generation compiles once, the second not."""
    layer = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
    model = torch.compile(layer, backend="eager", dynamic=False)
    instrumented = marey.diffusers.instrument(denoiser=model)

    def work() -> None:
        for rows in (2, 2, 3, 3):
            model(torch.ones(rows, 4))

    found = recorded(tmp_path, work)
    assert found.paths == {
        "denoiser": 4,
        "denoiser > compile": 1,
        "denoiser > recompile": 1,
    }
    instrumented.undo()
    handler = torch._dynamo.callback.callback_handler
    assert [callback.__module__ for callback in handler.start_callbacks if "marey" in callback.__module__] == []


def test_decisions_of_a_cache_are_recorded_in_compiled_blocks(tmp_path: Path) -> None:
    """Diffusers' own decision is no part of the graph either."""
    tiny = quiet("flux")
    tiny.pipe.transformer.enable_cache(diffusers.FirstBlockCacheConfig(threshold=1e9))
    bare = copy.copy(tiny)
    tiny.pipe.transformer.compile_repeated_blocks(backend="eager")
    expected = generate(bare, 4)
    instrument(tiny)
    got: list[Any] = []
    found = recorded(tmp_path, lambda: got.append(generate(tiny, 4)))
    assert np.array_equal(got[0], expected)
    cache = found.report["cache_analysis"]["caches"]["first_block_cache"]
    assert (cache["hits"], cache["misses"]) == (3, 1)


@pytest.mark.parametrize("cache", ["taylorseer", "mag", "pyramid"])
def test_hooks_of_caches_compile_to_the_same_graphs(cache: str) -> None:
    """Block by block, with what diffusers itself keeps out of the graphs."""
    configs = {
        "taylorseer": diffusers.TaylorSeerCacheConfig(cache_interval=2, disable_cache_before_step=1),
        "mag": diffusers.MagCacheConfig(num_inference_steps=4, mag_ratios=[1.0] * 4),
        "pyramid": diffusers.PyramidAttentionBroadcastConfig(
            spatial_attention_block_skip_range=2, current_timestep_callback=lambda: 500
        ),
    }
    seen, frames = [], []
    for is_instrumented in (False, True):
        torch._dynamo.reset()
        tiny, counter = quiet("flux"), CompileCounter()
        tiny.pipe.transformer.enable_cache(configs[cache])
        tiny.pipe.transformer.compile_repeated_blocks(backend=counter)
        if is_instrumented:
            instrument(tiny)
        frames.append(generate(tiny, 4))
        seen.append((counter.frame_count, counter.op_count))
    assert seen[0] == seen[1]
    assert np.array_equal(*frames)
