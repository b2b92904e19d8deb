"""Programs that use stand-in devices, and what they left."""

from __future__ import annotations

from typing import Any

from capture_records import recorded
from interpreter import Finished, Interpreter


def finished(interpreter: Interpreter, program: Any, *arguments: Any, **variables: str) -> Finished:
    """The program, which has to end well and break no rule."""
    done = interpreter.run(program, *arguments, env=variables)
    assert (done.returncode, done.stderr) == (0, "")
    return done


def spans(done: Finished) -> list[tuple[str, int, int, float]]:
    """Name, device, stream and milliseconds of each span."""
    found = recorded(done)["gpu_spans"]
    return [(span["name"], span["device"], span["stream"], span["gpu_ns"] / 1e6) for span in found]


def why_not(done: Finished) -> str:
    """What a capture says of GPU times that are missing."""
    return dict(recorded(done)["unavailable"])["GPU time of sections"]
