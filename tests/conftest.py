"""What holds for every test: rings in a folder of its own, and a skipped test has not passed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

SHARED_MEMORY = Path("/dev/shm")


def new_ring_folder() -> str:
    """An empty folder for the rings of what is recorded, in shared memory where there is any."""
    return tempfile.mkdtemp(prefix="marey-test-", dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None)


def pytest_configure(config: pytest.Config) -> None:
    """What fixtures record before a test has rings of its own goes to a folder of this process."""
    folder = new_ring_folder()
    os.environ["MAREY_RING_DIR"] = folder
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


@pytest.fixture(autouse=True)
def ring_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the test's programs have their rings: no other test meets what they leave, and in the end it is gone."""
    folder = new_ring_folder()
    monkeypatch.setenv("MAREY_RING_DIR", folder)
    yield Path(folder)
    shutil.rmtree(folder, ignore_errors=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option that says how many skipped tests are right on this machine."""
    parser.addoption("--expected-skips", type=int, default=0, help="how many tests may, and must, be skipped")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fails a run that skipped another number of tests."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:  # A worker: whoever started it counts.
        return
    skipped = len(reporter.stats.get("skipped", []))
    expected = session.config.getoption("--expected-skips")
    if skipped != expected and session.exitstatus == pytest.ExitCode.OK:
        reporter.write_line(f"{skipped} tests were skipped, {expected} expected (--expected-skips)", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
