"""Programs with a known path, for tests of profiles."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from testkit.walked_programs import Run, follow, steps


@pytest.fixture(scope="session")
def follower(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that follows others."""
    if any(shutil.which(name) is None for name in ("gcc", "objdump", "nm")):
        pytest.skip("gcc and binutils are not installed")
    return steps(tmp_path_factory.mktemp("steps"))


@pytest.fixture(scope="session")
def fixed(tmp_path_factory: pytest.TempPathFactory, follower: Path) -> Run:
    """A program whose addresses are those of its file."""
    return follow(tmp_path_factory.mktemp("fixed"), follower, "-static", "-no-pie")


@pytest.fixture(scope="session")
def anywhere(tmp_path_factory: pytest.TempPathFactory, follower: Path) -> Run:
    """A program that the loader puts where it likes."""
    return follow(tmp_path_factory.mktemp("anywhere"), follower, "-static-pie")
