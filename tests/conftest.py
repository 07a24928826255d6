"""Fixtures and settings for all tests."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cyclelens.analyzer.microarchitectures.registry import DEFAULT_ARCH
from hypothesis import settings
from testkit.distributions import make_distributions
from testkit.made_once import made_once
from testkit.server.preloaded import preloaded_command
from xdist.scheduler import LoadFileScheduling

# Tests that name no core are about Skylake, on any machine, and so are the programs that they
# start. Those of the default itself take it away.
os.environ[DEFAULT_ARCH] = "SKL"

# The tables and the parsed sources live until the end. Looking through them for garbage as often as usual
# takes a seventh of the time of the tests.
gc.set_threshold(100_000, 50, 100)

# Hypothesis fails an example that takes more than 200 ms, as any does on a machine that is busy enough.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


VSCODE = "tests/editors/test_vscode_"
FIRST = f"{VSCODE}session.py"
"""In a window in which nothing has been measured yet. The files of VS Code share one window, so that one
process runs them."""
SHORT = ("tests/microarchitectures/", "tests/model/", "tests/uops/")
PLACE = 0.1
"""Where the files of VS Code stand, as a part of the number of files: it is installed meanwhile."""


class Together(LoadFileScheduling):
    """A file is run by one process, and so are the files that share a window."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return VSCODE if file.startswith(VSCODE) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    return Together(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files of VS Code there, and short tests last, so that no process is alone at the end."""
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.nodeid.partition("::")[0], []).append(item)
    in_window = sorted((name for name in files if name.startswith(VSCODE)), key=lambda name: name != FIRST)
    others = [name for name in files if not name.startswith(VSCODE)]
    order = sorted(others, key=lambda name: name.startswith(SHORT))
    place = int(PLACE * len(files))
    order[place:place] = in_window
    items[:] = [item for name in order for item in files[name]]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "timed: measures this processor while nothing else runs (dev/test)")


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution and the wheel."""
    return made_once(tmp_path_factory, "distributions", make_distributions)


@pytest.fixture(scope="session")
def preloaded() -> Iterator[list[str]]:
    """The words that start ``cyclelens`` without the time of its imports."""
    with preloaded_command() as words:
        yield words
