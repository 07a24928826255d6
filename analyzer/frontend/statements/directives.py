"""Effects of directives on the code. Data and alignments are encoded here; what depends on a section's
addresses is left to the layout."""

from __future__ import annotations

import re
import struct
from functools import reduce

from cyclelens.analyzer.frontend.source.lexer import QUOTED, cut_arguments
from cyclelens.analyzer.frontend.statements.expressions import (
    ExpressionError,
    ExpressionValue,
    without_characters,
)
from cyclelens.analyzer.frontend.statements.operand_types import OperandError, Scope, UnsupportedError
from msgspec import Struct

_SILENT_NAMES = """
abort addrsig addrsig_sym altmacro arch att_mnemonic att_syntax attach_to_group attribute bss
build_version code64 comm data default desc eject
end ent eqv equ equiv err error extern file global globl gnu_attribute hidden ident indirect_symbol
intel_mnemonic intel_syntax internal lcomm linkonce list loc loc_mark_labels local
macosx_version_min mri noaltmacro nolist pad_syntax popsection previous print private_extern
protected psize pushsection purgem reloc sbttl section sectname set shstrtab size subsection
subsections_via_symbols symver text title type version vtable_entry vtable_inherit warning weak
weakref zerofill
"""
SILENT = frozenset(_SILENT_NAMES.split())
"""Directives (without the dot) that add no bytes. Sections and syntax are handled elsewhere."""

_INTEGERS = {
    "byte": 1,
    "2byte": 2,
    "hword": 2,
    "short": 2,
    "value": 2,
    "word": 2,
    "4byte": 4,
    "int": 4,
    "long": 4,
    "dc.b": 1,
    "dc.w": 2,
    "dc.l": 4,
    "8byte": 8,
    "quad": 8,
    "octa": 16,
    "dc": 2,
    "dc.a": 8,
}
_FLOATS = {"float": "<f", "single": "<f", "dc.s": "<f", "double": "<d", "dc.d": "<d"}
_STRINGS = {
    "ascii": (1, b""),
    "asciz": (1, b"\0"),
    "string": (1, b"\0"),
    "string8": (1, b"\0"),
    "string16": (2, b"\0\0"),
    "string32": (4, b"\0\0\0\0"),
    "string64": (8, b"\0" * 8),
}
"""Bytes per character, and the terminator."""
_SPACES = frozenset(["zero", "skip", "space"])
_REPEATED = {
    "dcb": 2,
    "dcb.b": 1,
    "dcb.w": 2,
    "dcb.l": 4,
    "ds": 2,
    "ds.b": 1,
    "ds.w": 2,
    "ds.l": 4,
    "ds.d": 8,
}
_LEB128 = frozenset(["uleb128", "sleb128"])
ALIGNMENTS = {
    f"{kind}align{suffix}": size
    for kind in ("", "b", "p2")
    for suffix, size in (("", 1), ("w", 2), ("l", 4))
    if kind or not suffix
}
"""Alignment directives and the bytes of their fill value."""
_UNSUPPORTED_NAMES = """
macro endm exitm rept irp irpc endr if ifdef ifndef ifb ifnb ifc ifnc ifeq ifne ifge ifgt ifle iflt
ifeqs ifnes ifnotdef else elseif endif include incbin insn base64 tfloat dc.x ldouble code16 code16gcc
code32 bundle_align_mode bundle_lock bundle_unlock struct offset dcb.d dcb.s dcb.x ds.p ds.s ds.x
repeat for forc goto while endw until untilcxz break continue
"""
UNSUPPORTED = frozenset(_UNSUPPORTED_NAMES.split())
"""Directives (without the dot) that affect the bytes but are not supported; the last line: those of MASM."""
FLOW_OF_MASM = frozenset(
    ["if", "else", "elseif", "endif", "while", "endw", "repeat", "until", "untilcxz", "break", "continue"]
)
"""Directives from which MASM makes comparisons and jumps."""

MAXIMUM_BYTES = 1 << 12
"""Maximum bytes that one numeric directive or alignment may make in a region; strings are not limited."""
_MAXIMUM_ALIGNMENT = 1 << 20
_LONG_NUMBER = r"\s*(-?)\s*(0x[0-9a-f]{17,}|[1-9]\d{18,999})\s*"
"""Python converts decimal digits in quadratic time, and refuses more than 4,300."""
_PLAIN_NUMBER = r"-?\s*\w+"
_STRING = re.compile(QUOTED)
_ESCAPE = r"\\(?:([0-9]{1,3})|[xX]([0-9a-fA-F]*)|(.))"
_ESCAPES = {"b": 8, "f": 12, "n": 10, "r": 13, "t": 9}

_NOPS = (
    b"",
    b"\x90",
    b"\x66\x90",
    b"\x0f\x1f\x00",
    b"\x0f\x1f\x40\x00",
    b"\x0f\x1f\x44\x00\x00",
    b"\x66\x0f\x1f\x44\x00\x00",
    b"\x0f\x1f\x80\x00\x00\x00\x00",
    b"\x0f\x1f\x84\x00\x00\x00\x00\x00",
    b"\x66\x0f\x1f\x84\x00\x00\x00\x00\x00",
    b"\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00",
    b"\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00",
)
"""NOPs that GNU as pads code with, by length in bytes (generic x86-64 tuning)."""
_LONGEST_NOP = len(_NOPS) - 1
_MOST_NOPS = 7
"""Number of longest NOPs above which the padding begins with a jump over it."""


class Alignment(Struct, frozen=True):
    """Padding up to a multiple of ``boundary`` bytes, unless that takes more than ``maximum``."""

    boundary: int
    fill: bytes | None = None
    """Fill value; None for the longest NOPs in code, and zeros in data."""
    maximum: int | None = None
    is_literal: bool = False
    """An explicit one-byte NOP fills code as written, without long NOPs."""

    def size(self, offset: int) -> int:
        """Bytes of padding at an offset."""
        count = -offset % self.boundary
        return 0 if self.maximum is not None and count > self.maximum else count

    @property
    def most(self) -> int:
        """Maximum bytes of padding."""
        return self.boundary - 1 if self.maximum is None else min(self.boundary - 1, self.maximum)

    @property
    def is_certain(self) -> bool:
        """Whether the place after it is always aligned."""
        return self.most == self.boundary - 1

    def fills_with_nops(self, is_code: bool) -> bool:
        """Whether the padding is ``nop_fill``."""
        return is_code and not self.is_literal and self.fill in (None, b"\x90")

    def padding(self, offset: int, is_code: bool = True) -> bytes:
        """Padding at an offset."""
        count = self.size(offset)
        if not self.fills_with_nops(is_code):
            pattern = self.fill or b"\0"
            return (pattern * (count // len(pattern) + 1))[:count]
        return nop_fill(count)


class RepeatedBytes(Struct, frozen=True):
    """Repeated bytes, perhaps too many to be written out."""

    unit: bytes
    count: int

    @property
    def size(self) -> int:
        """Bytes: more than ``len`` could give, if the text says so."""
        return len(self.unit) * self.count


class SizedDirective(Struct, frozen=True):
    """A directive whose size is an expression that depends on the layout."""

    name: str
    """``skip``, ``org``, ``uleb128``, ``sleb128`` or ``nops``."""
    expression: str
    fill: bytes = b"\0"
    """Fill value; its length times the expression is the size."""
    longest: int = _LONGEST_NOP
    """Maximum bytes per NOP, for ``nops``."""


def nop_fill(count: int, longest: int = _LONGEST_NOP) -> bytes:
    """``count`` bytes of GNU as's padding for code: long NOPs first, after a jump if there are too many."""
    jump = b""
    if count // _LONGEST_NOP > _MOST_NOPS:
        count -= 2
        if count <= 127:
            jump = b"\xeb" + bytes([count])
        else:
            count -= 3
            jump = b"\xe9" + count.to_bytes(4, "little")
    whole, rest = divmod(count, longest)
    return jump + _NOPS[longest] * whole + _NOPS[rest]


def executed(fill: bytes) -> bytes:
    """The executed part of padding by ``nop_fill``: only the jump if it begins with a jump to its end."""
    for opcode, size in ((b"\xeb", 2), (b"\xe9", 5)):
        if fill.startswith(opcode) and size + int.from_bytes(fill[1:size], "little") == len(fill):
            return fill[:size]
    return fill


_DATA = frozenset([*_INTEGERS, *_FLOATS, *_STRINGS, *_SPACES, *_REPEATED, *_LEB128, "fill", "nops", "org"])
KNOWN = SILENT | UNSUPPORTED | ALIGNMENTS.keys() | _DATA
"""Directives without the dot, beside those of call frames: ``cfi_...``."""


def is_known(name: str) -> bool:
    """Whether this is a directive. ``name`` is in lower case, without the dot."""
    return name in KNOWN or name.startswith("cfi_")


def makes_data(name: str) -> bool:
    """Whether the directive adds data to the section."""
    return name in _DATA


def split_arguments(text: str) -> list[str]:
    """Arguments, split at commas outside of strings and parentheses. Raises OperandError."""
    arguments, is_closed = cut_arguments(text)
    if not is_closed:
        raise OperandError("A string is not closed.")
    return arguments


def alignment(name: str, text: str, scope: Scope) -> Alignment:
    """Parse an alignment directive. Raises OperandError."""
    arguments = split_arguments(text)
    if len(arguments) > 3:
        raise OperandError(f".{name} takes one to three numbers.")
    numbers = [_constant(argument, scope) if argument else None for argument in arguments]
    first, fill, maximum = (*numbers, None, None, None)[:3]
    first = first or 0
    if name.startswith("p2align"):
        first = 1 << min(first, 64) if first >= 0 else first
    first = first or 1
    if first & (first - 1) or not 0 < first <= _MAXIMUM_ALIGNMENT:
        raise OperandError(f"An alignment must be a power of two up to {_MAXIMUM_ALIGNMENT}, not {first}.")
    size = ALIGNMENTS[name]
    pattern = None
    if fill is not None:
        pattern = (fill % (1 << 8 * size)).to_bytes(size, "little")
    return Alignment(first, pattern, maximum or None)


def data(name: str, text: str, scope: Scope) -> bytes | RepeatedBytes | SizedDirective:
    """Encode a data directive. Raises OperandError and UnsupportedError."""
    if name in _STRINGS:
        return _strings(text, *_STRINGS[name])
    arguments = split_arguments(without_characters(text))
    if name in _FLOATS:
        return b"".join(_float(argument, _FLOATS[name]) for argument in arguments)
    if name in _INTEGERS:
        made = b""
        for argument in arguments:
            scope.dot = len(made)
            made += _integer(argument, _INTEGERS[name], scope)
        return made
    if name in _LEB128:
        if len(arguments) != 1 and not all(_value(argument, scope).is_constant for argument in arguments):
            raise UnsupportedError(f".{name} of several addresses is not supported.")
        if len(arguments) == 1 and not _value(text, scope).is_constant:
            return SizedDirective(name, text)
        numbers = [_constant(argument, scope) for argument in arguments]
        if name == "sleb128" and not all(
            number >= 0 or re.fullmatch(_PLAIN_NUMBER, argument)
            for number, argument in zip(numbers, arguments, strict=True)
        ):
            # GNU as treats some of them as large unsigned numbers.
            raise UnsupportedError(".sleb128 of an expression that is negative is not supported.")
        return b"".join(leb128(name, number) for number in numbers)
    if name == "org":
        fill = _constant(arguments[1], scope) if len(arguments) == 2 else 0
        return SizedDirective(name, arguments[0] if arguments else "", bytes([fill & 0xFF]))
    if name == "nops":
        return _nops(arguments, scope)
    if name in _REPEATED:
        size = _REPEATED[name]
        if not 1 <= len(arguments) <= 2:
            raise OperandError(f".{name} takes a count and perhaps a number.")
        value = _constant(arguments[1], scope) if len(arguments) > 1 else 0
        unit = (value % (1 << 8 * size)).to_bytes(size, "little")
        return RepeatedBytes(unit, _count(_constant(arguments[0], scope)))
    if name == "fill":
        numbers = [_constant(argument, scope) for argument in arguments[1:]]
        size, value = (*numbers, *(1, 0)[len(numbers) :])[:2]
        if size < 0:
            raise OperandError("The size of .fill is negative.")
        size = min(size, 8)
        # GNU as repeats four bytes of the value; the bytes above them are zero.
        unit = (value % (1 << 32)).to_bytes(8, "little")[:size]
    elif 1 <= len(arguments) <= 2:
        unit = bytes([_constant(arguments[1], scope) & 0xFF if len(arguments) > 1 else 0])
    else:
        raise OperandError(f".{name} takes a size and perhaps a byte to fill with.")
    count = _value(arguments[0], scope) if arguments else ExpressionValue(0)
    return (
        RepeatedBytes(unit, _count(count.constant))
        if count.is_constant
        else SizedDirective("skip", arguments[0], unit)
    )


def _count(number: int) -> int:
    """A count as GNU as takes it: with a sign, and none if it is negative."""
    return number if 0 <= number < 1 << 63 else 0


def leb128(name: str, number: int) -> bytes:
    """A number in LEB128: groups of seven bits, the lowest first."""
    is_signed = name == "sleb128"
    number = number if is_signed else number % (1 << 64)
    result = bytearray()
    while True:
        group, number = number & 0x7F, number >> 7
        is_last = number == (-1 if is_signed and group & 0x40 else 0)
        result.append(group | (0 if is_last else 0x80))
        if is_last:
            return bytes(result)


def _nops(arguments: list[str], scope: Scope) -> SizedDirective:
    if not 1 <= len(arguments) <= 2:
        raise OperandError(".nops takes a size and perhaps the longest NOP.")
    longest = _constant(arguments[1], scope) if len(arguments) > 1 else 0
    if not 0 <= longest <= _LONGEST_NOP:
        raise OperandError(f"The longest NOP of .nops is {_LONGEST_NOP} bytes long.")
    if not _value(arguments[0], scope).is_constant:
        raise UnsupportedError(".nops of a size that depends on addresses is not supported.")
    count = _constant(arguments[0], scope)
    if not 0 <= count <= MAXIMUM_BYTES:
        raise UnsupportedError(f".nops of more than {MAXIMUM_BYTES} bytes is not supported.")
    return SizedDirective("nops", arguments[0], longest=longest or _LONGEST_NOP)


def _value(text: str, scope: Scope) -> ExpressionValue:
    try:
        return scope.evaluate(text)
    except ExpressionError as error:
        raise OperandError(str(error)) from None


def _constant(text: str, scope: Scope) -> int:
    value = _value(text, scope)
    if not value.is_constant:
        raise OperandError(f"'{value.symbol or text.strip()[:40]}' has no constant value.")
    return value.constant


def fits(number: int, size: int, *, is_signed: bool = False) -> bool:
    """Whether GNU as accepts a number of this many bytes whose value it learns late."""
    least = -(1 << 8 * size - 1) if is_signed else 1 - (1 << 8 * size)
    return size >= 8 or least <= number < 1 << 8 * size - is_signed


def _integer(text: str, size: int, scope: Scope) -> bytes:
    if size > 8 and (literal := re.fullmatch(_LONG_NUMBER, text, re.IGNORECASE)):
        # Only alone may a number have more than 64 bits.
        return (int(literal[1] + literal[2], 0) % (1 << (8 * size))).to_bytes(size, "little")
    value = _value(text, scope)
    if not value.is_constant:
        try:
            value = scope.final(text)
        except ExpressionError as error:
            raise OperandError(str(error)) from None
        if value.is_constant and not fits(value.constant, size):
            raise OperandError(f"{value.constant} is too long for {size} bytes.")
        if value.later and scope.is_whole:
            raise OperandError(f"'{text.strip()[:40]}' is not an address plus a number.")
    # An unknown address becomes zeros, as in an object file.
    number = value.constant if value.is_constant else 0
    return (number % (1 << (8 * size))).to_bytes(size, "little")


def _float(text: str, form: str) -> bytes:
    try:
        return struct.pack(form, float(re.sub(r"^0[a-zA-Z]", "", text)))
    except (ValueError, OverflowError):
        raise OperandError(f"'{text[:30]}' is not a floating-point number.") from None


def _strings(text: str, width: int, end: bytes) -> bytes:
    result = b""
    for argument in split_arguments(text):
        pieces = [each[1:-1] for each in _STRING.findall(argument)]
        if _STRING.sub("", argument).strip() or not pieces:
            raise OperandError("A string in double quotes is expected.")
        plain = b"".join(_unescape(piece) for piece in pieces)
        result += b"".join(bytes([each]).ljust(width, b"\0") for each in plain) if width > 1 else plain
        result += end
    return result


def _unescape(text: str) -> bytes:
    result = bytearray()
    position = 0
    for match in re.finditer(_ESCAPE, text):
        result += text[position : match.start()].encode("utf-8", "replace")
        position = match.end()
        digits, hexadecimal, other = match.groups()
        if digits is not None:
            # GNU as takes 8 and 9 for octal digits, too.
            result.append(reduce(lambda number, digit: 8 * number + int(digit), digits, 0) & 0xFF)
        elif hexadecimal is not None:
            result.append(int(hexadecimal or "0", 16) & 0xFF)
        else:
            result += bytes([_ESCAPES[other]]) if other in _ESCAPES else other.encode("utf-8", "replace")
    return bytes(result) + text[position:].encode("utf-8", "replace")
