"""Copies the sources that a distribution is built from, without this tree's compiled files."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]
_COMPILED = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd", "cyclelens-harness")


def copy_sources(names: Iterable[str], folder: Path) -> None:
    """Copy files and folders of the root, by name; what is not there is left out."""
    for name in names:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=_COMPILED)
        elif (ROOT / name).exists():
            shutil.copy(ROOT / name, folder / name)
