"""What Marey records of a real pipeline is what the pipeline did."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from recorded_clip import RecordedClip

import marey


def test_every_step_is_one_iteration(clip: RecordedClip) -> None:
    """Three steps asked for, three iterations."""
    stats = clip.iterations.get_stats()
    assert stats["count"] == clip.steps == 3
    assert 0 < stats["min"] <= stats["median"] <= stats["max"]
    assert stats["total"] == pytest.approx(stats["mean"] * stats["count"])


def test_sections_are_counted_as_the_pipeline_calls_them(clip: RecordedClip) -> None:
    """Wan's guidance calls the transformer twice a step, Flux's and Stable Diffusion's denoisers are called once."""
    assert {name: stats["count"] for name, stats in clip.sections.items()} == {
        "text_encoding": 1,
        "denoising": 1,
        "transformer_forward": clip.steps * clip.tiny.forwards_per_step,
        "vae_decode": 1,
        "write_frames": 1,
    }


def test_what_is_inside_takes_no_longer_than_what_is_around_it(clip: RecordedClip) -> None:
    """Calls of the denoiser lie in steps, steps lie in `denoising`."""
    forwards_s = clip.sections["transformer_forward"]["total"]
    steps_s = clip.iterations.get_stats()["total"]
    denoising_s = clip.sections["denoising"]["total"]
    assert 0 < forwards_s < steps_s < denoising_s


def test_frames_are_written_in_their_shape(clip: RecordedClip) -> None:
    """As many pictures as frames, each with the pixels of the array that was returned."""
    height, width, channels = clip.tiny.frame_shape
    assert clip.frames.shape == (clip.tiny.frames, height, width, channels)
    written = sorted(clip.folder.glob("*.png"))
    assert [path.name for path in written] == [f"frame_{number:04}.png" for number in range(clip.tiny.frames)]
    for path, frame in zip(written, clip.frames, strict=True):
        with Image.open(path) as image:
            assert np.array_equal(np.asarray(image), (frame * 255).round().astype(np.uint8))


def test_report_repeats_what_was_recorded(clip: RecordedClip, tmp_path: Path) -> None:
    """The JSON report has the same sections, iterations and memory readings, in the documented shape."""
    path = marey.export_profiling_report(
        str(tmp_path / "report"),
        timing_stats=marey.get_global_stats(),
        memory_tracker=clip.memory,
        iteration_profiler=clip.iterations,
    )
    report = json.loads(Path(path).read_text())
    assert report["iteration_stats"]["count"] == clip.steps
    for name, stats in clip.sections.items():
        reported = report["timing_stats"][name]
        assert reported["count"] == stats["count"]
        # Ticks become nanoseconds by a slope that is known ever better: a nanosecond or two between two reports.
        assert reported["total"] == pytest.approx(stats["total"], rel=1e-4)
    assert [row["label"] for row in report["memory_snapshots"]] == [
        "start",
        "after_text_encoding",
        "after_denoising",
        "after_vae_decode",
        "after_write_frames",
    ]


def test_memory_readings_say_that_they_are_of_the_process(
    clip: RecordedClip, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Without CUDA the tracker reads the process's own memory, says so, and the figures are of that order."""
    clip.memory.print_summary()
    printed = capfd.readouterr().out
    assert "process memory" in printed.lower()
    clip.memory.export_json(str(tmp_path / "memory_log.json"))
    rows = json.loads((tmp_path / "memory_log.json").read_text())
    status = Path("/proc/self/status").read_text().splitlines()
    resident_mb = next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS:"))
    assert len(rows) == 5
    for row in rows:
        assert row["label"] in printed
        assert 0.5 * resident_mb < row["allocated_mb"] < 1.5 * resident_mb


def test_second_clip_adds_to_the_first(clip: RecordedClip, tmp_path: Path) -> None:
    """Sections of the same names go on counting; the pipeline is not wrapped a second time."""
    tiny, steps = clip.tiny, clip.steps
    del tiny.denoiser.forward  # take the first wrapper off: `generate` puts one on
    second = RecordedClip.generate(tiny, tmp_path / "second", steps=2)
    assert second.iterations.get_stats()["count"] == 2
    assert second.sections["denoising"]["count"] == 2
    assert second.sections["transformer_forward"]["count"] == (steps + 2) * tiny.forwards_per_step
