"""Runs the simulator from its .py files although compiled ones lie beside them.

As a program: ``python tests/support/uncompiled.py SCRIPT.py ARGUMENTS``. As a plugin of pytest:
``PYTHONPATH=tests/support pytest -p uncompiled tests/simulator``. Processes started from there are not
affected.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

PACKAGE = "cyclelens.analyzer.simulator"


class SourcesFirst(MetaPathFinder):
    """Finds the simulator's modules by their source files only."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        parent, _, name = fullname.rpartition(".")
        if parent != PACKAGE and not parent.startswith(f"{PACKAGE}."):
            return None
        files = (Path(folder) / f"{name}.py" for folder in path or ())
        file = next((file for file in files if file.exists()), None)
        return None if file is None else spec_from_file_location(fullname, file)


if any(module.startswith(f"{PACKAGE}.") for module in sys.modules):
    raise RuntimeError("the simulator is already imported")
sys.meta_path.insert(0, SourcesFirst())

if __name__ == "__main__":
    sys.argv = sys.argv[1:]
    sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
    runpy.run_path(sys.argv[0], run_name="__main__")
