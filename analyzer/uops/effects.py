"""The effect of an instruction on the registers and words that addresses are made of, as a few integers.

A core that renames memory by address needs to know which accesses overlap. Moves, sums, logic and shifts are
followed exactly, loads and stores through memory. Every other result is a new value that overlaps nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.analyzer.model.instruction import Instruction, OperandKind
from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.uops.registers import HIGH8, is_general_purpose, width
from cyclelens.analyzer.uops.rename_keys import KEYS
from msgspec import Struct

(NOTHING, COPY, CONSTANT, ADDRESS, OPERATE, LOAD_WORD, STORE_WORD, OPERATE_IN_MEMORY, ANY, ANY_WORD) = range(
    10
)
"""Kinds of effects."""

OPERATIONS = {
    name: number
    for number, name in enumerate(
        ("add", "sub", "and", "or", "xor", "shl", "shr", "sar", "imul", "not", "neg")
    )
}
"""Operations that are followed, by mnemonic; the first five also in memory."""
_IN_MEMORY = ("add", "sub", "and", "or", "xor", "inc", "dec")
_NOT_WRITTEN = ("cmp", "test", "nop", "bt")
_MOST_UNKNOWN = 4
_POINTERS = {
    **dict.fromkeys(("movs", "cmps"), ("RSI", "RDI")),
    **dict.fromkeys(("stos", "scas"), ("RDI",)),
    "lods": ("RSI",),
}
"""Registers that string instructions move on, by the beginning of their mnemonic; records leave them out."""
_LARGEST = 1 << 62


class Effect(Struct, frozen=True):
    """The effect of one instruction; registers are rename keys, -1 for none."""

    kind: int = NOTHING
    target: int = -1
    source: int = -1
    index: int = -1
    scale: int = 1
    constant: int = 0
    operation: int = 0
    """Index in ``OPERATIONS``; for a load or copy: 1 extends the sign."""
    target_bits: int = 64
    high: bool = False
    memory: int = -1
    """Number of the memory operand, -1 for none."""
    memory_bits: int = 64
    from_instruction_pointer: bool = False
    unknown: tuple[int, ...] = ()
    """Registers that receive a new value."""


def effect_of(template: InstructionTemplate, instruction: Instruction, written: Sequence[int]) -> Effect:
    """The effect of an instruction with this template, or a sibling's. ``written``: the rename keys of its
    register outputs."""
    made = _effect(template, instruction)
    if made is not None:
        return made
    if template.facts is None or template.uop_count == 0:
        return _zeroed(template, instruction)
    unknown = tuple(
        key
        for output, key in zip(template.register_outputs, written, strict=True)
        if is_general_purpose(output.name) and output.canonical != "RSP"
    )[:_MOST_UNKNOWN]
    if template.facts.category == "STRINGOP":
        unknown += tuple(map(KEYS.register, _POINTERS.get(instruction.mnemonic[:4], ())))
    if any(access.written for access in template.memory_operands):
        vector = any(not is_general_purpose(o.name) for o in template.register_inputs)
        return Effect(ANY_WORD, memory=0, memory_bits=_bits(template), operation=int(vector), unknown=unknown)
    return Effect(ANY, unknown=unknown)


def _zeroed(template: InstructionTemplate, instruction: Instruction) -> Effect:
    """The effect of an instruction without inputs: a zero idiom writes 0, a NOP nothing."""
    operands = instruction.operands
    first = operands[0].register if operands else None
    if first is None or not is_general_purpose(first) or instruction.mnemonic not in ("xor", "sub"):
        return Effect()
    return Effect(CONSTANT, KEYS.register(first), target_bits=width(first))


def _bits(template: InstructionTemplate) -> int:
    if template.facts is None or not template.memory_operands:
        return 64
    name = template.memory_operands[0].name
    return next((o.width for o in template.facts.operands if o.name == name), 64) or 64


def _effect(template: InstructionTemplate, instruction: Instruction) -> Effect | None:
    """The effect, or None if the instruction is not followed."""
    name, operands = instruction.mnemonic, instruction.operands
    if template.uop_count == 0 and not template.eliminable_move and not _moves(template):
        return None
    if name in _NOT_WRITTEN:
        return Effect()
    first = operands[0] if operands else None
    second = operands[1] if len(operands) > 1 else None
    target = first.register if first is not None and first.kind is OperandKind.REGISTER else None
    general = target is not None and is_general_purpose(target)
    constant = _wrapped(instruction.immediate or 0)
    memory = _bits(template)
    if name == "push":
        source = KEYS.register(target) if general else -1
        return Effect(STORE_WORD, source=source, constant=constant, memory=0)
    if first is not None and first.kind is OperandKind.MEMORY and template.memory_operands:
        return _into_memory(name, second.register if second else None, constant, memory)
    if not general or target is None or first is None:
        return None
    key, bits, high = KEYS.register(target), width(target), target in HIGH8
    if name in ("mov", "movabs") and second is not None:
        return _move(key, bits, high, second.register, second.kind, constant)
    if name == "pop":
        return Effect(LOAD_WORD, key, memory=0)
    if name == "lea" and second is not None:
        relative = second.base in ("RIP", "EIP")
        base = -1 if relative or second.base is None else KEYS.register(second.base)
        index = -1 if second.index is None else KEYS.register(second.index)
        return Effect(
            ADDRESS,
            key,
            base,
            index,
            second.scale or 1,
            second.displacement,
            target_bits=bits,
            from_instruction_pointer=relative,
        )
    if name in ("movzx", "movsx", "movsxd") and second is not None:
        sign = int(name != "movzx")
        if second.register is None:
            return Effect(LOAD_WORD, key, operation=sign, target_bits=bits, memory=0, memory_bits=memory)
        if second.register in HIGH8:
            return None
        narrow = width(second.register)
        return Effect(
            COPY, key, KEYS.register(second.register), operation=sign, target_bits=bits, memory_bits=narrow
        )
    return _operate(name, instruction, key, bits, high, constant)


def _moves(template: InstructionTemplate) -> bool:
    return template.macro_ops is not None and template.macro_ops.moves


def _move(
    key: int, bits: int, high: bool, source: str | None, kind: OperandKind, constant: int
) -> Effect | None:
    if source is not None:
        if high or source in HIGH8 or not is_general_purpose(source):
            return None
        return Effect(COPY, key, KEYS.register(source), target_bits=bits)
    if kind is OperandKind.MEMORY:
        return Effect(LOAD_WORD, key, target_bits=bits, high=high, memory=0, memory_bits=bits)
    return Effect(CONSTANT, key, constant=constant, target_bits=bits, high=high)


def _into_memory(name: str, source: str | None, constant: int, bits: int) -> Effect | None:
    if source is not None and (not is_general_purpose(source) or source in HIGH8):
        return None
    key = -1 if source is None else KEYS.register(source)
    if name == "mov":
        return Effect(STORE_WORD, source=key, constant=constant, memory=0, memory_bits=bits)
    if name in _IN_MEMORY:
        operation = {"inc": "add", "dec": "sub"}.get(name, name)
        return Effect(
            OPERATE_IN_MEMORY,
            source=key,
            constant=1 if name in ("inc", "dec") else constant,
            operation=OPERATIONS[operation],
            memory=0,
            memory_bits=bits,
        )
    return None


def _operate(
    name: str, instruction: Instruction, key: int, bits: int, high: bool, constant: int
) -> Effect | None:
    if bits < 32:
        return None
    name = "shl" if name == "sal" else name
    if name in ("inc", "dec"):
        operation = OPERATIONS["add" if name == "inc" else "sub"]
        return Effect(OPERATE, key, constant=1, operation=operation, target_bits=bits)
    if name not in OPERATIONS:
        return None
    operation = OPERATIONS[name]
    if name in ("not", "neg"):
        return Effect(OPERATE, key, operation=operation, target_bits=bits, high=high)
    if name == "imul" and len(instruction.operands) != 2:
        return None
    second = instruction.operands[1] if len(instruction.operands) > 1 else None
    if name in ("shl", "shr", "sar"):
        if second is not None and second.register is not None:
            return None
        count = constant if instruction.immediate_bits else 1
        return Effect(OPERATE, key, constant=count, operation=operation, target_bits=bits)
    if second is not None and second.register is not None:
        if second.register in HIGH8:
            return None
        return Effect(OPERATE, key, KEYS.register(second.register), operation=operation, target_bits=bits)
    if second is not None and second.kind is OperandKind.MEMORY:
        return Effect(OPERATE, key, operation=operation, target_bits=bits, memory=0, memory_bits=bits)
    return Effect(OPERATE, key, constant=constant, operation=operation, target_bits=bits)


def _wrapped(number: int) -> int:
    """The number modulo 2 to the 62, as the emulation keeps it."""
    return number & (_LARGEST - 1)
