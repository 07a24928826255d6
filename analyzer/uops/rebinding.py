"""Encodings that differ in nothing but their registers, displacement or immediate share their expansion.

Most of the distinct instructions of real code are such siblings of one met before; renaming registers in a
finished template is several times cheaper than making it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from cyclelens.analyzer.model.frozen import field_names, replace
from cyclelens.analyzer.model.instruction import DecodedOperand, Instruction
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import (
    InstructionTemplate,
    MemoryAccess,
    RegisterOperand,
    UopTemplate,
)
from cyclelens.analyzer.uops.binding import BoundOperand
from cyclelens.analyzer.uops.operands import (
    MOVZX_ALIASES,
    Prepared,
    access_of,
    added_at_rename,
    added_constant,
    address_registers,
    as_register,
)
from cyclelens.analyzer.uops.registers import HIGH8, canonical

_LITERAL = HIGH8 | MOVZX_ALIASES | {"K0"}
"""Registers that rules ask for by name."""
_LITERAL_IN_ALL_WIDTHS = frozenset({"RSP", "RIP", "EIP"})


Names = tuple[str, ...]
"""Canonical registers in the order of their first occurrence among the operands."""


def shape_of(
    instruction: Instruction, operands: Sequence[BoundOperand], microarchitecture: Microarchitecture
) -> tuple[tuple[object, ...], Names]:
    """What siblings have in common beyond their record: which operands name the same register,
    registers that rules ask for by name, and whether the renamer adds their constants."""
    names: dict[str, int] = {}
    key: list[object] = [instruction.effective_operand_size]
    for _, register, memory in operands:
        of_operand = (register,) if memory is None else (memory.base, memory.index)
        for each in of_operand:
            if each is None:
                key.append(None)
                continue
            name = canonical(each)
            number = names.setdefault(name, len(names))
            is_literal = each in _LITERAL or name in _LITERAL_IN_ALL_WIDTHS
            key.append((number, each) if is_literal else number)
    if instruction.mnemonic == "pop" and instruction.code[-1] == 0x5C:
        key.append("rsp or r12")
    if microarchitecture.add_offset_limit and added_at_rename(instruction, microarchitecture) is not None:
        key.append("added at rename")
    return tuple(key), tuple(names)


class _Registers:
    """The register and memory operands of an encoding, in the places where its sibling has its own."""

    def __init__(self, rsp_change: int, operands: Sequence[BoundOperand]) -> None:
        self._by_number = {operand.facts.index: operand for operand in operands}
        self.accesses: list[MemoryAccess] = []
        self.address_inputs: list[RegisterOperand] = []
        self._agen: list[RegisterOperand] = []
        memory = [operand for operand in operands if operand.memory is not None]
        for operand in memory:
            if operand.facts.kind == "agen":
                self._agen += [register for register, _ in address_registers(operand, False)]
                continue
            access = access_of(operand, rsp_change, len(memory))
            self.accesses.append(access)
            self.address_inputs += [r for r, _ in address_registers(operand, access.implicit_stack)]

    def like(self, registers: Sequence[RegisterOperand]) -> tuple[RegisterOperand, ...]:
        """The operands that stand where these stand in the sibling."""
        agen = iter(self._agen)
        return tuple(
            next(agen) if register.operand == "AGEN" else as_register(self._by_number[register.index])
            for register in registers
        )


def rebind_prepared(
    sibling: Prepared, instruction: Instruction, operands: Sequence[BoundOperand]
) -> Prepared:
    """The sibling's figures with this instruction's registers and addresses."""
    registers = _Registers(sibling.rsp_change, operands)
    return replace(
        sibling,
        instruction=instruction,
        register_inputs=registers.like(sibling.register_inputs),
        register_outputs=registers.like(sibling.register_outputs),
        address_inputs=tuple(registers.address_inputs),
        memory_operands=tuple(registers.accesses),
    )


_FIELDS = field_names(InstructionTemplate)
_ALL = attrgetter(*_FIELDS)
_INSTRUCTION, _UOPS, _LCP, _INPUTS, _OUTPUTS, _ADDRESS_INPUTS, _MEMORY, _ADDED, _OFFSETS = (
    _FIELDS.index(name)
    for name in (
        "instruction",
        "uops",
        "length_changing_prefix",
        "register_inputs",
        "register_outputs",
        "address_inputs",
        "memory_operands",
        "added",
        "offset_registers",
    )
)


class Original:
    """An instruction whose template was made for itself."""

    __slots__ = ("_template", "facts", "flat", "instruction")

    def __init__(self, template: InstructionTemplate) -> None:
        self._template = template
        self.instruction = template.instruction
        self.facts = template.facts
        self.flat: Any = None
        """What the simulator made of it."""

    def template(self) -> InstructionTemplate:
        """The one that was made."""
        return self._template


class Sibling:
    """An instruction that differs from the one of a finished template in registers, displacement and
    immediate only. Simulations get along without its own template, which is made when asked for."""

    __slots__ = ("_own", "facts", "flat", "instruction", "like", "operands", "original", "renamed")

    def __init__(
        self,
        original: Original,
        instruction: Instruction,
        operands: Sequence[BoundOperand],
        old: Names,
        new: Names,
    ) -> None:
        """``original`` has the finished template; ``old`` and ``new`` are the names of its registers and of
        this instruction's."""
        self.original = original
        self.like = original.template()
        self.facts = original.facts
        """The record of both."""
        self.instruction = instruction
        self.operands = operands
        self.renamed: Mapping[str, str] = {} if old == new else dict(zip(old, new, strict=True))
        """This instruction's registers by those of the template."""
        self.flat: Any = None
        """What the simulator made of it."""
        self._own: InstructionTemplate | None = None

    def addresses(self) -> list[DecodedOperand]:
        """This instruction's addresses in the order of the template's ``memory_operands``."""
        return [
            operand.memory
            for operand in self.operands
            if operand.memory is not None and operand.facts.kind != "agen"
        ]

    def template(self) -> InstructionTemplate:
        """The template with this instruction's registers and addresses. (``dataclasses.replace`` would take
        half of the time of a whole prediction.)"""
        if self._own is None:
            registers = _Registers(self.like.rsp_change, self.operands)
            values = list(_ALL(self.like))
            values[_INSTRUCTION] = self.instruction
            values[_LCP] = self.instruction.has_length_changing_prefix
            values[_ADDRESS_INPUTS] = tuple(registers.address_inputs)
            values[_MEMORY] = tuple(registers.accesses)
            if self.like.added is not None:
                values[_ADDED] = added_constant(self.instruction)
            if self.renamed:
                values[_UOPS] = tuple(_rename(uop, self.renamed) for uop in self.like.uops)
                values[_INPUTS] = registers.like(self.like.register_inputs)
                values[_OUTPUTS] = registers.like(self.like.register_outputs)
                values[_OFFSETS] = tuple(self.renamed.get(name, name) for name in self.like.offset_registers)
            self._own = InstructionTemplate(*values)
        return self._own


def _rename(uop: UopTemplate, mapping: Mapping[str, str]) -> UopTemplate:
    """The uop with its registers renamed; names of flags and internal values are no register's."""
    return UopTemplate(
        uop.kind,
        uop.units,
        tuple([(kind, mapping.get(name, name)) for kind, name in uop.inputs]),
        tuple([((kind, mapping.get(name, name)), latency) for (kind, name), latency in uop.outputs]),
        uop.memory_operand,
        uop.divider_cycles,
    )
