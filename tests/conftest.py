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


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "timed: measures this processor while nothing else runs (dev/test)")


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution and the wheel."""
    return made_once(tmp_path_factory, "distributions", make_distributions)
