"""Parts of a pipeline on two cards, with real torch modules: each section's GPU time is on the card of its part.

The tensors only say that they are on cards, and the cards are a stand-in that knows what must not be done.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from pretended_device import pretend

import marey
from marey import _core, gpu_times
from marey.diffusers import instrument

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
import stand_in_cuda

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="its driver is asked about events that only stand in")


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch, recording: None) -> Iterator[stand_in_cuda.Gpu]:
    """Two cards below torch's own Python, both in use, watched."""
    for name, function in stand_in_cuda.FUNCTIONS.items():
        monkeypatch.setattr(torch._C, name, function, raising=False)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setenv("MAREY_SECTION_MEMORY", "0")
    gpu = stand_in_cuda.gpu
    gpu.contexts, gpu.violations, gpu.n_devices = {0, 1}, [], 2
    gpu_times.watch()
    yield gpu
    marey.stop()
    assert gpu.violations == []
    assert gpu.device == 0


def spans() -> list[tuple[str, int, int, float]]:
    """Name, device, stream and milliseconds of what the recording that ends here left."""
    capture = marey.stop()
    assert capture is not None
    found = json.loads(_core.records(str(capture)))["gpu_spans"]
    return [(span["name"], span["device"], span["stream"], round(span["gpu_ns"] / 1e6, 3)) for span in found]


class Part(torch.nn.Module):
    """Has weights on a card, and works there for some milliseconds."""

    def __init__(self, card: int, work: Callable[[], None]) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
        self.work = work
        pretend(self).to(f"cuda:{card}")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Only the card works."""
        self.work()
        return x


# card 0   |-- 2 --|               |-1-|    text encoder, VAE
# card 1           |----- 5 -----|          transformer; what waits there, 9, is before it
def test_a_pipeline_that_is_spread_over_two_cards(cards: stand_in_cuda.Gpu) -> None:
    cards.work(9, device=1)
    pipe = {
        "text_encoder": Part(0, lambda: cards.work(2, device=0)),
        "transformer": Part(1, lambda: cards.work(5, device=1)),
        "other": Part(0, lambda: cards.work(1, device=0)),
    }
    x = torch.zeros(2)
    with instrument(pipe):
        for name in pipe:
            pipe[name](x)
    cards.pass_time(100)
    assert spans() == [("text_encoder", 0, 0, 2.0), ("transformer", 1, 0, 5.0), ("other", 0, 0, 1.0)]


class Scheduler:
    """Ends a step, and works on the other card."""

    def __init__(self, work: Callable[[], None]) -> None:
        self.work = work

    def set_timesteps(self) -> None:
        """Makes it a scheduler."""

    def step(self) -> None:
        """One."""
        self.work()


# card 0                   |-- 3 --|         scheduler
# card 1   |----- 5 -----|                   transformer
# step     ├──── 5 on card 1 ──────┤
def test_a_step_has_the_time_of_the_card_on_which_it_began(cards: stand_in_cuda.Gpu) -> None:
    pipe = {
        "transformer": Part(1, lambda: cards.work(5, device=1)),
        "scheduler": Scheduler(lambda: cards.work(3, device=0)),
    }
    with instrument(pipe):
        pipe["transformer"](torch.zeros(2))
        pipe["scheduler"].step()
    cards.pass_time(100)
    # Nobody says where the scheduler works, so its section has none.
    assert spans() == [("denoising_step", 1, 0, 5.0), ("transformer", 1, 0, 5.0)]


class Group:
    """A group of weights that comes on a stream of its own, as in diffusers."""

    def __init__(self, module: torch.nn.Module, cards: stand_in_cuda.Gpu) -> None:
        self.modules, self.parameters, self.buffers = [module], [], []
        self.onload_device, self.offload_device = torch.device("cuda:1"), torch.device("cpu")
        self.stream = stand_in_cuda.Stream(stream_id=7, device_index=1)
        self.cards = cards

    def onload_(self) -> None:
        """A copy beside the work."""
        self.cards.work(6, device=1, stream=7)
        self.modules[0].to("cuda:1")

    def offload_(self) -> None:
        """Nothing is copied."""
        self.modules[0].to("cpu")


# stream 0   |------ 20 ------|     work
# stream 7     |-- 6 --|            the group's weights
def test_weights_that_come_on_a_stream_of_their_own_have_its_time(cards: stand_in_cuda.Gpu) -> None:
    part = Part(1, lambda: None)
    part.to("cpu")
    group = Group(part.linear, cards)
    hook: Any = type("Hook", (), {})()
    hook.group = group
    part._diffusers_hook = type("Registry", (), {})()
    part._diffusers_hook.hooks = {"group_offloading": hook}
    with instrument({"transformer": part}):
        cards.work(20, device=1)
        group.onload_()
        group.offload_()
    cards.pass_time(100)
    found = spans()
    assert [span for span in found if span[2] == 7] == [("onload_transformer", 1, 7, 6.0)]
    assert ("offload_transformer", 1, 0, 0.0) in found
