"""Finds the record of the fact tables that describes a decoded instruction (uiCA model, rules T1 to T4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from cyclelens.analyzer.model.facts import InstructionFacts
from cyclelens.analyzer.model.instruction import Instruction, OperandKind

_HIGH_BYTES = frozenset({"AH", "BH", "CH", "DH"})


_OLDER_MEANING = {"TZCNT_GPRv_GPRv": "BSF_GPRv_GPRv", "TZCNT_GPRv_MEMv": "BSF_GPRv_MEMv"}
"""Processors without TZCNT ignore its prefix and execute BSF (Intel's manual, TZCNT)."""


class CandidateSource(Protocol):
    """The part of the fact store that matching needs."""

    def candidates(self, microarchitecture: str, iform: str) -> tuple[InstructionFacts, ...]:
        """The records with this form name, in the source's order."""


def _address_form(instruction: Instruction) -> str:
    """Parts of a computed address: ``B_IS_D8`` = base, scaled index, 8-bit displacement; R for RIP."""
    for operand in instruction.operands:
        if operand.kind is OperandKind.AGEN:
            parts = []
            if operand.base:
                parts.append("R" if operand.base in ("RIP", "EIP") else "B")
            if operand.index:
                parts.append("I" if operand.scale == 1 else "IS")
            if operand.displacement_bits:
                parts.append(f"D{operand.displacement_bits}")
            return "_".join(parts)
    return ""


def _high_bytes(instruction: Instruction) -> str:
    """Which register operands are AH, BH, CH or DH: ``REG0,REG1``."""
    registers = [operand.register for operand in instruction.operands if operand.register]
    return ",".join(f"REG{number}" for number, register in enumerate(registers) if register in _HIGH_BYTES)


_TEXTS: Mapping[str, Callable[[Instruction], str]] = {
    "agen": _address_form,
    "bcast": lambda instruction: "1" if instruction.broadcast else "0",
    "eosz": lambda instruction: str(instruction.effective_operand_size),
    "high8": _high_bytes,
    "immzero": lambda instruction: "1" if instruction.immediate == 0 else "0",
    "mask": lambda instruction: "1" if instruction.mask else "0",
    "rm": lambda instruction: str(instruction.rm),
    "rep": lambda instruction: str(instruction.repeat),
    "sae": lambda instruction: str(int(instruction.suppress_exceptions)),
    "zeroing": lambda instruction: str(int(instruction.zeroing)),
}


def _matches(instruction: Instruction, facts: InstructionFacts) -> bool:
    for name, wanted in facts.attributes.items():
        if name == "rm":
            # The record lists its digits: "4,5,6,7".
            fits = _TEXTS[name](instruction) in wanted
        elif name == "bcast":
            # The record names the kind of broadcast; a form has at most one, so its presence decides.
            fits = instruction.broadcast == (wanted != "0")
        else:
            fits = _TEXTS[name](instruction) == wanted
        if not fits:
            return False
    return True


def find_facts(
    instruction: Instruction, microarchitecture: str, store: CandidateSource
) -> InstructionFacts | None:
    """The record that describes the instruction; None if the tables have none (an unknown instruction).

    The first record of the instruction's form whose attributes all match wins. Attributes that a record lacks
    do not restrict it.
    """
    for facts in _candidates(instruction.iform, microarchitecture, store):
        if _matches(instruction, facts):
            return facts
    return None


def _candidates(iform: str, microarchitecture: str, store: CandidateSource) -> tuple[InstructionFacts, ...]:
    if not iform:
        return ()
    candidates = store.candidates(microarchitecture, iform)
    if not candidates and iform in _OLDER_MEANING:
        candidates = store.candidates(microarchitecture, _OLDER_MEANING[iform])
    return candidates


class Matcher:
    """A caching ``find_facts`` for one microarchitecture: instructions of one form that agree in all
    distinguishing attributes have the same record."""

    def __init__(self, microarchitecture: str) -> None:
        self._microarchitecture = microarchitecture
        self._forms: dict[
            str, tuple[list[Callable[[Instruction], str]], dict[tuple[str, ...], InstructionFacts | None]]
        ] = {}

    def candidates(self, iform: str, store: CandidateSource) -> tuple[InstructionFacts, ...]:
        """The records from which ``find`` selects for instructions of this form."""
        return _candidates(iform, self._microarchitecture, store)

    def find(self, instruction: Instruction, store: CandidateSource) -> InstructionFacts | None:
        """The record that describes the instruction; None if the tables have none."""
        form = self._forms.get(instruction.iform)
        if form is None:
            candidates = _candidates(instruction.iform, self._microarchitecture, store)
            names = sorted({name for facts in candidates for name in facts.attributes})
            form = self._forms[instruction.iform] = ([_TEXTS[name] for name in names], {})
        texts, known = form
        key = tuple([text(instruction) for text in texts])
        if key not in known:
            known[key] = find_facts(instruction, self._microarchitecture, store)
        return known[key]
