"""Runs the diffusers examples for real, with tiny models, on the CPU. Fails where marey or torch is missing."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "diffusers"))

import pytest
from recorded_clip import RecordedClip

import marey

if TYPE_CHECKING:
    from tiny_pipeline import TinyPipeline


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line("markers", "torch: needs torch and diffusers")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.torch)


@pytest.fixture(params=["wan", "flux", "sd"])
def build(request: pytest.FixtureRequest) -> Callable[[], TinyPipeline]:
    """Makes the tiny pipeline of one kind, each time with the same weights; the test runs once for each kind."""
    from generate import build

    def build_quietly() -> TinyPipeline:
        tiny = build(request.param, "tiny", seed=0)
        tiny.pipe.set_progress_bar_config(disable=True)
        return tiny

    return build_quietly


@pytest.fixture
def recording(tmp_path: Path) -> Iterator[None]:
    """The recorder is on, into a folder of the test's own, and starts from nothing."""
    marey.start(output_dir=str(tmp_path / "recording"))
    marey.get_global_stats().clear()
    yield
    marey.stop()
    marey.get_global_stats().clear()


@pytest.fixture
def clip(build: Callable[[], TinyPipeline], recording: None, tmp_path: Path) -> RecordedClip:
    """One clip that was generated under recording."""
    return RecordedClip.generate(build(), tmp_path / "frames", steps=3)
