"""In CI a skipped test is a failure: a check that silently did not run proves nothing."""

from __future__ import annotations

import os

import pytest


def _skipped_in_ci(config: pytest.Config) -> int:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if not os.environ.get("CI") or reporter is None:
        return 0
    return len(reporter.stats.get("skipped", []))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if exitstatus == pytest.ExitCode.OK and _skipped_in_ci(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if skipped := _skipped_in_ci(config):
        terminalreporter.write_line(f"{skipped} skipped, which CI does not allow", red=True)
