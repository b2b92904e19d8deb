"""An instrumented pipeline gives the same frames and raises the same errors as a bare one."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from recorded_pipeline import generate, quiet, recorded

import marey.diffusers
from marey import denoising_steps

KINDS = pytest.mark.parametrize("kind", ["flux", "wan", "sd"])


@KINDS
def test_frames_are_the_same_to_the_bit(kind: str, tmp_path: Path) -> None:
    """Bare, instrumented and recorded, instrumented and not recorded, undone."""
    expected = generate(quiet(kind))
    assert expected.std() > 0.05
    tiny, got = quiet(kind), []
    instrumented = marey.diffusers.instrument(tiny.pipe)
    recorded(tmp_path, lambda: got.append(generate(tiny)))
    got.append(generate(tiny))
    instrumented.undo()
    got.append(generate(tiny))
    assert all(np.array_equal(frames, expected) for frames in got)


@KINDS
def test_random_numbers_are_not_used_up(kind: str) -> None:
    """The state of torch's generator after a generation is that of the bare pipeline."""
    states = []
    for is_instrumented in (False, True):
        tiny = quiet(kind)
        if is_instrumented:
            marey.diffusers.instrument(tiny.pipe)
        torch.manual_seed(3)
        generate(tiny, 1)
        states.append(torch.get_rng_state().tolist())
    assert states[0] == states[1]


@pytest.mark.parametrize("part", ["transformer", "scheduler", "vae", "text_encoder", "block", "callback"])
def test_the_very_exception_arrives_and_the_sections_are_closed(part: str, tmp_path: Path) -> None:
    """Raised in each part in turn; the next generation is whole."""
    tiny, error = quiet("flux"), RuntimeError("no memory left")
    marey.diffusers.instrument(tiny.pipe)

    def fail(*_args: Any, **_kwargs: Any) -> Any:
        raise error

    pipe = tiny.pipe
    places = {
        "transformer": (pipe.transformer, "forward"),
        "scheduler": (type(pipe.scheduler), "_init_step_index"),
        "vae": (pipe.vae.decoder, "forward"),
        "text_encoder": (pipe.text_encoder, "forward"),
        "block": (pipe.transformer.single_transformer_blocks[1], "forward"),
        "callback": (pipe, "maybe_free_model_hooks"),
    }
    owner, name = places[part]

    def work() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(owner, name, fail)
            with pytest.raises(RuntimeError) as caught:
                generate(tiny, 2)
        assert caught.value is error
        generate(tiny, 2)

    found = recorded(tmp_path, work)
    assert not any(row["open"] for row in found.report["sections"] if "open" in row)
    turns = {"transformer": 1, "block": 1, "scheduler": 1, "text_encoder": 0}.get(part, 2)
    assert found.counts["denoising_step"] == turns + 2
    outermost = [path for path in found.paths if " > " not in path]
    assert set(outermost) == {"text_encoding", "denoising_step", "vae_decode"}
    assert len(found.report["sessions"]) == 2


def test_interrupts_pass_through_as_well(tmp_path: Path) -> None:
    """Ctrl-C is no ``Exception``."""
    tiny = quiet("flux")
    marey.diffusers.instrument(tiny.pipe)

    def interrupt(*_args: Any) -> Any:
        raise KeyboardInterrupt

    def work() -> None:
        with pytest.raises(KeyboardInterrupt):
            generate(tiny, 3, callback_on_step_end=interrupt)

    found = recorded(tmp_path, work)
    assert found.counts["denoising_step"] == 1


def test_what_fails_in_marey_is_said_and_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts whose attributes raise when they are looked at: all others are recorded."""
    expected = generate(quiet("flux"))
    tiny, got = quiet("flux"), []

    def fail(*_args: Any) -> Any:
        raise OSError("not today")

    monkeypatch.setattr("marey.pipelines.offload.hook_moves", fail)
    monkeypatch.setattr("marey.pipelines.patches._passed_over", set())

    def work() -> None:
        marey.diffusers.instrument(tiny.pipe)
        got.append(generate(tiny))

    found = recorded(tmp_path, work)
    assert np.array_equal(got[0], expected)
    assert found.counts["transformer"] == 3
    whats = [event["data"]["what"] for event in found.events("not_instrumented")]
    assert sorted(whats) == ["text_encoder", "text_encoder_2", "transformer", "vae"]


def test_windows_are_told_of_each_step_after_it_has_ended() -> None:
    """Once a step, in the thread of the pipeline, whoever else counts."""
    tiny, told = quiet("wan"), []
    with marey.diffusers.instrument(tiny.pipe):
        leave = denoising_steps.listen(lambda: told.append(threading.current_thread().name))
        generate(tiny, 3)
        leave()
        generate(tiny, 1)
    assert told == [threading.current_thread().name] * 3


def test_pipelines_in_two_threads_have_steps_of_their_own(tmp_path: Path) -> None:
    """Two generations at once, of 2 and of 4 steps."""
    pipes = [quiet("flux"), quiet("flux")]
    for tiny in pipes:
        marey.diffusers.instrument(tiny.pipe)

    def work() -> None:
        threads = [threading.Thread(target=generate, args=(tiny, n)) for tiny, n in zip(pipes, (2, 4), strict=True)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    found = recorded(tmp_path, work)
    assert found.paths["denoising_step"] == found.paths["denoising_step > scheduler_step"] == 6
    assert found.paths["denoising_step > cond_pass > transformer"] == 6
    assert sorted(session["tags"]["steps"] for session in found.report["sessions"]) == [2, 4]
