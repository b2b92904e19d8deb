"""Fresh interpreters for the tests."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from interpreter import Interpreter
from stand_in_nvml import StandInNvml, build

# Shells start what they run in the background with Ctrl-C ignored, and `nohup` more, which programs of the tests would
# inherit. Python itself ignores two, and gives its programs none of that.
for number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def interpreter(tmp_path: Path) -> Interpreter:
    """Fresh interpreters in a folder of the test's own, with the sections that this Python gets."""
    return Interpreter(tmp_path)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forks and ends wait for threads of Marey until they have ended, however busy the machine is."""
    monkeypatch.setenv("MAREY_PATIENCE_MS", "60000")


@pytest.fixture(params=["fast", "plain"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Interpreter:
    """As ``interpreter``; the test runs with the fast and with the plain section objects.

    For what these do themselves: they are entered and left, nest, are shared by threads, and see exceptions.
    """
    return Interpreter(tmp_path, use_fast_sections=request.param == "fast")


@pytest.fixture(scope="session")
def nvml_library() -> Path:
    """The stand-in for NVIDIA's library, built once."""
    return build()


@pytest.fixture
def nvml(nvml_library: Path, tmp_path: Path) -> StandInNvml:
    """GPUs that answer as a script says."""
    return StandInNvml(nvml_library, tmp_path / "nvml")
