"""What the instructions of a block tell about its addresses: which are equal, and by how much they move on.

Finer than the rules by which the model decides what meets in memory (uiCA model, 4.1): values are sums of
what registers held at the start of an iteration, of what was loaded or computed since, and of constants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from cyclelens.analyzer.model.uops import InstructionTemplate, MemoryAccess
from cyclelens.analyzer.simulator.tables.values import SUM, value_rule
from cyclelens.analyzer.uops.registers import canonical

_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Value:
    """A constant and multiples of unknown terms: registers at the start by name, later values by number."""

    constant: int = 0
    terms: Mapping[str | int, int] = field(default_factory=dict)

    def plus(self, other: Value, times: int = 1) -> Value:
        """``self + times * other``."""
        if not other.terms:  # as nearly always
            return Value(self.constant + times * other.constant, self.terms)
        terms = dict(self.terms)
        for term, factor in other.terms.items():
            terms[term] = terms.get(term, 0) + times * factor
        return Value(
            self.constant + times * other.constant,
            {term: factor for term, factor in terms.items() if factor & _MASK},
        )

    @property
    def registers(self) -> frozenset[str]:
        """Registers whose value at the start it depends on."""
        return frozenset(term for term in self.terms if isinstance(term, str))


@dataclass(frozen=True, slots=True)
class Access:
    """One access of one iteration."""

    instruction: int
    operand: int
    """Its place in the instruction's ``memory_operands``."""
    access: MemoryAccess
    address: Value


def accesses(instructions: Sequence[InstructionTemplate], iterations: int = 2) -> list[list[Access]]:
    """The accesses of some iterations after each other, in program order."""
    registers: dict[str, Value] = {}
    fresh = count()

    def value(register: str | None) -> Value:
        if register is None:
            return Value()
        name = canonical(register)
        return registers.get(name, Value(terms={name: 1}))

    found: list[list[Access]] = []
    for _ in range(iterations):
        found.append([])
        for number, template in enumerate(instructions):
            for operand, access in enumerate(template.memory_operands):
                address = value(access.base).plus(value(access.index), access.scale or 0)
                address = address.plus(Value(access.displacement or 0))
                found[-1].append(Access(number, operand, access, address))
            rule = value_rule(template, template.instruction)
            for output in template.register_outputs:
                if rule.kind == SUM:  # then there is only this one
                    result = value(rule.base).plus(value(rule.index), rule.scale).plus(Value(rule.delta))
                else:
                    result = Value(terms={next(fresh): 1})
                registers[output.canonical] = result
            if template.rsp_change:
                registers["RSP"] = value("RSP").plus(Value(template.rsp_change))
    return found
