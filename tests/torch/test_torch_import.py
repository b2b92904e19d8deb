"""Marey never brings torch into a process, also where it is installed."""

from __future__ import annotations

import subprocess
import sys


def run(code: str) -> str:
    """What the code prints in a fresh interpreter."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_and_use_do_not_import_torch() -> None:
    """Not at import, not with sections, iterations, memory readings and summaries."""
    code = """
import sys, marey
def heavy():
    return sorted({name.split(".")[0] for name in sys.modules} & {"torch", "numpy", "diffusers", "transformers"})
assert heavy() == [], heavy()
steps, memory = marey.IterationProfiler("step"), marey.MemoryTracker()
with marey.session("clip-0", seed=7):
    for _ in range(3):
        with steps.iteration(), marey.profile_section("work"):
            memory.snapshot("inside")
marey.get_global_stats().print_summary()
memory.print_summary()
steps.print_summary()
print("heavy:", heavy())
"""
    assert run(code).splitlines()[-1] == "heavy: []"


def test_torch_may_be_imported_after_marey() -> None:
    """The order of imports does not matter to either."""
    code = "import marey, torch; print((torch.ones(2) + 1).tolist())"
    assert run(code) == "[2.0, 2.0]"
