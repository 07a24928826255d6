"""Which form of the simulator runs: compiled, or the same files as plain Python."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from types import ModuleType

PACKAGE = "cyclelens.analyzer.simulator"


class _Compiled:
    """Finds the compiled modules, which all lie in one file. A class of its own, because to import that of
    finders takes a tenth of a start."""

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
    """Have this process take the stages from what was compiled at installation, if anything was."""
    try:
        whole = import_module(f"{PACKAGE}._compiled")
    except ModuleNotFoundError:
        return
    sys.meta_path.insert(0, _Compiled(str(whole.__file__), whole.NAMES))


def take_sources() -> None:
    """Have this process take the stages from their sources, although compiled ones lie beside them.

    A debugger can step through them then. The environment variable ``CYCLELENS_PLAIN`` asks for it.
    """
    loaded = {name for name in sys.modules if name.startswith(f"{PACKAGE}.")}
    if loaded - {__name__, f"{PACKAGE}._compiled"}:
        raise RuntimeError("the simulator is already imported")
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Compiled)]


def compiled() -> bool:
    """Whether the compiled stages are taken; they are 30 to 60 times as fast."""
    return any(isinstance(finder, _Compiled) for finder in sys.meta_path)
