"""A pipeline that was instrumented and is no more is what it was before, and so are its copies meanwhile."""

from __future__ import annotations

import copy
import gc
import inspect
import io
import pickle
import weakref
from pathlib import Path
from typing import Any

import diffusers
import pytest
import torch
from recorded_pipeline import generate, quiet, recorded

import marey.diffusers

KINDS = pytest.mark.parametrize("kind", ["flux", "wan", "sd"])


def insides(pipe: Any) -> dict[str, dict[str, Any]]:
    """The ``__dict__`` of the pipeline, of its parts, and of every module in them; with the hooks, which are dicts."""
    found = {"": dict(vars(pipe))}
    for name, part in vars(pipe).items():
        if isinstance(part, torch.nn.Module):
            found |= {f"{name}.{inner}": copies(vars(module)) for inner, module in part.named_modules()}
        elif hasattr(part, "__dict__"):
            found[name] = dict(vars(part))
    return found


def copies(values: dict[str, Any]) -> dict[str, Any]:
    return {key: dict(value) if isinstance(value, dict) else value for key, value in values.items()}


@KINDS
def test_undo_leaves_every_object_as_it_was(kind: str) -> None:
    tiny = quiet(kind)
    generate(tiny, 1)
    generate(tiny, 1)  # what the pipeline itself keeps from a call is there
    before, of_class = insides(tiny.pipe), type(tiny.pipe)
    instrumented = marey.diffusers.instrument(tiny.pipe)
    assert type(tiny.pipe) is not of_class
    generate(tiny, 1)
    assert insides(tiny.pipe) != before
    instrumented.undo()
    assert type(tiny.pipe) is of_class
    after = insides(tiny.pipe)
    assert after.keys() == before.keys()
    for name, values in before.items():
        assert after[name].keys() == values.keys(), name
        for key in values.keys() - volatile(name):
            assert after[name][key] is values[key] or same(after[name][key], values[key]), (name, key)
    instrumented.undo()


def volatile(name: str) -> set[str]:
    """What a generation changes in any case: numbers and tensors that the scheduler and the VAE count with."""
    numbers = {"sigmas", "timesteps", "_step_index", "num_inference_steps", "_feat_map", "_conv_idx", "_conv_num"}
    return numbers if name in ("scheduler", "vae.") else set()


def same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and (isinstance(one, torch.Tensor) or one == other)


def test_instrumenting_twice_is_instrumenting_once(tmp_path: Path) -> None:
    tiny = quiet("flux")
    first = marey.diffusers.instrument(tiny.pipe)
    assert marey.diffusers.instrument(tiny.pipe) is first
    found = recorded(tmp_path, lambda: generate(tiny, 2))
    assert (found.counts["transformer"], len(found.report["sessions"])) == (2, 1)
    first.undo()
    again = marey.diffusers.instrument(tiny.pipe)
    assert again is not first
    found = recorded(tmp_path, lambda: generate(tiny, 2))
    assert found.counts["transformer"] == 2
    again.undo()


def test_two_pipelines_may_share_their_parts(tmp_path: Path) -> None:
    """Each part is recorded once, and the other pipeline goes on being recorded when one is undone."""
    tiny = quiet("flux")
    other = quiet("flux")
    for name, part in tiny.pipe.components.items():
        setattr(other.pipe, name, part)
    first, second = marey.diffusers.instrument(tiny.pipe), marey.diffusers.instrument(other.pipe)
    found = recorded(tmp_path, lambda: [generate(tiny, 2), generate(other, 2)])
    assert found.counts["transformer"] == found.counts["denoising_step"] == 4
    first.undo()
    found = recorded(tmp_path, lambda: generate(other, 2))
    assert found.counts["transformer"] == 2
    second.undo()


def test_a_block_of_code_can_be_instrumented() -> None:
    tiny = quiet("sd")
    of_class = type(tiny.pipe)
    with pytest.raises(ValueError, match="as it was"), marey.diffusers.instrument(tiny.pipe):
        raise ValueError("as it was")
    assert type(tiny.pipe) is of_class


@KINDS
def test_an_instrumented_pipeline_is_pickled_as_a_plain_one(kind: str) -> None:
    """Programs that send pipelines to workers go on working under ``marey run``."""
    tiny = quiet(kind)
    of_class, parts = type(tiny.pipe), sorted(tiny.pipe.components)
    with marey.diffusers.instrument(tiny.pipe):
        for protocol in (2, pickle.DEFAULT_PROTOCOL, pickle.HIGHEST_PROTOCOL):
            content = pickle.dumps(tiny.pipe, protocol)
            assert b"marey" not in content
            thawed = pickle.loads(content)
            assert type(thawed) is of_class
            assert sorted(thawed.components) == parts
            assert not [key for key in vars(thawed) if "marey" in key]


@KINDS
def test_copies_are_bare(kind: str, tmp_path: Path) -> None:
    """A deep copy and a pickled one compute the same, record nothing, and do not touch the original."""
    tiny = quiet(kind)
    of_class = type(tiny.pipe)
    with marey.diffusers.instrument(tiny.pipe):
        expected = generate(tiny, 1)
        original, deep = tiny.pipe, copy.deepcopy(tiny.pipe)
        module = copy.deepcopy(tiny.denoiser)
        thawed = pickle.loads(pickle.dumps(original.vae))
        file = io.BytesIO()
        torch.save(tiny.denoiser, file)
    assert type(deep) is of_class
    assert not any("compiled_call" in key for inner in module.modules() for key in vars(inner))
    assert thawed.decode.__self__ is thawed
    assert deep.vae.decode.__self__ is deep.vae
    assert deep.scheduler.step.__self__ is deep.scheduler
    del tiny.pipe
    tiny.pipe = deep
    found = recorded(tmp_path, lambda: None)
    got = []
    found = recorded(tmp_path, lambda: got.append(generate(tiny, 1)))
    assert found.counts == {}
    assert (got[0] == expected).all()


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda part: pickle.loads(pickle.dumps(part))])
def test_a_step_of_a_copied_scheduler_leaves_the_original_where_it_is(how: Any, tmp_path: Path) -> None:
    """Engines give each request a copy of the scheduler, and let the copies take steps in turn."""
    scheduler, expected = diffusers.EulerDiscreteScheduler(), diffusers.EulerDiscreteScheduler()
    for each in (scheduler, expected):
        each.set_timesteps(4)
    sample = torch.ones(1, 4)
    with marey.diffusers.instrument(scheduler=scheduler):
        twin = how(scheduler)
        again = how(twin)

        def step_by_turns() -> None:
            for t in expected.timesteps:
                one = expected.step(sample, t, sample).prev_sample
                for each in (twin, scheduler, again):
                    assert torch.equal(each.step(sample, t, sample).prev_sample, one)

        found = recorded(tmp_path, step_by_turns)
    assert [each.step_index for each in (twin, scheduler, again, expected)] == [4] * 4
    assert found.counts == {"scheduler_step": 4}
    assert vars(twin).keys() == vars(again).keys() == vars(scheduler).keys() == vars(expected).keys()


def test_what_a_program_has_put_into_a_part_is_in_its_copy() -> None:
    """The copy has the program's own function, as it has without Marey; a later one stays, too."""
    tiny = quiet("sd")
    scheduler = tiny.pipe.scheduler
    scheduler.step = mine = lambda *_: None
    with marey.diffusers.instrument(tiny.pipe):
        twin = copy.copy(scheduler)
        assert vars(twin)["step"] is mine
        scheduler.scale_model_input = mine
        assert vars(copy.copy(scheduler))["scale_model_input"] is mine
    assert vars(scheduler)["step"] is mine


def test_values_that_are_copied_and_put_back_leave_a_scheduler_recorded(tmp_path: Path) -> None:
    """So a panorama keeps the state of the scheduler for each of its views."""
    scheduler = diffusers.EulerDiscreteScheduler()
    scheduler.set_timesteps(2)
    before = set(vars(scheduler))
    with marey.diffusers.instrument(scheduler=scheduler):
        vars(scheduler).update(copy.deepcopy(vars(scheduler)))
        found = recorded(tmp_path, lambda: scheduler.step(torch.ones(1, 4), scheduler.timesteps[0], torch.ones(1, 4)))
    assert found.counts == {"scheduler_step": 1}
    assert set(vars(scheduler)) == before


def test_a_pipeline_is_freed_without_the_garbage_collector() -> None:
    """Programs drop a pipeline to make room on the GPU."""
    tiny = quiet("sd")
    marey.diffusers.instrument(tiny.pipe)
    generate(tiny, 1)
    watched = [weakref.ref(tiny.pipe.vae), weakref.ref(tiny.pipe.unet), weakref.ref(tiny.pipe)]
    gc.collect()
    gc.disable()
    try:
        del tiny
        assert [reference() for reference in watched] == [None] * 3
    finally:
        gc.enable()


@KINDS
def test_signatures_names_and_docstrings_stay(kind: str) -> None:
    """Diffusers looks at the parameters of ``scheduler.step``; people ask for help."""
    tiny = quiet(kind)
    methods = [(tiny.pipe, "encode_prompt"), (tiny.pipe.vae, "decode"), (tiny.pipe.scheduler, "step")]
    bare = [getattr(owner, name) for owner, name in methods]
    call = type(tiny.pipe).__call__
    with marey.diffusers.instrument(tiny.pipe):
        for (owner, name), before in zip(methods, bare, strict=True):
            method = getattr(owner, name)
            assert inspect.signature(method) == inspect.signature(before)
            assert (method.__name__, method.__doc__) == (before.__name__, before.__doc__)
        assert inspect.signature(type(tiny.pipe).__call__) == inspect.signature(call)
        assert isinstance(tiny.pipe, type(tiny.pipe).__mro__[1])
        assert type(tiny.pipe).__name__ == type(tiny.pipe).__mro__[1].__name__


def test_what_others_have_put_over_it_stays() -> None:
    """A wrapper of the user's own around a recorded method goes on working after it is undone."""
    tiny = quiet("sd")
    vae = tiny.pipe.vae
    instrumented = marey.diffusers.instrument(tiny.pipe)
    recorded_decode, calls = vae.decode, []

    def decode(*args: Any, **kwargs: Any) -> Any:
        calls.append(len(args))
        return recorded_decode(*args, **kwargs)

    vae.decode = decode
    instrumented.undo()
    assert vae.decode is decode
    generate(tiny, 1)
    assert calls == [1]


def test_saving_an_instrumented_pipeline_saves_the_bare_one(tmp_path: Path) -> None:
    """The names of classes in ``model_index.json`` are diffusers' own, and it can be loaded again."""
    tiny = quiet("sd")
    with marey.diffusers.instrument(tiny.pipe):
        tiny.pipe.save_pretrained(tmp_path / "saved", safe_serialization=True)
    of_class = type(tiny.pipe)
    loaded = of_class.from_pretrained(tmp_path / "saved", local_files_only=True)
    assert type(loaded) is of_class
    assert type(loaded.unet) is type(tiny.pipe.unet)
