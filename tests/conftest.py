"""What holds for every test: rings in a folder of its own, and a skipped test has not passed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

SHARED_MEMORY = Path("/dev/shm")
MAY_BE_SKIPPED = Path(__file__).with_name("may_be_skipped.txt")


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


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Names what passed at a later try only; fails on a skipped test that `may_be_skipped.txt` does not name."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:  # A worker: whoever started it looks.
        return
    reporter.write_line("")
    failed = {report.nodeid for report in reporter.stats.get("failed", [])}
    flaky = (report for report in reporter.stats.get("rerun", []) if report.nodeid not in failed)
    for report in flaky:
        reporter.write_line(f"FLAKY {report.nodeid}\n{report.longreprtext}", yellow=True)
    lines = MAY_BE_SKIPPED.read_text(encoding="utf-8").splitlines()
    allowed = {line.split()[0] for line in lines if line and not line.startswith("#")}
    skipped = {report.nodeid.partition("::")[0] for report in reporter.stats.get("skipped", [])}
    for path in sorted(skipped - allowed):
        reporter.write_line(f"FAILED {path}: skipped, and not in {MAY_BE_SKIPPED.name}", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
