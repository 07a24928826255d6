"""Immediates of an instruction: which encodings a number fits, and where GNU as truncates it."""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.analyzer.frontend.statements import registers
from cyclelens.analyzer.frontend.statements.operand_types import (
    Immediate,
    MemoryOperand,
    Operand,
    Register,
)
from cyclelens.analyzer.isa.encodable import Form

_IMMEDIATES = (
    # The types of numbers in a range, as GNU as names them.
    (range(-128, 128), ("imm8s", "imm8", "imm16", "imm32s", "imm32")),
    (range(256), ("imm8", "imm16", "imm32s", "imm32")),
    (range(-32768, 65536), ("imm16", "imm32s", "imm32")),
    (range(-(1 << 31), 1 << 31), ("imm32s", "imm32")),
    (range(1 << 32), ("imm32",)),
)
_TRUNCATED = {
    8: ("imm8s", "imm8", "imm16", "imm32s", "imm32"),
    16: ("imm16", "imm32s", "imm32"),
    32: ("imm32",),
}
"""The types that any number has in an operation of a known width."""
_BITS = {"imm8s": 8, "imm8": 8, "imm16": 16, "imm32s": 32, "imm32": 32, "imm64": 64}
_WIDTHS = {"b": 8, "w": 16, "l": 32, "q": 64, "byte": 8, "word": 16, "dword": 32, "qword": 64}


def known_width(form: Form, operands: Sequence[Operand], suffix: str) -> int:
    """Bits of the operation, as far as a suffix, a register or the size of the memory operand says; 0
    otherwise."""
    if suffix in _WIDTHS:
        return _WIDTHS[suffix]
    for number, operand in enumerate(operands):
        is_count = number > 0 and isinstance(operand, Register) and operand.name in ("cl", "dx")
        if isinstance(operand, Register) and not is_count and (width := registers.width(operand.name)):
            return width
        if isinstance(operand, MemoryOperand) and operand.size and not _is_of_vectors(form):
            return _WIDTHS.get(operand.size, 0)
    return 0


def _is_of_vectors(form: Form) -> bool:
    return form.encoding != "legacy" or not {"xmm", "mm"}.isdisjoint(form.operands)


def encoded(kind: str, operand: Immediate, width: int) -> int | None:
    """An immediate as the form has it; None if it does not fit. A number that is too long for the width of
    the operation is truncated, as GNU as does with a warning."""
    value = operand.value - (1 << 64) if operand.value >= 1 << 63 else operand.value
    if kind == "one":
        return 1
    if kind.startswith("imm4"):
        return value if 0 <= value < 16 else None
    if width in (8, 16) and 0 <= value < 1 << 16:
        value -= (value & 1 << 15) << 1
    if width in _TRUNCATED and 0 <= value < 1 << 32:
        value -= (value & 1 << 31) << 1
    known = next((types for values, types in _IMMEDIATES if value in values), ())
    if width == 64 and kind == "imm32" and "imm32s" not in known:
        return None
    if operand.is_address:
        # The placeholder says how many bits the address needs.
        fits = kind in known or kind == "imm64"
    else:
        fits = kind in known or kind == "imm64" or kind in _TRUNCATED.get(width, ())
    if not fits:
        return None
    bits = _BITS[kind]
    value %= 1 << bits
    if kind == "imm8" or kind == "imm16":
        return value
    return value - (1 << bits) if value >> (bits - 1) else value


def shortened(operands: Sequence[Operand], given: Sequence[object], width: int) -> int | None:
    """The number of the encoding if the written one has more bits than the operation."""
    for operand, number in zip(operands, given, strict=bool(operands)):
        if isinstance(operand, Immediate) and isinstance(number, int) and width in _TRUNCATED:
            value = operand.value - (1 << 64) if operand.value >= 1 << 63 else operand.value
            if not -(1 << (width - 1)) <= value < 1 << width:
                return number
    return None
