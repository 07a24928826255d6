"""Selects the form of the simulator: compiled, or the same files as plain Python."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from types import ModuleType

PACKAGE = "cyclelens.analyzer.simulator"


class _Compiled:
    """Finds the compiled modules, which are all in one file. It has no base class because importing that of
    finders takes a tenth of the start-up time."""

    def __init__(self, file: str, names: frozenset[str]) -> None:
        self._file = file
        self._names = names

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self._names:
            return None
        spec = ModuleSpec(fullname, ExtensionFileLoader(fullname, self._file), origin=self._file)
        spec.has_location = True
        return spec


def take_compiled() -> None:
    """Make this process use the stages compiled at installation, if there are any."""
    try:
        whole = import_module(f"{PACKAGE}._compiled")
    except ModuleNotFoundError:
        return
    sys.meta_path.insert(0, _Compiled(str(whole.__file__), whole.NAMES))


def take_sources() -> None:
    """Make this process use the Python sources of the stages even if compiled ones exist.

    A debugger can then step through them. The environment variable ``CYCLELENS_PLAIN`` requests it.
    """
    loaded = {name for name in sys.modules if name.startswith(f"{PACKAGE}.")}
    if loaded - {__name__, f"{PACKAGE}._compiled"}:
        raise RuntimeError("the simulator is already imported")
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Compiled)]


def compiled() -> bool:
    """Whether the compiled stages are in use; they are 30 to 60 times as fast."""
    return any(isinstance(finder, _Compiled) for finder in sys.meta_path)
