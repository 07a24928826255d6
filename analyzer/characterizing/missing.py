"""Finds the instruction variants of given code that a core's tables lack, as other cores' tables describe
them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.model.facts import InstructionFacts
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.uops.left_out import unmodelled
from msgspec import Struct


class Lacking(Struct, frozen=True):
    """Instructions without a record on a core."""

    described: tuple[tuple[InstructionFacts, Matcher], ...]
    """Variants in the order of the code, each with the matcher of the core that describes it."""
    unknown: Mapping[str, str]
    """Mnemonics of all others, with the reason why no measurement gives them a figure."""


def lacking(instructions: Iterable[Instruction], microarchitecture: str, store: FactsStore) -> Lacking:
    """The variants that the tables of a core lack. Raises ``TablesUnavailable``."""
    own = Matcher(microarchitecture)
    others = [Matcher(name) for name in store.microarchitectures() if name != microarchitecture]
    described: dict[str, tuple[InstructionFacts, Matcher]] = {}
    unknown: dict[str, str] = {}
    for instruction in instructions:
        if not instruction.mnemonic or own.find(instruction, store) is not None:
            continue
        if why := unmodelled(instruction):
            unknown[instruction.mnemonic] = why
            continue
        found = ((facts, other) for other in others if (facts := other.find(instruction, store)) is not None)
        first = next(found, None)
        if first is None:
            unknown[instruction.mnemonic] = "no core's tables describe its operands"
        else:
            described.setdefault(first[0].name, first)
    return Lacking(tuple(described.values()), unknown)
