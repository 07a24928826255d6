"""Part of mutation.py, a plugin of pytest: runs the cases that a file names, or sees what lines each runs."""

from __future__ import annotations

import os
import signal
import sys
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import coverage
import msgspec
import pytest

CHOSEN = "MUTATION_CASES"
"""Names the file with the names of the cases to run, in their order, and the seconds that each may take."""
SECONDS = "MUTATION_SECONDS"
"""Names the file that gets the seconds of processor time of each case."""
MET = "MUTATION_MET"
"""Names the file that gets the mutants of the core that each case reaches."""

_seconds: dict[str, float] = {}
_failed: set[str] = set()
_met: defaultdict[str, set[int]] = defaultdict(set)
_now = ""
_patience: dict[str, float] = {}
_CORE = "cyclelens.analyzer.simulator.core"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if CHOSEN in os.environ:
        _patience.update(msgspec.json.decode(Path(os.environ[CHOSEN]).read_bytes(), type=dict[str, float]))
        known = {item.nodeid: item for item in items}
        items[:] = [known[name] for name in _patience]


def _context(name: str) -> None:
    global _now
    if take := getattr(sys.modules.get(_CORE), "mutants_met", None):
        _met[_now].update(take())
    _now = name
    if measurement := coverage.Coverage.current():
        measurement.switch_context(name)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    # Unlike a handler of Python, which a command in this process may have left, the signal itself also ends
    # an endless loop of the core.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, _patience.get(item.nodeid, 0.0))
    # What a fixture has made may be there for every case of the file.
    _context(item.nodeid.partition("::")[0])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    _context(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Counts processor time, that of programs included: what else runs on the machine changes nothing."""
    before = sum(os.times()[:4])
    result = yield
    _seconds[item.nodeid] = sum(os.times()[:4]) - before
    return result


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _failed.add(report.nodeid)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    _context("")
    signal.setitimer(signal.ITIMER_REAL, 0.0)


def pytest_sessionfinish() -> None:
    if MET in os.environ:
        _met.pop("", None)
        Path(os.environ[MET]).write_bytes(msgspec.json.encode(_met))
    if SECONDS in os.environ:
        for case in _failed:
            del _seconds[case]
        Path(os.environ[SECONDS]).write_bytes(msgspec.json.encode(_seconds))
