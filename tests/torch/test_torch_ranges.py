"""With ``torch_ranges`` torch's profiler shows Marey's sections; without it does not."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from interpreter import environment

PROGRAM = """
import json, marey, torch
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
    with marey.profile_section("outer"):
        with marey.profile_section("inner", n=1):
            torch.ones(3).sum()
    loop = marey.IterationProfiler("loop")
    for _ in range(2):
        with loop.iteration():
            torch.ones(3)
marey.start("out")  # The recording moves to a folder.
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as later:
    with marey.profile_section("later"):
        pass
marey.stop()
def spans(profiler, *names):
    events = [e for e in profiler.events() if e.name in names]
    return sorted((e.time_range.start, e.name, e.cpu_parent and e.cpu_parent.name) for e in events)
print(json.dumps([one[1:] for one in spans(profiler, "outer", "inner", "aten::sum", "loop")
                  + spans(later, "later")]))
"""


@pytest.mark.parametrize("is_on", [True, False])
def test_torchs_profiler_shows_sections_where_they_lie(tmp_path: Path, is_on: bool) -> None:
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
    env = environment() | ({"MAREY_TORCH_RANGES": "1"} if is_on else {})
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = [tuple(one) for one in json.loads(done.stdout)]
    if not is_on:
        assert found == [("aten::sum", None)]
        return
    assert found == [
        ("outer", None),
        ("inner", "outer"),
        ("aten::sum", "inner"),
        *[("loop", None)] * 2,
        ("later", None),
    ]
