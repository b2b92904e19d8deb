"""Live metrics never tear a line, and leave a progress bar whole.

The metrics are scripted; a program waits for the display itself, not for time to pass.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from screen import on_terminal, shown

SCRIPTED = '''
import sys, threading
from marey.display import Display

class Metrics:
    """Counts how often it was looked at; every text names the number."""

    def __init__(self):
        self.looks = 0
        self.looked = threading.Condition()

    def look(self):
        with self.looked:
            self.looks += 1
            self.looked.notify_all()
        return True

    def postfix(self):
        return f"GPU {self.looks:03}%"

    def line(self):
        return f"GPU: Util {self.looks:03}%"

    def block(self, session):
        return f"=== Profiling Metrics ({session}) ===\\nGPU: Util {self.looks:03}%\\n"

    def wait(self, more=1):
        """Until so many more looks have begun: what the ones before showed is written."""
        with self.looked:
            until = self.looks + more + 1
            assert self.looked.wait_for(lambda: self.looks >= until, timeout=200), "the display has ended"

metrics = Metrics()
display = Display(0.001, lambda: "clip")
display._metrics = metrics
'''


def bar_line(done: int, of: int) -> re.Pattern[str]:
    return re.compile(rf"^ *\d+%\|.*\| {done}/{of} \[")


def test_a_bar_stays_one_whole_line_with_the_metrics_at_its_end(tmp_path: Path) -> None:
    written = on_terminal(
        SCRIPTED
        + """
from tqdm import tqdm
for step in tqdm(range(20), desc="denoise"):
    display.start()
    metrics.wait()
    if step == 19:
        display.stop()
""",
        tmp_path,
    )
    lines = shown(written)
    assert len(lines) == 1, lines
    assert lines[0].startswith("denoise: 100%|")
    assert "20/20" in lines[0]
    assert "GPU 005%" in written
    # It belongs to the bar's own end, in its brackets.
    assert re.search(r"it/s, GPU \d+%\]", written)


def test_what_the_program_puts_at_the_end_of_its_bar_stays(tmp_path: Path) -> None:
    written = on_terminal(
        SCRIPTED
        + """
from tqdm import tqdm
with tqdm(total=10) as bar:
    display.start()
    for step in range(10):
        bar.set_postfix_str(f"loss={step}")
        metrics.wait(2)
        bar.update()
        assert bar.postfix == f"loss={step}", bar.postfix
    assert type(bar) is not tqdm
    display.stop()
    assert bar.postfix == "loss=9", bar.postfix
    assert type(bar) is tqdm
""",
        tmp_path,
    )
    assert re.search(r"loss=3, GPU \d+%\]", written)
    # Once shown they stay, whatever the program sets.
    assert not re.search(r"loss=[2-8]\]", written)
    assert not re.search(r"GPU \d+%, GPU", written)
    assert len(shown(written)) == 1


def test_of_nested_bars_the_outer_one_carries_the_metrics_and_written_lines_stay_whole(tmp_path: Path) -> None:
    written = on_terminal(
        SCRIPTED
        + """
from tqdm import tqdm
with tqdm(total=3, desc="blocks") as blocks:
    display.start()
    for block in range(3):
        for _ in tqdm(range(4), desc="steps", leave=False):
            metrics.wait()
        tqdm.write(f"block {block} is done")
        blocks.update()
    display.stop()
""",
        tmp_path,
    )
    lines = shown(written)
    assert lines[:3] == ["block 0 is done", "block 1 is done", "block 2 is done"]
    assert lines[3].startswith("blocks: 100%|")
    assert len(lines) == 4, lines
    assert not re.search(r"steps:[^\r\n\x1b]*GPU", written)


def test_a_terminal_without_a_bar_gets_the_block(tmp_path: Path) -> None:
    work = "print('half a line', end='')\ndisplay.start()\nmetrics.wait(3)\ndisplay.stop()\n"
    written = on_terminal(SCRIPTED + work, tmp_path)
    lines = shown(written)
    assert lines[0] == "half a line"
    assert len(lines) >= 9
    assert set(lines[1::3]) == {"=== Profiling Metrics (clip) ==="}
    assert all(re.fullmatch(r"GPU: Util \d{3}%", line) for line in lines[2::3])
    assert set(lines[3::3]) <= {""}


@pytest.mark.parametrize("is_logging", [False, True])
def test_without_a_terminal_there_is_a_line_with_the_time(tmp_path: Path, is_logging: bool) -> None:
    setup = "import logging\nlogging.basicConfig(level=logging.INFO, format='LOG %(message)s')\n" if is_logging else ""
    program = tmp_path / "program.py"
    work = "from tqdm import tqdm\ndisplay.start()\nfor _ in tqdm(range(3)):\n    metrics.wait()\ndisplay.stop()\n"
    program.write_text(SCRIPTED + setup + work)
    ended = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    assert ended.stdout == ""
    said = [line for line in re.split(r"[\r\n]+", ended.stderr) if "Util" in line]
    form = r"LOG GPU: Util \d{3}%" if is_logging else r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d marey: GPU: Util \d{3}%"
    assert len(said) >= 3
    assert all(re.search(form + "$", line) for line in said), said


@pytest.mark.parametrize("variable", ["RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"])
def test_other_ranks_show_nothing(tmp_path: Path, variable: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(SCRIPTED + "display.start()\nassert threading.active_count() == 1\ndisplay.stop()\n")
    env = {variable: "1", "SLURM_STEP_ID": "0"}
    ended = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True, env=env)
    assert ended.stdout + ended.stderr == ""


def test_a_console_that_is_closed_ends_the_display_and_not_the_program(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    work = "sys.stdout = sys.stderr = None\ndisplay.start()\ndisplay._thread.join()\ndisplay.stop()\n"
    program.write_text(SCRIPTED + work)
    ended = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    assert ended.stdout + ended.stderr == ""


def test_a_forked_child_shows_nothing_and_its_parent_goes_on(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    work = """
import os
display.start()
metrics.wait()
child = os.fork()
if child == 0:
    display.stop()
    os._exit(threading.active_count())
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
metrics.wait(2)
display.stop()
print("shown")
"""
    program.write_text(SCRIPTED + work)
    ended = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    assert ended.stdout == "shown\n"
    assert "Exception" not in ended.stderr


def test_a_bar_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    written = on_terminal(
        SCRIPTED
        + """
from tqdm import tqdm
class Odd(tqdm):
    def refresh(self, *args, **kwargs):
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("not here")
        super().refresh(*args, **kwargs)
for _ in Odd(range(3)):
    display.start()
    display._thread.join()
display.stop()
""",
        tmp_path,
    )
    assert len(shown(written)) == 1
    assert "Traceback" not in written
