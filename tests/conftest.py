"""Fixtures and settings for all tests."""

import os
from pathlib import Path

import pytest
from cyclelens.analyzer.microarchitectures.registry import DEFAULT_ARCH
from hypothesis import settings
from testkit.distributions import make_distributions
from testkit.made_once import made_once

# Tests that name no core are about Skylake, on any machine, and so are the programs that they
# start. Those of the default itself take it away.
os.environ[DEFAULT_ARCH] = "SKL"

# Hypothesis fails an example that takes more than 200 ms, as any does on a machine that is busy enough.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


VSCODE = "tests/editors/test_vscode_"
FIRST, STEP = 0.15, 0.15
"""Where in the run the files of VS Code stand, as parts of the number of files: it is installed meanwhile."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread the files of VS Code over the run: one of them waits more than it computes, and several at a
    time wait for each other."""
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.nodeid.partition("::")[0], []).append(item)
    order = [name for name in files if not name.startswith(VSCODE)]
    for number, name in enumerate(each for each in files if each.startswith(VSCODE)):
        order.insert(int((FIRST + STEP * number) * len(files)), name)
    items[:] = [item for name in order for item in files[name]]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "timed: measures this processor while nothing else runs (dev/test)")


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution and the wheel."""
    return made_once(tmp_path_factory, "distributions", make_distributions)
