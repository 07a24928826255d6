"""Imports of other people's modules without what these import and a start does not need."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType


def import_without(name: str, unneeded: Mapping[str, Mapping[str, object]]) -> None:
    """Import a module that nobody has imported yet. Meanwhile stand-ins with these attributes are in the
    place of modules that are not there either; whoever imports one of those later gets it as ever."""
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
