"""Changes values of cores and blocks at random, for the face of the compiled core.

It has to answer each with a figure or with one clear exception. ``benchmarks/fuzzing.py core`` makes more.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from typing import Any

from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Model, Pointers
from cyclelens.analyzer.model.microarchitecture import IDENTITY, Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.uops import Block, InstructionTemplate, UopTemplate
from cyclelens.analyzer.simulator.core import simulate
from cyclelens.analyzer.simulator.failures import Cancelled, SimulationStuck
from cyclelens.analyzer.simulator.run_request import RunRequest
from msgspec import Struct
from msgspec.structs import replace

from testkit.blocks import block_of

CODES = (
    "4801d8480fafc3",
    "488b0648894708",
    "f3480f2ac0f30f58c1",
    "c5fc580e c5fc110f 4883c620 4883c720",
    "48f7f1",
    "f0480fc106 0faee8",
    "4889c34889d94889c8",
    "50 58 5359",
    "88e0 00c4 4801c8",
    "66b93412 0fb6c1",
    "c4e2fd92 0c36",
    "f3a4",
    "488d4c8b10 8b11 d3e0",
    "eb00 7400 90",
    "0fa2 90",
    "c5f877 0f58c1",
)
NUMBERS = (0, 1, 2, 3, 7, 8, 31, 63, 64, 65, 1000, 1 << 15, 1 << 16, 1 << 20, (1 << 31) - 1, 1 << 31, 1 << 40)
SECONDS = 2.0
"""After which a run is cancelled."""


class Case(Struct):
    """One call of the face, and what was changed in it."""

    block: Block
    core: Microarchitecture
    request: RunRequest
    options: ModelOptions
    changes: list[str]

    def outcome(self) -> str:
        """``figure``, or the name of the exception and what it says. Any other exception is raised; so is one
        in a stage, which cannot raise (an index out of range in a checked build)."""
        limit = time.monotonic() + SECONDS
        ignored: list[str] = []
        hook = sys.unraisablehook
        sys.unraisablehook = lambda found: ignored.append(f"{found.exc_value!r} in {found.object!r}")
        try:
            simulate(
                self.block,
                self.core,
                request=self.request,
                options=self.options,
                cancel=lambda: time.monotonic() > limit,
            )
        except (ValueError, SimulationStuck, Cancelled) as error:
            return f"{type(error).__name__}: {error}"
        finally:
            sys.unraisablehook = hook
            assert not ignored, ignored[0]
        return "figure"


def mutated_case(source: random.Random) -> Case:
    """A real block on a real core, with one to three values out of place."""
    name = source.choice(registry.names())
    core = registry.get(name)
    options = ModelOptions(
        model=source.choice((Model.HARDWARE, Model.UICA)),
        assume=source.choice((Pointers.DIFFERENT, Pointers.SAME)),
    )
    block = block_of(source.choice(CODES), name, loop=source.random() < 0.5, options=options)
    request = RunRequest(
        min_cycles=source.choice((1, 50, 300)),
        trace=source.random() < 0.3,
        account=source.random() < 0.3,
        details=source.random() < 0.5,
    )
    case = Case(block, core, request, options, [name, block.entries[0].instruction.text])
    for _ in range(source.randint(1, 3)):
        source.choice(
            (_change_core, _change_core, _change_rules, _change_block, _change_instruction, _change_uop)
        )(case, source)
    return case


def _value(old: object, source: random.Random) -> object:
    """Another value of the same type."""
    if isinstance(old, bool):
        return not old
    if isinstance(old, int):
        number = source.choice(NUMBERS)
        return source.choice((number, number, -number, -1))
    if isinstance(old, str):
        return source.choice(("", "nothing", old * 2))
    if isinstance(old, tuple):
        kept = list(old)
        if kept and source.random() < 0.5:
            place = source.randrange(len(kept))
            kept[place] = _value(kept[place], source)
        elif kept and source.random() < 0.5:
            kept.pop()
        elif kept:
            kept += kept
        return tuple(kept)
    if isinstance(old, Struct) and not isinstance(old, type):
        return _changed(old, source)[0]
    return old


def _changed(old: Any, source: random.Random, kept: frozenset[str] = frozenset()) -> tuple[Any, str]:
    """The struct with one other value, and which."""
    names = [name for name in old.__struct_fields__ if name not in kept]
    name = source.choice(names)
    value = _value(getattr(old, name), source)
    return replace(old, **{name: value}), f"{type(old).__name__}.{name} = {value!r}"[:200]


def _change_core(case: Case, source: random.Random) -> None:
    case.core, change = _changed(case.core, source, IDENTITY)
    case.changes.append(change)


def _change_rules(case: Case, source: random.Random) -> None:
    if isinstance(case.core.macro_ops, Struct):
        rules, change = _changed(case.core.macro_ops, source)
        case.core = replace(case.core, macro_ops=rules)
        case.changes.append(change)


def _change_block(case: Case, source: random.Random) -> None:
    case.block, change = _changed(case.block, source, frozenset({"entries", "microarchitecture"}))
    case.changes.append(change)


def _with_template(
    case: Case, source: random.Random, change: Callable[[InstructionTemplate], tuple[Any, str]]
) -> None:
    templates = [entry.template() for entry in case.block.entries]
    place = source.randrange(len(templates))
    templates[place], said = change(templates[place])
    case.block = replace(case.block, entries=tuple(templates))
    case.changes.append(f"instruction {place}: {said}")


def _change_instruction(case: Case, source: random.Random) -> None:
    _with_template(case, source, lambda old: _changed(old, source, frozenset({"instruction", "facts"})))


def _change_uop(case: Case, source: random.Random) -> None:
    def change(old: InstructionTemplate) -> tuple[Any, str]:
        if not old.uops:
            return old, "no uops"
        uops: list[UopTemplate] = list(old.uops)
        place = source.randrange(len(uops))
        uops[place], said = _changed(uops[place], source)
        return replace(old, uops=tuple(uops)), said

    _with_template(case, source, change)
