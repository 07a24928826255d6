"""The operands that an encoding has, from those of the text: what may be left out, swapped, or written in
another width; which encodings a number fits, and where GNU as truncates it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cyclelens.analyzer.frontend.encoding.nasm_choices import ACCUMULATORS, narrowed
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
    is_of_vectors = form.encoding != "legacy" or not {"xmm", "mm"}.isdisjoint(form.operands)
    for number, operand in enumerate(operands):
        is_count = number > 0 and isinstance(operand, Register) and operand.name in ("cl", "dx")
        if isinstance(operand, Register) and not is_count and (width := registers.width(operand.name)):
            return width
        if isinstance(operand, MemoryOperand) and operand.size and not is_of_vectors:
            return _WIDTHS.get(operand.size, 0)
    return 0


def encoded_immediate(kind: str, operand: Immediate, width: int) -> int | None:
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


_NUMBER = re.compile(r"\d+$")
IMPLIED = ("seg_", "es_")
"""Beginnings of the kinds of operands that a text leaves out: the addresses of string instructions."""
_LOWER_HALF = frozenset(
    f"{vex}{name}"
    for vex in ("", "v")
    for name in ("movmskpd", "movmskps", "pmovmskb", "pextrb", "pextrw", "pinsrb", "pinsrw", "extractps")
)
"""Instructions of which a 64-bit register is encoded as its lower half."""
_SELECTORS = frozenset(["lldt", "ltr", "verr", "verw", "lmsw", "lkgs"])
"""Instructions that read a 16-bit register, without an operand size prefix."""
_DESCRIBED = frozenset(["lar", "lsl"])
"""Instructions that read 16 bits of a register of any width."""
_STORED_SELECTORS = frozenset(["sldt", "str", "smsw"])
_RESIZED = _LOWER_HALF | _SELECTORS | _DESCRIBED | _STORED_SELECTORS
"""Instructions whose registers a text may write in another width."""
_GENERAL = frozenset(["r8", "r16", "r32", "r64"])
_NUMBERS = frozenset(["number"])
_OF_XMM0 = frozenset(["blendvpd", "blendvps", "pblendvb", "sha256rnds2"])
"""Instructions that imply XMM0, which a text may name last."""
_DIVISIONS = frozenset(["div", "idiv"])
"""Instructions whose dividend, the accumulator, a text may name."""
_OF_ST0 = frozenset(["fcom", "fcomp", "fxch", "fucom", "fucomp"])
"""x87 instructions that never name their first operand."""


def written_out(form: Form, given: Sequence[Operand], name: str) -> Sequence[Operand] | None:
    """The operands of a form; None if the text has others. ``name``: Intel's name of the instruction."""
    operands = _completed(form.operands, given, name)
    return None if operands is None else _resized(form, operands, name)


def needs(given: Sequence[Operand], name: str) -> list[frozenset[str]]:
    """What a form must accept one of, for each of these operands: a short look that rules out most forms. A
    general-purpose register needs its class, its name, or a segment register beside it, which takes any
    width."""
    found = [_NUMBERS for operand in given if isinstance(operand, Immediate)]
    if name not in _RESIZED:
        for operand in given:
            if isinstance(operand, Register) and (kind := class_of(operand)) in _GENERAL:
                found.append(frozenset([kind, operand.name, "seg"]))
    return found


def class_of(operand: Operand) -> str:
    """The class of a register, as forms name it; empty for anything else."""
    name = operand.name if isinstance(operand, Register) else ""
    if width := registers.width(name):
        return f"r{width}"
    if name in registers.SEGMENTS:
        return "seg"
    return "sti" if name.startswith("st") else _NUMBER.sub("", name)


def _completed(kinds: tuple[str, ...], given: Sequence[Operand], name: str) -> Sequence[Operand] | None:
    """The operands with those that the text may leave out."""
    if any(kind.startswith(IMPLIED) for kind in kinds):
        # Only a masked move names its registers.
        named = [kind for kind in kinds if not kind.startswith(IMPLIED)] if "seg_rdi" in kinds else []
        return given if len(given) == len(named) else None
    if kinds in (("st0", "sti"), ("sti", "st0")):
        return _of_x87(kinds, given, name)
    if len(given) == len(kinds):
        return _swapped(kinds, given, name)
    if len(kinds) < len(given):
        return _without_named(kinds, given, name)
    if len(kinds) != len(given) + 1:
        return None
    if kinds[-1] == "one":
        return [*given, Immediate(1)]
    if len(given) == 1 and name in ("in", "out") and kinds[name == "out"] in ("al", "ax", "eax"):
        accumulator = Register(kinds[name == "out"])
        return [accumulator, *given] if name == "in" else [*given, accumulator]
    if name in ("shld", "shrd") and kinds[-1] == "cl":
        return [*given, Register("cl")]
    if name == "fnstsw" and kinds == ("ax",):
        return [Register("ax")]
    if name == "imul" and len(given) == 2 and isinstance(given[1], Immediate):
        return [given[0], *given]
    return None


def _without_named(kinds: tuple[str, ...], given: Sequence[Operand], name: str) -> Sequence[Operand] | None:
    """The operands without the register that the encoding implies."""
    if name in _OF_XMM0:
        return given[:2] if given[2:] == [Register("xmm0")] else None
    first = given[0]
    if name in _DIVISIONS and len(given) == 2 and isinstance(first, Register):
        is_dividend = first.name == "al" or first.name in ACCUMULATORS
        return given[1:] if is_dividend and kinds == (f"{class_of(first)}/m",) else None
    return None


def _of_x87(kinds: tuple[str, ...], given: Sequence[Operand], name: str) -> Sequence[Operand] | None:
    pops = name.endswith("p")
    if len(given) == 2:
        return None if name in _OF_ST0 else given
    if len(given) > 2 or (len(given) < 2 and name.startswith("fcmov")):
        return None
    if kinds == ("st0", "sti"):
        return [Register("st"), *(given or [Register("st(1)")])]
    return [*(given or [Register("st(1)")]), Register("st")] if pops else None


def _swapped(kinds: tuple[str, ...], given: Sequence[Operand], name: str) -> Sequence[Operand]:
    """The operands in the order of a form, for instructions that do not distinguish them."""
    if name not in ("test", "xchg"):
        return given
    first = given[0].name if isinstance(given[0], Register) else ""
    is_short = name == "xchg" and kinds[1] in ACCUMULATORS and first == kinds[1]
    is_turned = bool(first) and isinstance(given[1], MemoryOperand)
    return given[::-1] if is_short or is_turned else given


def _resized(form: Form, given: Sequence[Operand], name: str) -> Sequence[Operand] | None:
    """The operands with the registers that the encoding has where their width does not matter."""
    if name in _LOWER_HALF:
        return None if "r64" in form.accepts else [narrowed(each) for each in given]
    if name in _SELECTORS:
        fits = "r32" in form.accepts and class_of(given[0]) in ("r16", "")
        return [_in_32_bits(each) for each in given] if fits else None
    if name in _DESCRIBED and class_of(given[1]) == "r16" and form.width != 16:
        return [given[0], _in_32_bits(given[1]) if form.width == 32 else _in_64_bits(given[1])]
    if name in _STORED_SELECTORS and isinstance(given[0], MemoryOperand):
        return given if "r32" in form.accepts else None
    if name in ("sldt", "str") and class_of(given[0]) == "r64":
        return [narrowed(each) for each in given]
    if name == "mov" and "seg" in form.operands:
        if form.operands[1] == "seg" and class_of(given[0]) == "r16":
            return given
        return [_in_32_bits(each) for each in given] if "r32" in form.accepts else None
    return given


def _in_64_bits(operand: Operand) -> Operand:
    """The 64-bit register around a 16-bit one."""
    if not isinstance(operand, Register) or registers.width(operand.name) != 16:
        return operand
    return Register(operand.name.removesuffix("w") if operand.name[1].isdigit() else f"r{operand.name}")


def _in_32_bits(operand: Operand) -> Operand:
    """The 32-bit register around a 16-bit register, or the lower half of a 64-bit one."""
    if isinstance(operand, Register) and registers.width(operand.name) == 16:
        name = operand.name
        return Register(f"{name[:-1]}d" if name[1].isdigit() else f"e{name}")
    return narrowed(operand)
