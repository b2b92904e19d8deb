"""A test that is skipped has not passed: a run with another number of them than expected fails."""

from __future__ import annotations

import pytest


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
