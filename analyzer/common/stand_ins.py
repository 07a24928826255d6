"""Imports of other people's modules without what these import and a start does not need."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from types import ModuleType


def import_without(name: str, unneeded: Mapping[str, Mapping[str, object]]) -> None:
    """Import a module that nobody has imported yet. Meanwhile stand-ins with these attributes are in the
    place of modules that are not there either; whoever imports one of those later, or asks its package for
    it, gets it as ever."""
    if name in sys.modules:
        return
    stand_ins = {each: ModuleType(each) for each in unneeded if each not in sys.modules}
    for each, stand_in in stand_ins.items():
        vars(stand_in).update(unneeded[each])
    sys.modules.update(stand_ins)
    try:
        import_module(name)
    finally:
        for each in stand_ins:
            del sys.modules[each]
            package, _, part = each.rpartition(".")
            if package in sys.modules:
                vars(sys.modules[package]).pop(part, None)
    vars(sys.modules[name]).setdefault("__getattr__", _importer(name, stand_ins))


def _importer(package: str, parts: Collection[str]) -> Callable[[str], ModuleType]:
    """A module's ``__getattr__`` that imports those of its parts that it was imported without."""

    def imported(part: str) -> ModuleType:
        name = f"{package}.{part}"
        if name not in parts:
            raise AttributeError(f"module {package!r} has no attribute {part!r}")
        return import_module(name)

    return imported
