"""examples/diffusers/generate.py does what its page says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

GENERATE = Path(__file__).parents[2] / "examples" / "diffusers" / "generate.py"


def generate(*arguments: str, folder: Path) -> str:
    """Run the example in a process of its own; its standard output."""
    done = subprocess.run(
        [sys.executable, str(GENERATE), *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_two_clips_give_frames_summaries_and_a_report(tmp_path: Path) -> None:
    """Wan with 2 clips of 3 steps: 5 frames each, 6 iterations, 12 calls of the transformer."""
    printed = generate("--pipeline", "wan", "--clips", "2", "--steps", "3", "--out", "out", folder=tmp_path)
    for clip in ("clip-0", "clip-1"):
        assert len(list((tmp_path / "out" / clip).glob("frame_*.png"))) == 5
    assert "PROFILING SUMMARY" in printed
    assert "ITERATION PROFILING" in printed
    assert "MEMORY USAGE SUMMARY" in printed
    report = json.loads((tmp_path / "out" / "profiling_report.json").read_text())
    assert report["iteration_stats"]["count"] == 6
    assert report["timing_stats"]["transformer_forward"]["count"] == 12
    assert len(json.loads((tmp_path / "out" / "memory_log.json").read_text())) == 10


def test_without_recording_the_same_frames_and_nothing_else(tmp_path: Path) -> None:
    """Recorded frames and unrecorded ones are equal files; no report is written, no folder beside them."""
    generate("--pipeline", "flux", "--steps", "2", "--out", "on", folder=tmp_path)
    printed = generate("--pipeline", "flux", "--steps", "2", "--out", "off", "--no-recording", folder=tmp_path)
    frame = Path("clip-0", "frame_0000.png")
    assert (tmp_path / "on" / frame).read_bytes() == (tmp_path / "off" / frame).read_bytes()
    assert "SUMMARY" not in printed
    assert [path.name for path in (tmp_path / "off").iterdir()] == ["clip-0"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["off", "on"]
