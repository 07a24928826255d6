"""Which form of the simulator runs: compiled, or the same files as plain Python."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from importlib.util import find_spec, spec_from_file_location
from types import ModuleType

PACKAGE = "cyclelens.analyzer.simulator"


def compiled() -> bool:
    """Whether the stages were compiled at installation; they are 30 to 60 times as fast then."""
    spec = find_spec(f"{PACKAGE}.clock")
    return spec is not None and str(spec.origin).endswith(tuple(EXTENSION_SUFFIXES))


def take_sources() -> None:
    """Have this process take the stages from their sources, although compiled ones lie beside them.

    A debugger can step through them then. The environment variable ``CYCLELENS_PLAIN`` asks for it.
    """
    if any(name.startswith(f"{PACKAGE}.") and name != __name__ for name in sys.modules):
        raise RuntimeError("the simulator is already imported")
    sys.meta_path.insert(0, _SourcesFirst())


class _SourcesFirst:
    """Finds the simulator's modules by their source files only. A class of its own, because to import that of
    finders takes a tenth of a start."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        parent, _, name = fullname.rpartition(".")
        if parent != PACKAGE and not parent.startswith(f"{PACKAGE}."):
            return None
        files = (os.path.join(folder, f"{name}.py") for folder in path or ())
        file = next((file for file in files if os.path.exists(file)), None)
        return None if file is None else spec_from_file_location(fullname, file)
