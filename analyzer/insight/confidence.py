"""What a prediction rests on: what makes it less certain than others, and what it takes for granted."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Prediction
from cyclelens.analyzer.model.uops import InstructionTemplate

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


def is_uncertain(prediction: Prediction) -> bool:
    """True if some instruction has no figures at all: the real figure may be much higher."""
    return any(template.facts is None for template in prediction.instructions)


def doubt(prediction: Prediction) -> str:
    """What to write behind a figure that is not to be taken at face value: `` (uncertain)`` without figures
    of some instruction, `` (approximate)`` on a microarchitecture that is not known in detail; else empty."""
    if is_uncertain(prediction):
        return " (uncertain)"
    return " (approximate)" if registry.get(prediction.microarchitecture).confidence else ""


def reservations(prediction: Prediction) -> tuple[str, ...]:
    """Sentences on why to read the figure with care; empty for a prediction of full confidence."""
    total = len(prediction.instructions)
    name = prediction.microarchitecture
    unknown = sum(template.facts is None for template in prediction.instructions)
    estimated = sum(
        template.facts is not None and template.facts.constructed for template in prediction.instructions
    )
    confidence = registry.get(name).confidence
    sentences = [f"Confidence: {confidence}."] if confidence else []
    if unknown:
        have = "instruction has" if unknown == 1 else "instructions have"
        sentences.append(f"{unknown} {have} no figures on {name}: the real loop may take longer.")
    if estimated:
        sentences.append(
            f"The figures of {estimated} of {total} instructions on {name} were put together from published "
            "tables, not measured."
        )
    return tuple(sentences)


def assumptions(prediction: Prediction) -> tuple[str, ...]:
    """Sentences on what the figure takes for granted and this block strains; empty for most blocks."""
    sentences = (
        _operand_values(prediction.instructions),
        _no_denormals(prediction.instructions),
        _no_overlap(prediction.instructions),
    )
    return tuple(sentence for sentence in sentences if sentence)


def _mnemonics(instructions: Sequence[InstructionTemplate]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(template.instruction.mnemonic for template in instructions))


def _operand_values(instructions: Sequence[InstructionTemplate]) -> str:
    names = [
        name
        for name in _mnemonics(instructions)
        if name in _INTEGER_DIVISIONS or _FLOAT_DIVISION.fullmatch(name)
    ]
    if not names:
        return ""
    return f"The time of {_listed(names)} depends on the operands; the figure is for quick ones."


def _no_denormals(instructions: Sequence[InstructionTemplate]) -> str:
    if not any(_FLOAT_ARITHMETIC.fullmatch(name) for name in _mnemonics(instructions)):
        return ""
    return "No floating-point value is denormal: those can take more than a hundred cycles each."


def _no_overlap(instructions: Sequence[InstructionTemplate]) -> str:
    """Stores, and other accesses whose addresses have another base register: nothing says that they touch
    different memory, but the model takes it so (uiCA model, 4.1)."""
    accesses = [access for template in instructions for access in template.memory_operands]
    stored = dict.fromkeys(a.base for a in accesses if a.written and a.base not in _FIXED_BASES)
    touched = dict.fromkeys(a.base for a in accesses if a.base not in _FIXED_BASES)
    others = [base for base in touched if any(base != store for store in stored)]
    if not stored or not others:
        return ""
    bases = dict.fromkeys((*stored, *others))
    names = _listed([base.lower() for base in bases if base])
    return f"Accesses through {names} touch different memory; if they overlap, loads may have to wait."


def _listed(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``, ``a, b, c and others``."""
    shown = list(names[:_NAMED])
    if len(names) > _NAMED:
        shown.append("others")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
