"""Shares expansions among encodings that differ only in registers, displacement or immediate.

Most distinct instructions of real code are such siblings of an earlier one; renaming registers in a finished
template is several times cheaper than making one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from cyclelens.analyzer.model.facts import InstructionFacts
from cyclelens.analyzer.model.instruction import Instruction
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
    offset_registers,
    pops_rsp_or_r12,
)
from cyclelens.analyzer.uops.registers import HIGH8, canonical
from msgspec.structs import replace

if TYPE_CHECKING:
    from typing import Any

_LITERAL = HIGH8 | MOVZX_ALIASES | {"K0"}
"""Registers that rules name explicitly."""
_LITERAL_IN_ALL_WIDTHS = frozenset({"RSP", "RIP", "EIP"})


Names = tuple[str, ...]
"""Canonical registers in order of first occurrence among the operands."""


def _token(register: str | None, names: dict[str, int]) -> object:
    """A register as its index in ``names``, together with its name if rules name it explicitly."""
    if register is None:
        return None
    name = canonical(register)
    number = names.setdefault(name, len(names))
    return (number, register) if register in _LITERAL or name in _LITERAL_IN_ALL_WIDTHS else number


def signature_of(registers: Sequence[str | None]) -> tuple[tuple[object, ...], Names]:
    """An instruction's pattern of registers, with those that rules name explicitly; and their names."""
    names: dict[str, int] = {}
    return tuple([_token(each, names) for each in registers]), tuple(names)


def shape_of(
    instruction: Instruction, operands: Sequence[BoundOperand], microarchitecture: Microarchitecture
) -> tuple[tuple[object, ...], Names]:
    """What siblings share besides their record: which operands name the same register, registers that rules
    name explicitly, and whether the renamer adds their constants."""
    names: dict[str, int] = {}
    key: list[object] = [instruction.effective_operand_size]
    for operand in operands:
        memory = operand.memory
        of_operand = (operand.register,) if memory is None else (memory.base, memory.index)
        key += [_token(each, names) for each in of_operand]
    if pops_rsp_or_r12(instruction):
        key.append("rsp or r12")
    if microarchitecture.add_offset_limit and added_at_rename(instruction, microarchitecture) is not None:
        key.append("added at rename")
    return tuple(key), tuple(names)


class _OperandNames:
    """The register and memory operands of an encoding, at the positions of its sibling's operands."""

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
        """The operands at the positions of the sibling's ``registers``."""
        agen = iter(self._agen)
        return tuple(
            next(agen) if register.operand == "AGEN" else as_register(self._by_number[register.index])
            for register in registers
        )


def rebind_prepared(
    sibling: Prepared, instruction: Instruction, operands: Sequence[BoundOperand]
) -> Prepared:
    """The sibling's figures with this instruction's registers, addresses and constant."""
    registers = _OperandNames(sibling.rsp_change, operands)
    return replace(
        sibling,
        instruction=instruction,
        register_inputs=registers.like(sibling.register_inputs),
        register_outputs=registers.like(sibling.register_outputs),
        address_inputs=tuple(registers.address_inputs),
        memory_operands=tuple(registers.accesses),
        added=None if sibling.added is None else added_constant(instruction),
        offset_registers=offset_registers(instruction) if sibling.offset_registers else (),
    )


class Original:
    """An instruction with a template of its own, made on first use."""

    __slots__ = ("_make", "_template", "facts", "flat", "instruction", "names")

    def __init__(
        self,
        instruction: Instruction,
        facts: InstructionFacts | None,
        make: Callable[[], InstructionTemplate],
        names: Names = (),
    ) -> None:
        self.instruction = instruction
        self.facts = facts
        self.names = names
        """Its registers; siblings have theirs at the same positions."""
        self._make = make
        self._template: InstructionTemplate | None = None
        self.flat: Any = None
        """The simulator's form of it (``flatten``)."""

    def template(self) -> InstructionTemplate:
        """Its template, always the same object."""
        if self._template is None:
            self._template = self._make()
        return self._template

    def like(self) -> InstructionTemplate:
        """Its own template."""
        return self.template()


class Sibling:
    """An instruction that differs from a finished template's only in registers, displacement and immediate.

    Simulations do not need its own template, which is made on demand.
    """

    __slots__ = ("_own", "facts", "flat", "instruction", "names", "original")

    def __init__(self, original: Original, instruction: Instruction, names: Names) -> None:
        """``original`` has the finished template; ``names`` are this instruction's registers."""
        self.original = original
        self.instruction = instruction
        self.names = names
        self.facts = original.facts
        self.flat: Any = None
        """The simulator's form of it (``flatten``)."""
        self._own: InstructionTemplate | None = None

    def operands(self) -> Sequence[BoundOperand]:
        """The bound operands of the record."""
        raise NotImplementedError

    def like(self) -> InstructionTemplate:
        """The original's template."""
        return self.original.template()

    def template(self) -> InstructionTemplate:
        """The template with this instruction's registers and addresses."""
        like = self.original.template()
        if self.instruction is self.original.instruction:
            return like
        if self._own is None:
            registers = _OperandNames(like.rsp_change, self.operands())
            changed: dict[str, object] = {
                "instruction": self.instruction,
                "address_inputs": tuple(registers.address_inputs),
                "memory_operands": tuple(registers.accesses),
            }
            if self.instruction.encoding is not like.instruction.encoding:
                changed["length_changing_prefix"] = self.instruction.has_length_changing_prefix
            if like.added is not None:
                changed["added"] = added_constant(self.instruction)
            if self.names != self.original.names:
                renamed = dict(zip(self.original.names, self.names, strict=True))
                changed["uops"] = tuple(_rename(uop, renamed) for uop in like.uops)
                changed["register_inputs"] = registers.like(like.register_inputs)
                changed["register_outputs"] = registers.like(like.register_outputs)
                changed["offset_registers"] = tuple(renamed.get(name, name) for name in like.offset_registers)
            self._own = replace(like, **changed)
        return self._own


def _rename(uop: UopTemplate, mapping: Mapping[str, str]) -> UopTemplate:
    """The uop with renamed registers; names of flags and internal values are never registers."""
    return UopTemplate(
        uop.kind,
        uop.units,
        tuple([(kind, mapping.get(name, name)) for kind, name in uop.inputs]),
        tuple([((kind, mapping.get(name, name)), latency) for (kind, name), latency in uop.outputs]),
        uop.memory_operand,
        uop.divider_cycles,
        uop.late,
        uop.traits,
        uop.busy_eighths,
    )
