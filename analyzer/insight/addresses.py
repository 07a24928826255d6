"""Tracks a block's addresses symbolically: which are equal, and by how much they move per iteration.

This is finer than the model's own aliasing rules (uiCA model, 4.1): values are sums of the registers' initial
values, of values loaded or computed since, and of constants.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from math import gcd

from cyclelens.analyzer.model.uops import InstructionTemplate, MemoryAccess
from cyclelens.analyzer.uops.calls import coming_back
from cyclelens.analyzer.uops.registers import canonical, is_simd
from cyclelens.analyzer.uops.values import SUM, ValueRule, sizes, value_rule
from msgspec import Struct, field

_MASK = (1 << 64) - 1
LONGEST_STEP = 1 << 21
"""Bytes by which addresses move per iteration; more are placeholders for the addresses of symbols, so that
the step is not known. The smallest are those of object files, from 4 MiB on."""
_LINE = 64
"""Bytes of a cache line."""
_WHOLE_LINE = r"prefetch|cl(?:flush|wb|demote|zero)"
"""Instructions that name the line in which their address lies."""


class LinearValue(Struct, frozen=True):
    """A constant plus multiples of unknown terms: initial registers by name, later values by number."""

    constant: int = 0
    terms: Mapping[str | int, int] = field(default_factory=dict)

    def plus(self, other: LinearValue, times: int) -> LinearValue:
        """``self + times * other``."""
        if not other.terms:  # the usual case
            return self.moved(times * other.constant)
        if times == -1 and self.terms == other.terms:
            return LinearValue(self.constant - other.constant)
        terms = dict(self.terms)
        for term, factor in other.terms.items():
            terms[term] = terms.get(term, 0) + times * factor
        return LinearValue(
            self.constant + times * other.constant,
            {term: factor for term, factor in terms.items() if factor & _MASK},
        )

    def moved(self, constant: int) -> LinearValue:
        """``self + constant``."""
        return LinearValue(self.constant + constant, self.terms) if constant else self

    @property
    def registers(self) -> frozenset[str]:
        """Registers whose initial value it depends on."""
        return frozenset(term for term in self.terms if isinstance(term, str))


_NOTHING = LinearValue()
_NO_RULE = ValueRule()


class Access(Struct, frozen=True):
    """One memory access in one iteration."""

    instruction: int
    operand: int
    """Index in the instruction's ``memory_operands``."""
    access: MemoryAccess
    address: LinearValue


def accesses(instructions: Sequence[InstructionTemplate], iterations: int = 2) -> list[list[Access]]:
    """The accesses of each of some consecutive iterations, in program order."""
    registers: dict[str, LinearValue] = {}
    fresh = count()
    steps = _steps(instructions)

    def value(register: str | None) -> LinearValue:
        if register is None:
            return _NOTHING
        known = registers.get(register)
        if known is None:
            name = canonical(register)
            known = registers.setdefault(name, LinearValue(terms={name: 1}))
        return known

    returning = coming_back([template.instruction for template in instructions])
    found: list[list[Access]] = []
    for _ in range(iterations):
        found.append([])
        for number, template, rule, outputs in steps:
            for operand, access in enumerate(template.memory_operands):
                address = value(access.base).plus(value(access.index), access.scale or 0)
                address = address.moved(access.displacement or 0)
                found[-1].append(Access(number, operand, access, address))
            for output in outputs:
                if rule.kind == SUM:  # a sum has a single output
                    result = value(rule.base).plus(value(rule.index), rule.scale).moved(rule.delta)
                else:
                    result = LinearValue(terms={next(fresh): 1})
                registers[output] = result
            if template.rsp_change and number not in returning:
                registers["RSP"] = value("RSP").moved(template.rsp_change)
    return found


def _steps(
    instructions: Sequence[InstructionTemplate],
) -> list[tuple[int, InstructionTemplate, ValueRule, list[str]]]:
    """Instructions that access memory or compute part of an address: (index, template, rule, output registers
    that addresses depend on)."""
    results = [[each.canonical for each in template.register_outputs] for template in instructions]
    rules: dict[int, ValueRule] = {}
    needed: set[str] = set()
    new = _registers(
        name
        for template in instructions
        for access in template.memory_operands
        for name in (access.base, access.index)
    )
    while new:
        needed |= new
        found = [n for n, names in enumerate(results) if n not in rules and not needed.isdisjoint(names)]
        rules.update((n, value_rule(instructions[n], instructions[n].instruction)) for n in found)
        sums = (rules[n] for n in found if rules[n].kind == SUM)
        new = _registers(name for rule in sums for name in (rule.base, rule.index)) - needed
    steps = []
    for number, template in enumerate(instructions):
        if number in rules or template.memory_operands or template.rsp_change:
            outputs = [name for name in results[number] if name in needed]
            steps.append((number, template, rules.get(number, _NO_RULE), outputs))
    return steps


def _registers(names: Iterable[str | None]) -> set[str]:
    return {canonical(name) for name in {*names} if name is not None}


class Recurring(Struct, frozen=True):
    """An access that recurs in every iteration."""

    instruction: int
    offset: int
    """Bytes from its group's pointer."""
    step: int
    """Bytes by which it moves per iteration."""
    size: int
    written: bool


def line_crossings(
    instructions: Sequence[InstructionTemplate], accessed: Sequence[Sequence[Access]]
) -> dict[Recurring, float]:
    """Accesses that cross the end of a cache line wherever their pointers point, and in which share of
    iterations at the best position.

    ``accessed``: in two iterations. Pointers are assumed to suit the code:
    vmovups ymm0, [rsi-8]; vaddps ymm0, ymm0, [rsi+8]; add rsi, 32    crosses in every other iteration
    """
    found: dict[Recurring, float] = {}
    for group in _groups(instructions, accessed):
        if not _all_aligned(group):
            found |= _fewest(group)
    return found


def _groups(
    instructions: Sequence[InstructionTemplate], accessed: Sequence[Sequence[Access]]
) -> Iterable[list[Recurring]]:
    """Accesses at known distances from each other, in each group."""
    found = defaultdict[tuple[tuple[str, int], ...], list[Recurring]](list)
    every = sizes([(instructions[each.instruction], each.access) for each in accessed[0]])
    for now, later, size in zip(accessed[0], accessed[1], every, strict=True):
        base, index = now.access.base, now.access.index
        moved = later.address.plus(now.address, -1)
        if moved.terms or abs(moved.constant) > LONGEST_STEP or size <= 1:
            continue
        if base in (None, "RIP") or (index and is_simd(index)):
            continue
        if re.match(_WHOLE_LINE, instructions[now.instruction].instruction.mnemonic):
            continue
        pointer = tuple(sorted((str(term), factor) for term, factor in now.address.terms.items()))
        found[pointer].append(
            Recurring(now.instruction, now.address.constant, moved.constant, size, now.access.written)
        )
    return found.values()


def _all_aligned(group: Sequence[Recurring]) -> bool:
    """True if all accesses are aligned to their size where the largest is."""
    largest = max(group, key=lambda each: each.size)
    return all(
        _LINE % each.size == 0
        and each.step % each.size == 0
        and (each.offset - largest.offset) % each.size == 0
        for each in group
    )


def _fewest(group: Sequence[Recurring]) -> dict[Recurring, float]:
    """The accesses that cross the end of a line, and in which share of iterations, at the best position."""
    unit = gcd(_LINE, *(each.step for each in group))
    iterations = _LINE // unit
    apart = gcd(unit, *(each.offset - group[0].offset for each in group), *(each.size for each in group))
    best: dict[Recurring, float] = dict.fromkeys(group, 1.0)
    for start in range(0, _LINE, apart):
        position = start - group[0].offset
        crossing = {
            each: sum(
                (position + each.offset + turn * each.step) % _LINE + each.size > _LINE
                for turn in range(iterations)
            )
            / iterations
            for each in group
        }
        if sum(crossing.values()) < sum(best.values()):
            best = crossing
    return {each: share for each, share in best.items() if share}
