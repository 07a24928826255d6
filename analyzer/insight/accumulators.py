"""Finds registers that accumulate a sum, a product or the like in a loop: such a chain can be split.

``vaddps (%rsi), %ymm0, %ymm0`` waits for the sum of the iteration before. With several registers in turn,
every partial sum waits only for its own previous value, and the partial sums are combined after the loop.
That is possible if the order of the operands does not matter (except for floating-point rounding) and if
nothing else reads the register.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import gcd

from cyclelens.analyzer.insight.dependencies import Dependency
from cyclelens.analyzer.isa.register_use import used_registers
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.uops.registers import canonical, is_general_purpose
from msgspec import Struct

_OPERATIONS = {
    "sum": r"add|sub|v?(?:add|sub)([ps][sdh])|vfn?madd231([ps][sdh])|v?p(?:add|sub)([bwdq])"
    r"|vpdp(?:bus|wss)(d)|vpmadd52[lh]u(q)",
    "product": r"imul|v?mul([ps][sdh])|v?pmull([wdq])",
    "minimum": r"v?min([ps][sdh])|v?pmin([su][bwdq])",
    "maximum": r"v?max([ps][sdh])|v?pmax([su][bwdq])",
    "and": r"and|v?andp[sd]|v?pand[dq]?",
    "or": r"or|v?orp[sd]|v?por[dq]?",
    "exclusive or": r"xor|v?xorp[sd]|v?pxor[dq]?",
}
"""Operations whose order does not matter: pattern of mnemonics; the group is the type of number."""

_VECTOR_REGISTERS, _EVEX_REGISTERS, _EVEX = 16, 32, 0x62


class Accumulator(Struct, frozen=True):
    """A register that every iteration updates and nothing else in the block reads or writes."""

    register: str
    """Canonical name: ``XMM0``."""
    name: str
    """Name in the text: ``ymm0``."""
    updates: tuple[int, ...]
    """Indices of the updating instructions, in program order."""

    def copies(self, registers: int) -> int:
        """How many copies of the body it takes until the updates return to the first of ``registers``."""
        return registers // gcd(registers, len(self.updates))


def accumulators(
    instructions: Sequence[InstructionTemplate], dependencies: Sequence[Dependency]
) -> Iterator[Accumulator]:
    """Accumulators of a loop's body, ordered by first update."""
    flags_read = {edge.producer for edge in dependencies if edge.value in ("C", "SPAZO")}
    touched: defaultdict[str, list[int]] = defaultdict(list)
    for number, template in enumerate(instructions):
        for register in _touched(template):
            touched[register].append(number)
    for register, places in touched.items():
        kinds = {_update(instructions[number], register) for number in places}
        if len(kinds) == 1 and None not in kinds and flags_read.isdisjoint(places):
            written = instructions[places[0]].instruction.operands[0].register or register
            yield Accumulator(register, written.lower(), tuple(places))


def free_registers(instructions: Sequence[InstructionTemplate], like: Accumulator) -> list[str]:
    """Canonical names of unused registers of the accumulator's kind."""
    used = {"RSP"}
    for template in instructions:
        used |= _touched(template)
    if is_general_purpose(like.register):
        named = ["RAX", "RCX", "RDX", "RBX", "RBP", "RSI", "RDI", *(f"R{number}" for number in range(8, 16))]
    else:
        evex = all(instructions[number].instruction.code[0] == _EVEX for number in like.updates)
        named = [f"XMM{number}" for number in range(_EVEX_REGISTERS if evex else _VECTOR_REGISTERS)]
    return [register for register in named if register not in used]


def _touched(template: InstructionTemplate) -> set[str]:
    operands = (*template.register_inputs, *template.address_inputs, *template.register_outputs)
    visible = template.instruction.operands
    written = {name for each in visible for name in (each.register, each.base, each.index) if name}
    # The decoder knows general-purpose registers that the tables do not list.
    return (
        {operand.canonical for operand in operands}
        | set(map(canonical, written))
        | set(used_registers(template.instruction.code))
    )


def _update(template: InstructionTemplate, register: str) -> tuple[str, str] | None:
    """The (operation, type of number) by which an instruction updates a register; None for any other use."""
    instruction = template.instruction
    found = operation(instruction.mnemonic)
    places = [
        position
        for position, operand in enumerate(instruction.operands)
        if operand.register is not None and canonical(operand.register) == register
    ]
    addressed = any(operand.canonical == register for operand in template.address_inputs)
    constant = instruction.immediate is not None  # a counter or pointer, or a power of the constant
    if found is None or addressed or constant or instruction.zeroing or template.facts is None:
        return None
    return found if places == _accumulating(instruction, places) else None


def operation(mnemonic: str) -> tuple[str, str] | None:
    """The (operation, type of number) that an instruction accumulates; None if it
    is not such an operation."""
    for name, pattern in _OPERATIONS.items():
        match = re.fullmatch(pattern, mnemonic)
        if match:
            return name, match[match.lastindex] if match.lastindex else ""
    return None


def _accumulating(instruction: Instruction, places: Sequence[int]) -> Sequence[int] | None:
    """The positions at which the register must be an operand, and no others, for the
    instruction to accumulate."""
    in_place = len(instruction.operands) == 2 or instruction.mnemonic.startswith(
        ("vfm", "vfnm", "vpdp", "vpmadd")
    )
    if in_place:
        return [0]
    if "sub" in instruction.mnemonic:
        return [0, 1]
    # Either source, not both.
    return places if len(places) == 2 and places[0] == 0 else None
