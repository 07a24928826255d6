"""What a figure takes for granted and the region at hand gives a reason to doubt.

Every kind has a code and one line in ``CODES``. A kind that the instructions alone tell is a function in
``_KINDS``; others are added by whoever knows them: the place in memory and the path through a region.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from cyclelens.analyzer.microarchitectures import extensions
from cyclelens.analyzer.model.result import Assumption
from cyclelens.analyzer.model.uops import InstructionTemplate

CODES = {
    "operand-values": "divisions and square roots have quick operands",
    "no-denormals": "no floating-point value is denormal",
    "no-overlap": "accesses through different pointers touch different memory",
    "call-not-counted": "a called function takes no time",
    "older-meaning": "the core does not know an instruction and runs an older one",
    "unknown-offset": "where the region lies in memory",
    "inner-branch": "which way a branch within the region goes",
}
"""Stable names of all kinds, and what is assumed."""

_INTEGER_DIVISIONS = frozenset({"div", "idiv"})
_FLOAT_DIVISION = re.compile(r"v?(div|sqrt)[ps][sdh]|f(i?divr?p?|sqrt)")
_FLOAT_ARITHMETIC = re.compile(
    r"v?(add|sub|mul|div|sqrt|hadd|hsub|addsub|dp)[ps][sdh]|vfn?m(add|sub|addsub|subadd)\d+[ps][sdh]"
    r"|f(i?(add|sub|subr|mul|div|divr)p?|sqrt)"
)
_FIXED_BASES = frozenset({None, "RIP", "RSP"})
"""Code and stack are not where other pointers usually point."""
_NAMED = 3
"""So many registers or instructions are named in a sentence."""

Templates = Sequence[InstructionTemplate]


def assumptions(instructions: Templates, microarchitecture: str) -> tuple[Assumption, ...]:
    """What the instructions alone tell; empty for most blocks."""
    return tuple(found for kind in _KINDS for found in kind(instructions, microarchitecture))


def _where(instructions: Templates, holds: Callable[[str], object]) -> tuple[int, ...]:
    return tuple(index for index, template in enumerate(instructions) if holds(template.instruction.mnemonic))


def _mnemonics(instructions: Templates, indices: Sequence[int]) -> list[str]:
    return list(dict.fromkeys(instructions[index].instruction.mnemonic for index in indices))


def _operand_values(instructions: Templates, microarchitecture: str) -> Iterator[Assumption]:
    found = _where(instructions, lambda name: name in _INTEGER_DIVISIONS or _FLOAT_DIVISION.fullmatch(name))
    if found:
        names = listed(_mnemonics(instructions, found))
        message = f"The time of {names} depends on the operands; the figure is for quick ones."
        yield Assumption("operand-values", message, found)


def _no_denormals(instructions: Templates, microarchitecture: str) -> Iterator[Assumption]:
    found = _where(instructions, _FLOAT_ARITHMETIC.fullmatch)
    if found:
        message = "No floating-point value is denormal: those can take more than a hundred cycles each."
        yield Assumption("no-denormals", message, found)


def _no_overlap(instructions: Templates, microarchitecture: str) -> Iterator[Assumption]:
    """Stores, and other accesses whose addresses have another base register: nothing says that they touch
    different memory, but the model takes it so (uiCA model, 4.1)."""
    accesses = [
        (index, access)
        for index, template in enumerate(instructions)
        for access in template.memory_operands
        if access.base not in _FIXED_BASES
    ]
    stored = dict.fromkeys(access.base for _, access in accesses if access.written)
    others = [access.base for _, access in accesses if any(access.base != base for base in stored)]
    if not stored or not others:
        return
    bases = dict.fromkeys((*stored, *others))
    names = listed([base.lower() for base in bases if base])
    message = f"Accesses through {names} touch different memory; if they overlap, loads may have to wait."
    found = dict.fromkeys(index for index, access in accesses if access.base in bases)
    yield Assumption("no-overlap", message, tuple(found))


def _call_not_counted(instructions: Templates, microarchitecture: str) -> Iterator[Assumption]:
    found = _where(instructions, lambda name: name == "call")
    if found:
        functions = "The called function takes" if len(found) == 1 else "The called functions take"
        message = f"{functions} no time here: only the call itself is counted, not what is called."
        yield Assumption("call-not-counted", message, found)


def _older_meaning(instructions: Templates, microarchitecture: str) -> Iterator[Assumption]:
    for index, template in enumerate(instructions):
        instead = extensions.older_meaning(template.instruction, microarchitecture)
        if instead:
            name = template.instruction.mnemonic
            message = f"{microarchitecture} has no {name}: it runs {instead}, which can give another result."
            yield Assumption("older-meaning", message, (index,))


_KINDS: tuple[Callable[[Templates, str], Iterator[Assumption]], ...] = (
    _older_meaning,
    _call_not_counted,
    _operand_values,
    _no_denormals,
    _no_overlap,
)


def listed(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``, ``a, b, c and others``."""
    shown = list(names[:_NAMED])
    if len(names) > _NAMED:
        shown.append("others")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
