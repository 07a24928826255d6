"""Prints the module globals that analyses change in some layers: ``python module_state.py LAYER...``."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from types import FunctionType
from typing import Any

from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.prediction import Predictor
from cyclelens.analyzer.engine.workspace import Workspace
from cyclelens.analyzer.hints.registry import hints
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Detail, Target
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.reports.registry import FORMATS, render

PREFIX = "cyclelens.analyzer."
PATTERN = type(re.compile(""))
PROGRAMS = (".child", ".importer")
"""Modules that are not imported: a program of its own, and one that needs a library for development."""


def inside(value: Any) -> Iterable[Any]:
    """The parts of a container, a function or an object of ours."""
    if isinstance(value, FunctionType):
        # Defaults, the wrapped function, and attributes set on it.
        defaults = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        return [*defaults, *(cell.cell_contents for cell in value.__closure__ or ()), *vars(value).values()]
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    # A pattern is a constant that is made when it is needed.
    if isinstance(value, type | PATTERN) or not type(value).__module__.startswith(PREFIX):
        return []
    names = [*getattr(value, "__dict__", {}), *getattr(value, "__struct_fields__", ())]
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        names += [slots] if isinstance(slots, str) else slots
    return [getattr(value, name) for name in names if hasattr(value, name)]


def contents(*values: Any) -> list[Any]:
    """All parts of values, each once, with the lengths of those that can grow."""
    found: dict[int, Any] = {}
    lengths: list[Any] = []
    waiting = list(values)
    while waiting:
        each = waiting.pop()
        if id(each) not in found:
            found[id(each)] = each
            parts = inside(each)
            waiting += parts
            lengths.append((each, len(list(parts))))
    return lengths


def state(layers: Iterable[str]) -> dict[str, list[Any]]:
    """The parts of every global of these layers, and the number of results that each caching function
    holds."""
    found: dict[str, list[Any]] = {}
    layers = tuple(f"{PREFIX}{layer}" for layer in layers)
    for module_name, module in list(sys.modules.items()):
        if not f"{module_name}.".startswith(tuple(f"{layer}." for layer in layers)):
            continue
        for name, value in list(vars(module).items()):
            key = f"{module_name.removeprefix(PREFIX)}:{name}"
            is_defined = callable(value) and hasattr(value, "__module__")
            if name.startswith("__") or (is_defined and value.__module__ != module_name):
                continue
            if hasattr(value, "cache_info"):
                # Without a parameter it is a constant that is made when it is needed.
                takes = value.__wrapped__.__code__.co_argcount > 0
                found[key] = [(None, value.cache_info().currsize if takes else 0)]
            elif isinstance(value, type):
                found[key] = contents(*(each for word, each in vars(value).items() if word[:2] != "__"))
            elif type(value).__name__ != "module":
                found[key] = contents(value)
    return found


def same(before: list[Any], after: list[Any]) -> bool:
    """Whether both have the same objects with the same lengths."""
    return len(before) == len(after) and all(
        (first is second or first == second) and length == other
        for (first, length), (second, other) in zip(before, after, strict=True)
    )


def work() -> None:
    """Analyses of texts and machine code, with many options."""
    analyzer = Analyzer(Workspace())
    for file in sorted(Path("examples").glob("*.s")):
        text = file.read_text()
        for trace in (False, True):
            options = AnalysisOptions(
                target=Target(microarchitectures=("SKL", "ZEN4")),
                detail=Detail(prices=not trace, trace=trace, account=trace),
            )
            found = analyzer.analyze(text, options)
            hints(found)
            for report_format in FORMATS if file.stem == "lcp_stall" else ():
                render(found, file.name, report_format)
    code = bytes.fromhex("4c8d8c480500000049ffc0")
    for mode in (Mode.UNROLL, Mode.LOOP):
        for name in ("HSW", "ZEN5"):
            Predictor().predict_batch([code, 3 * code], name, mode)


def main(layers: list[str]) -> None:
    for layer in layers:
        package = importlib.import_module(PREFIX + layer)
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith(PROGRAMS):
                importlib.import_module(found.name)
    before = state(layers)
    work()
    after = state(layers)
    print(*sorted(key for key in before if not same(before[key], after[key])), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
