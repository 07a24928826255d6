"""Part of mutation.py, a plugin of pytest: runs the cases that a file names, or sees what lines each runs."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

import coverage
import msgspec
import pytest

CHOSEN = "MUTATION_CASES"
"""Names the file with the names of the cases to run, in their order."""
SECONDS = "MUTATION_SECONDS"
"""Names the file that gets the seconds of each case."""

_seconds: defaultdict[str, float] = defaultdict(float)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if CHOSEN in os.environ:
        names = msgspec.json.decode(Path(os.environ[CHOSEN]).read_bytes(), type=list[str])
        known = {item.nodeid: item for item in items}
        items[:] = [known[name] for name in names]


def _context(name: str) -> None:
    if measurement := coverage.Coverage.current():
        measurement.switch_context(name)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    # What a fixture has made may be there for every case of the file.
    _context(item.nodeid.partition("::")[0])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    _context(item.nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[report.nodeid] += report.duration


def pytest_sessionfinish() -> None:
    if SECONDS in os.environ:
        Path(os.environ[SECONDS]).write_bytes(msgspec.json.encode(_seconds))
