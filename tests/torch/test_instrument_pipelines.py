"""Pipelines of one process are told apart: their calls, their models, and models that they share or swap."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import torch
from recorded_pipeline import Recorded, generate, quiet, recorded

import marey.diffusers
from marey.pipelines import identity


def parameters(pipe: Any, *names: str) -> int:
    return sum(weight.numel() for name in names for weight in getattr(pipe, name).parameters())


def models(found: Recorded) -> dict[str, int]:
    return {name: model["parameters_count"] for name, model in found.report["model_analysis"]["models"].items()}


def pipelines(found: Recorded) -> list[tuple[str, str]]:
    """Name and tag of each call."""
    return [(session["name"], session["tags"]["pipeline"]) for session in found.report["sessions"]]


def instrumented(*kinds: str) -> list[Any]:
    made = [quiet(kind) for kind in kinds]
    for tiny in made:
        marey.diffusers.instrument(tiny.pipe)
    return made


FLUX = ("text_encoder", "text_encoder_2", "transformer", "vae")
WAN = ("text_encoder", "transformer", "vae")


def test_models_of_two_pipelines_are_all_there(tmp_path: Path) -> None:
    """The first that is called has the plain names; the sum is that of both."""
    flux, wan = instrumented("flux", "wan")
    found = recorded(tmp_path, lambda: [generate(flux, 1), generate(wan, 1), generate(flux, 1)])
    assert pipelines(found) == [
        ("FluxPipeline", "FluxPipeline"),
        ("WanPipeline", "WanPipeline"),
        ("FluxPipeline", "FluxPipeline"),
    ]
    of_flux = {name: parameters(flux.pipe, name) for name in FLUX}
    of_wan = {f"WanPipeline / {name}": parameters(wan.pipe, name) for name in WAN}
    assert models(found) == of_flux | of_wan
    total = parameters(flux.pipe, *FLUX) + parameters(wan.pipe, *WAN)
    assert found.report["model_analysis"]["total_parameters"] == total


def test_each_pipeline_has_its_calls_steps_and_sections(tmp_path: Path) -> None:
    """Flux twice with three steps, Wan once with two, and each has a first step of its own."""
    flux, wan = instrumented("flux", "wan")
    found = recorded(tmp_path, lambda: [generate(flux, 3), generate(wan, 2), generate(flux, 3)])
    each = {pipeline["name"]: pipeline for pipeline in found.report["pipelines"]}
    steps = {
        name: (of["calls"], of["total_steps"], of["warm_up"]["count"], of["steady"]["count"])
        for name, of in each.items()
    }
    assert steps == {"FluxPipeline": (2, 6, 1, 5), "WanPipeline": (1, 2, 1, 1)}
    assert each["WanPipeline"]["model_analysis"]["total_parameters"] == parameters(wan.pipe, *WAN)
    counts = {name: of["timing_stats"]["vae_decode"]["count"] for name, of in each.items()}
    assert counts == {"FluxPipeline": 2, "WanPipeline": 1}
    assert found.report["diffusion_analysis"]["warm_up"]["count"] == 2


def test_two_of_one_class_have_numbers_in_the_order_of_their_first_calls(tmp_path: Path) -> None:
    """One that is made and never called takes none; one that is undone and instrumented again keeps its own."""
    first, second, _unused, third = instrumented(*["sd"] * 4)

    def work() -> None:
        generate(second, 1)
        generate(first, 1)
        marey.diffusers.instrument(second.pipe).undo()
        with marey.diffusers.instrument(second.pipe):
            generate(second, 1)
        generate(third, 1)

    found = recorded(tmp_path, work)
    name = "StableDiffusionPipeline"
    assert [of for of, _ in pipelines(found)] == [name, f"{name} #2", name, f"{name} #3"]
    assert sum(model.endswith("unet") for model in models(found)) == 3


def test_each_recording_begins_with_the_first(tmp_path: Path) -> None:
    one, other = instrumented("sd", "sd")
    for tiny in (one, other):
        found = recorded(tmp_path / str(id(tiny)), lambda tiny=tiny: generate(tiny, 1))
        assert pipelines(found) == [("StableDiffusionPipeline", "StableDiffusionPipeline")]
        assert set(models(found)) == {"text_encoder", "unet", "vae"}


def test_a_model_that_two_pipelines_share_is_one(tmp_path: Path) -> None:
    """As ``from_pipe`` makes them. What only the second has is its own."""
    flux, other = instrumented("flux", "flux")
    for name in ("text_encoder", "text_encoder_2", "vae"):
        setattr(other.pipe, name, getattr(flux.pipe, name))
    found = recorded(tmp_path, lambda: [generate(flux, 1), generate(other, 1)])
    assert set(models(found)) == {*FLUX, "FluxPipeline #2 / transformer"}


def test_models_that_are_swapped_keep_their_names(tmp_path: Path) -> None:
    """Two calls, the transformers change places, two calls: two transformers."""
    one, other = instrumented("flux", "flux")

    def work() -> None:
        for _ in range(2):
            generate(one, 1)
            generate(other, 1)
            one.pipe.transformer, other.pipe.transformer = other.pipe.transformer, one.pipe.transformer

    found = recorded(tmp_path, work)
    assert sorted(name for name in models(found) if "transformer" in name) == [
        "FluxPipeline #2 / transformer",
        "transformer",
    ]
    assert found.counts["transformer"] == 4


def test_what_takes_the_place_of_a_model_takes_its_name(tmp_path: Path) -> None:
    """As a compiled one does, or another checkpoint."""
    flux, other = quiet("flux"), quiet("flux")
    marey.diffusers.instrument(flux.pipe)

    def work() -> None:
        generate(flux, 1)
        flux.pipe.vae = other.pipe.vae
        generate(flux, 1)

    assert set(models(recorded(tmp_path, work))) == set(FLUX)


def test_pipelines_in_threads_have_their_own_calls_and_models(tmp_path: Path) -> None:
    """Three at once, two of a class, three calls each."""
    tinies = instrumented("flux", "wan", "wan")

    def thrice(tiny: Any) -> None:
        for _ in range(3):
            generate(tiny, 1)

    def work() -> None:
        threads = [threading.Thread(target=thrice, args=(tiny,)) for tiny in tinies]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    found = recorded(tmp_path, work)
    names = [name for name, _ in pipelines(found)]
    assert sorted(names) == ["FluxPipeline"] * 3 + ["WanPipeline"] * 3 + ["WanPipeline #2"] * 3
    assert len(models(found)) == 4 + 3 + 3


def test_a_program_that_makes_a_pipeline_for_each_request_has_few_names() -> None:
    kind = type("Pipe", (), {})
    identity.forget()
    kept = [kind() for _ in range(150)]
    names = [identity.pipeline_name(pipe) for pipe in kept]
    identity.forget()
    assert names[:3] == ["Pipe", "Pipe #2", "Pipe #3"]
    assert names[98:101] == ["Pipe #99", "Pipe #100 and later", "Pipe #100 and later"]
    assert len(set(names)) == 100


class Home:
    """A pipeline of one's own."""

    def __init__(self) -> None:
        self.denoiser = torch.nn.Linear(2, 2)

    def __call__(self, prompt: str = "", num_inference_steps: int = 7, num_frames: int | None = None) -> torch.Tensor:
        return self.denoiser(torch.ones(1, 2))


class Loose(Home):
    """Takes whatever comes."""

    def __call__(self, *args: Any, **kw: Any) -> torch.Tensor:
        return super().__call__(*args, **kw)


class Distilled(Home):
    """Has steps of its own, and its default is what counts."""

    def __call__(self, *args: Any, num_inference_steps: int = 4, **kw: Any) -> torch.Tensor:
        return super().__call__(*args, num_inference_steps=num_inference_steps, **kw)


@pytest.mark.parametrize(
    ("kind", "arguments", "expected"),
    [
        (Home, {}, {"steps": 7}),
        (Loose, {"num_inference_steps": 2, "num_frames": 5}, {"steps": 2, "frames": 5}),
        # What is between it and the class below is not known to pass a default on.
        (Loose, {}, {}),
        (Distilled, {"num_frames": 9}, {"steps": 4, "frames": 9}),
        (Distilled, {"num_inference_steps": 3}, {"steps": 3}),
    ],
)
def test_arguments_that_a_class_passes_on_are_tags(
    kind: type[Home], arguments: dict[str, int], expected: dict[str, int], tmp_path: Path
) -> None:
    home = kind()
    with marey.diffusers.instrument(home):
        found = recorded(tmp_path, lambda: home("a red fox", **arguments))
    assert [session["tags"] for session in found.report["sessions"]] == [{"pipeline": kind.__name__, **expected}]
    assert "red fox" not in str(found.report)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_generation_that_raised_says_so(error: type[BaseException], tmp_path: Path) -> None:
    """With the kind of the exception, whose text may hold anything; what was stopped has not failed.

    The step in which it was raised has, either way.
    """
    (tiny,) = instrumented("flux")

    def fail(*_args: Any, **_kwargs: Any) -> Any:
        raise error("out of the red fox")

    def work() -> None:
        generate(tiny, 2)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tiny.pipe.transformer, "forward", fail)
            with pytest.raises(error):
                generate(tiny, 2)

    found = recorded(tmp_path, work)
    has_failed = issubclass(error, Exception)
    said = [{"pipeline": "FluxPipeline", "error": error.__name__}] if has_failed else []
    assert [event["data"] for event in found.events("generation_failed")] == said
    outcome = "failed" if has_failed else "cut_off"
    assert [session["outcome"] for session in found.report["sessions"]] == ["done", outcome]
    (steps,) = [row for row in found.report["sections"] if row["name"] == "denoising_step"]
    assert (steps["count"], steps["errors"]) == (3, 1)
    assert "red fox" not in str(found.report)


def test_a_generation_that_its_callback_stopped_says_so(tmp_path: Path) -> None:
    """Two of four steps; the next one is whole."""
    (tiny,) = instrumented("flux")

    def stop_after_two(pipe: Any, step: int, _timestep: object, tensors: dict[str, Any]) -> dict[str, Any]:
        pipe._interrupt = step == 1
        return tensors

    def work() -> None:
        generate(tiny, 4, callback_on_step_end=stop_after_two)
        generate(tiny, 1)

    found = recorded(tmp_path, work)
    assert found.counts["denoising_step"] == 2 + 1
    assert [session["outcome"] for session in found.report["sessions"]] == ["cut_off", "done"]
    assert found.events("generation_failed") == []
