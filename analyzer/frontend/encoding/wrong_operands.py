"""Explains why an instruction does not take its operands: their number is wrong, two are in memory, their
sizes differ, memory has no size, or an operand is of a kind that its place does not take."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeGuard

from cyclelens.analyzer.frontend.encoding.choice import EncodingRequest, choose
from cyclelens.analyzer.frontend.encoding.operand_forms import class_of
from cyclelens.analyzer.frontend.statements.operand_types import (
    Immediate,
    MemoryOperand,
    Operand,
    Register,
    Rounding,
)
from cyclelens.analyzer.isa import encodable
from msgspec.structs import replace

_GENERAL = {"r8": "dl", "r16": "dx", "r32": "edx", "r64": "rdx"}
_VECTOR = {"xmm": "xmm2", "ymm": "ymm2", "zmm": "zmm2"}
"""A register of each size."""
_SIZED = ("byte", "word", "dword", "qword")
_FIXED = ("al", "ax", "eax", "rax", "cl", "dx")
_EXTENDING = ("movs", "movz")
_NEW_DESTINATION = re.compile(
    r"(?:ad[cd]|adcx|adox|and|imul|or|rc[lr]|ro[lr]|sa[lr]|sbb|sh[lr]|sh[lr]d|sub|xor)[bwlq]?|cmov[a-z]+"
)
_ONE_OPERAND = re.compile(r"(?:dec|inc|neg|not)[bwlq]?")
"""Instructions to which APX adds a destination of its own (Intel, APX Architecture Specification, 355828)."""


def reason(request: EncodingRequest) -> str:
    """What is wrong with the operands of an instruction that cannot be encoded: ``%eax has 32 bits, %rbx has
    64``, ``it takes 3 operands``. Empty if there is no simple reason."""
    if sum(isinstance(operand, MemoryOperand) for operand in request.operands) > 1:
        return "only one of them may be in memory"
    # Extending moves differ in their sizes by nature.
    sizes = "" if request.mnemonic.startswith(_EXTENDING) else _sizes(request)
    return _number(request) or sizes or _unsized(request) or _kind(request)


def has_new_destination(request: EncodingRequest) -> bool:
    """Whether an instruction that cannot be encoded has APX's destination in front of its usual operands."""
    if not request.operands:
        return False
    first, *usual = request.operands
    named = _ONE_OPERAND if len(usual) == 1 else _NEW_DESTINATION
    return (
        named.fullmatch(request.mnemonic) is not None
        and isinstance(first, Register)
        and class_of(first) in _GENERAL
        and all(class_of(each) == class_of(first) for each in usual if _is_general(each))
        and choose(replace(request, operands=usual)) is not None
    )


def _is_general(operand: Operand) -> TypeGuard[Register]:
    return isinstance(operand, Register) and operand.name != "cl" and class_of(operand) in _GENERAL


def _written(request: EncodingRequest) -> list[Operand]:
    return [operand for operand in request.operands if not isinstance(operand, Rounding)]


def _forms(request: EncodingRequest) -> Sequence[encodable.Form]:
    names = (request.mnemonic, request.mnemonic[:-1])
    return next(filter(None, map(encodable.forms, names)), ())


def _number(request: EncodingRequest) -> str:
    written = _written(request)
    counts = sorted({len(form.operands) for form in _forms(request)})
    if not counts or counts[0] <= len(written) <= counts[-1]:
        return ""
    listed = " or ".join(map(str, counts))
    return f"it takes {listed} operand{'s' * (counts != [1])}, not {len(written)}"


def _sizes(request: EncodingRequest) -> str:
    for sizes in (_GENERAL, _VECTOR):
        registers = [
            operand
            for operand in request.operands
            if isinstance(operand, Register) and class_of(operand) in sizes
        ]
        found = [size for size in sizes if registers and _fits(request, sizes, size)]
        if not found:
            continue
        if len({class_of(each) for each in registers}) > 1:
            return _different(registers[::-1] if request.is_att else registers, request.is_att)
        bits = " or ".join(str(_bits(size)) for size in found)
        return f"it takes registers of {bits} bits here"
    return ""


def _fits(request: EncodingRequest, sizes: dict[str, str], size: str) -> bool:
    """Whether the instruction takes its operands if all registers have this size."""
    same: Sequence[Operand] = [
        replace(each, name=sizes[size])
        if isinstance(each, Register) and class_of(each) in sizes and class_of(each) != size
        else each
        for each in request.operands
    ]
    return choose(replace(request, operands=same)) is not None


def _unsized(request: EncodingRequest) -> str:
    """Which sizes of a memory operand would do, where neither it nor a register says one."""
    found = [
        size
        for size in _SIZED
        if choose(replace(request, operands=[_sized(each, size) for each in request.operands])) is not None
    ]
    return f"the memory operand needs a size: {_or(found)}" if found else ""


def _sized(operand: Operand, size: str) -> Operand:
    return replace(operand, size=size) if isinstance(operand, MemoryOperand) else operand


def _kind(request: EncodingRequest) -> str:
    """What the place of an operand takes that it does not take this operand."""
    written = _written(request)
    forms = [form.operands for form in _forms(request) if len(form.operands) == len(written)]
    for operand, *kinds in zip(written, *forms, strict=True):
        if forms and not any(_takes(kind, operand) for kind in kinds):
            wanted = _words(kinds, "%" if request.is_att else "")
            return f"in place of {_name(operand, request.is_att)} it takes {wanted}" if wanted else ""
    return ""


def _takes(kind: str, operand: Operand) -> bool:
    if isinstance(operand, Register):
        return operand.name == kind or class_of(operand) == kind.removesuffix("/m")
    if isinstance(operand, MemoryOperand):
        return _is_memory(kind)
    return not isinstance(operand, Immediate) or _is_number(kind)


def _is_memory(kind: str) -> bool:
    return kind.endswith("/m") or kind in ("m", "vx", "vy", "vz", "moffs")


def _is_number(kind: str) -> bool:
    return kind == "one" or kind.startswith("imm")


def _words(kinds: Sequence[str], mark: str) -> str:
    """Kinds of operands as a person calls them; empty if there is one that has no simple name."""
    classes = {kind.removesuffix("/m") for kind in kinds}
    registers = [name for name in (*_GENERAL, *_VECTOR) if name in classes]
    fixed = [] if registers else [name for name in _FIXED if name in classes]
    known = {*_GENERAL, *_VECTOR, *_FIXED, "k"}
    if not all(name in known or _is_memory(name) or _is_number(name) for name in classes):
        return ""
    bits = _or([str(_bits(name)) for name in registers])
    return _or(
        [f"a register of {bits} bits"] * bool(registers)
        + [mark + name for name in fixed]
        + ["a mask register"] * ("k" in classes)
        + ["memory"] * any(map(_is_memory, kinds))
        + ["a number"] * any(map(_is_number, kinds))
    )


def _name(operand: Operand, is_att: bool) -> str:
    if isinstance(operand, Register):
        return f"{'%' if is_att else ''}{operand.name}"
    return "the memory operand" if isinstance(operand, MemoryOperand) else "the number"


def _or(words: Sequence[str]) -> str:
    *first, last = words or [""]
    return f"{', '.join(first)} or {last}" if first else last


def _different(registers: Sequence[Register], is_att: bool) -> str:
    first, *others = registers
    other = next(each for each in others if class_of(each) != class_of(first))
    mark = "%" if is_att else ""
    return (
        f"{mark}{first.name} has {_bits(class_of(first))} bits, "
        f"{mark}{other.name} has {_bits(class_of(other))}"
    )


def _bits(size: str) -> int:
    return {"xmm": 128, "ymm": 256, "zmm": 512}.get(size) or int(size[1:])
