"""Invented instructions with invented figures, for rules that few real instructions show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.facts import Figures, InstructionFacts, Latency, OperandFacts
from cyclelens.analyzer.model.instruction import DecodedOperand, OperandKind
from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.uops.block import build_block

from testkit.instructions import made_up

FORM = "INVENTED"

Operand = tuple[OperandFacts, DecodedOperand | None]


class _Records:
    """Stands in for the tables: one record, whatever the microarchitecture."""

    def __init__(self, facts: InstructionFacts) -> None:
        self._facts = facts
        self.caches = Caches()

    def candidates(self, microarchitecture: str, iform: str) -> tuple[InstructionFacts, ...]:
        return (self._facts,) if iform == FORM else ()


def register(number: int, name: str, access: str) -> Operand:
    """``REGn`` with the register of the encoding; ``access`` has the letters r and w."""
    facts = OperandFacts(number, f"REG{number}", "reg", read="r" in access, written="w" in access)
    return facts, DecodedOperand(OperandKind.REGISTER, register=name)


def memory(number: int, base: str, access: str, *, index: str | None = None, slot: int = 0) -> Operand:
    """``MEM0`` (or another slot) with a base and perhaps an index register."""
    facts = OperandFacts(number, f"MEM{slot}", "mem", read="r" in access, written="w" in access)
    return facts, DecodedOperand(OperandKind.MEMORY, base=base, index=index)


def flags(number: int, *, read: str = "", written: str = "") -> Operand:
    """The flags operand with the letters of the flags that it reads and writes."""
    facts = OperandFacts(
        number,
        f"REG{number}",
        "flags",
        suppressed=True,
        flags_read=frozenset(read),
        flags_written=frozenset(written),
    )
    return facts, None


def invented(
    operands: Sequence[Operand],
    base: Figures,
    *,
    latencies: Mapping[tuple[int, int], Latency | int] | None = None,
    microarchitecture: str = "SKL",
    name: str = "INVENTED (R64, R64)",
    **facts: Any,
) -> InstructionTemplate:
    """The template of an invented instruction. Plain numbers in ``latencies`` are base latencies."""
    pairs = {
        pair: Latency(cycles=value) if isinstance(value, int) else value
        for pair, value in (latencies or {}).items()
    }
    record = InstructionFacts(
        name=name,
        iform=FORM,
        microarchitecture=microarchitecture,
        attributes={},
        operands=tuple(facts for facts, _ in operands),
        base=base,
        latencies=pairs,
        **facts,
    )
    decoded = [each for _, each in operands if each is not None]
    instruction = made_up("invented", iform=FORM, operands=decoded)
    store = cast(FactsStore, _Records(record))
    block = build_block([instruction], registry.get(microarchitecture), store, loop=False)
    return block.instructions[0]
