"""Directives: what they do to the bytes. Data and alignment are encoded here."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

from cyclelens.analyzer.assembly.expressions import ExpressionError, constant, evaluate
from cyclelens.analyzer.assembly.operands import OperandError, Scope, UnsupportedError

_SILENT_NAMES = """
abort addrsig addrsig_sym altmacro arch att_mnemonic att_syntax attach_to_group attribute bss
bundle_align_mode bundle_lock bundle_unlock build_version code16 code32 code64 comm data desc eject
end ent eqv equ equiv err error extern file global globl gnu_attribute hidden ident indirect_symbol
intel_mnemonic intel_syntax internal lcomm linkonce list loc loc_mark_labels local
macosx_version_min mri noaltmacro nolist pad_syntax popsection previous print private_extern
protected psize pushsection purgem reloc sbttl section sectname set shstrtab size subsection
subsections_via_symbols symver text title type version vtable_entry vtable_inherit warning weak
weakref zerofill
"""
SILENT = frozenset(_SILENT_NAMES.split())
"""Names without the dot that put no bytes into the code (sections and syntax are followed elsewhere)."""

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
}
_FLOATS = {"float": "<f", "single": "<f", "double": "<d"}
_STRINGS = {"ascii": b"", "asciz": b"\0", "string": b"\0"}
_SPACES = frozenset(["zero", "skip", "space"])
ALIGNMENTS = frozenset(["align", "balign", "p2align"])
_UNSUPPORTED_NAMES = """
macro endm exitm rept irp irpc endr if ifdef ifndef ifb ifnb ifc ifnc ifeq ifne ifge ifgt ifle iflt
ifeqs ifnes ifnotdef else elseif endif include incbin insn nops org sleb128 uleb128 string8 string16
string32 base64 tfloat ldouble balignw balignl p2alignw dcb ds dc p2alignl
"""
UNSUPPORTED = frozenset(_UNSUPPORTED_NAMES.split())
"""Names without the dot that would decide about the bytes, and are not handled."""

MAXIMUM_BYTES = 1 << 12
"""Most bytes one numeric directive or alignment may make in a region; strings are as long as written."""
_STRING = re.compile(r'"((?:[^"\\]++|\\.)*+)"')
_ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-fA-F]+|.)")
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
"""By length in bytes: the NOPs that GNU as fills code with (generic x86-64 tuning)."""
_LONGEST_NOP = len(_NOPS) - 1
_MOST_NOPS = 7
"""More fill than this many of the longest NOPs is jumped over."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Fill up to a multiple of ``boundary`` bytes, unless that takes more than ``maximum``."""

    boundary: int
    fill: int | None = None
    """Byte to fill with; None (or NOP) for the longest NOPs."""
    maximum: int | None = None

    def padding(self, offset: int) -> bytes:
        """The fill at an offset."""
        count = -offset % self.boundary
        if self.maximum is not None and count > self.maximum:
            return b""
        if self.fill is not None and self.fill != 0x90:
            return bytes([self.fill]) * count
        return nop_fill(count)


def nop_fill(count: int) -> bytes:
    """``count`` bytes as GNU as fills code: long NOPs first, behind a jump if there are too many."""
    jump = b""
    if count > _LONGEST_NOP * _MOST_NOPS:
        count -= 2
        if count <= 127:
            jump = b"\xeb" + bytes([count])
        else:
            count -= 3
            jump = b"\xe9" + count.to_bytes(4, "little")
    whole, rest = divmod(count, _LONGEST_NOP)
    return jump + _NOPS[_LONGEST_NOP] * whole + _NOPS[rest]


def is_known(name: str) -> bool:
    """Is it a directive at all? ``name`` is in lower case and without the dot."""
    return (
        name in SILENT
        or name in UNSUPPORTED
        or name in ALIGNMENTS
        or makes_data(name)
        or name.startswith("cfi_")
    )


def makes_data(name: str) -> bool:
    """Does the directive put data into the section?"""
    return name in _INTEGERS or name in _FLOATS or name in _STRINGS or name in _SPACES or name == "fill"


def split_arguments(text: str) -> list[str]:
    """Arguments at the commas outside of strings and parentheses."""
    arguments = []
    depth = start = position = 0
    while position < len(text):
        character = text[position]
        if character == '"':
            match = _STRING.match(text, position)
            if match is None:
                raise OperandError("A string is not closed.")
            position = match.end()
            continue
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            arguments.append(text[start:position].strip())
            start = position + 1
        position += 1
    arguments.append(text[start:].strip())
    return arguments if arguments != [""] else []


def alignment(name: str, text: str, scope: Scope) -> Alignment:
    """Raises OperandError."""
    arguments = split_arguments(text)
    if not 1 <= len(arguments) <= 3:
        raise OperandError(f".{name} takes one to three numbers.")
    numbers = [_constant(argument, scope) if argument else None for argument in arguments]
    first = numbers[0]
    if first is None:
        raise OperandError(f".{name} needs a number.")
    if name == "p2align":
        first = 1 << min(first, 64) if first >= 0 else first
    if first == 0:
        first = 1
    if first & (first - 1) or not 0 < first <= MAXIMUM_BYTES:
        raise OperandError(f"An alignment must be a power of two up to {MAXIMUM_BYTES}, not {first}.")
    fill = numbers[1] if len(numbers) > 1 else None
    maximum = numbers[2] if len(numbers) > 2 else None
    return Alignment(first, fill & 0xFF if fill is not None else None, maximum or None)


def data(name: str, text: str, scope: Scope) -> bytes:
    """The bytes of a data directive. Raises OperandError, UnsupportedError."""
    if name in _STRINGS:
        return _strings(text, _STRINGS[name])
    arguments = split_arguments(text)
    if name in _FLOATS:
        return b"".join(_float(argument, _FLOATS[name]) for argument in arguments)
    if name in _INTEGERS:
        return b"".join(_integer(argument, _INTEGERS[name], scope) for argument in arguments)
    numbers = [_constant(argument, scope) for argument in arguments]
    if name == "fill":
        repeat, size, value = (numbers + [1, 0][len(numbers) - 1 :])[:3] if numbers else (0, 1, 0)
        if not 0 <= size <= 8:
            raise OperandError("The size of .fill must be 0 to 8.")
        unit = (value % (1 << 64)).to_bytes(8, "little")[:size]
    else:
        if not 1 <= len(numbers) <= 2:
            raise OperandError(f".{name} takes a size and perhaps a byte to fill with.")
        repeat, unit = numbers[0], bytes([numbers[1] & 0xFF if len(numbers) > 1 else 0])
    if not 0 <= repeat * max(len(unit), 1) <= MAXIMUM_BYTES:
        raise UnsupportedError(
            f".{name} of more than {MAXIMUM_BYTES} bytes is not supported inside of a region."
        )
    return unit * repeat


def _constant(text: str, scope: Scope) -> int:
    try:
        return constant(text, scope.lookup)
    except ExpressionError as error:
        raise OperandError(str(error)) from None


def _integer(text: str, size: int, scope: Scope) -> bytes:
    try:
        value = evaluate(text, scope.lookup)
    except ExpressionError as error:
        raise OperandError(str(error)) from None
    # An address is not known here; its place is taken by zeros, as in an object file.
    number = value.constant if value.symbol is None else 0
    return (number % (1 << (8 * size))).to_bytes(size, "little")


def _float(text: str, form: str) -> bytes:
    try:
        return struct.pack(form, float(re.sub(r"^0[a-zA-Z]", "", text)))
    except (ValueError, OverflowError):
        raise OperandError(f"'{text[:30]}' is not a floating-point number.") from None


def _strings(text: str, end: bytes) -> bytes:
    result = b""
    for argument in split_arguments(text):
        pieces = _STRING.findall(argument)
        if _STRING.sub("", argument).strip() or not pieces:
            raise OperandError("A string in double quotes is expected.")
        result += b"".join(_unescape(piece) for piece in pieces) + end
    return result


def _unescape(text: str) -> bytes:
    result = bytearray()
    position = 0
    for match in _ESCAPE.finditer(text):
        result += text[position : match.start()].encode("utf-8", "replace")
        position = match.end()
        body = match[1]
        if body[0] in "01234567":
            result += bytes([int(body, 8) & 0xFF])
        elif body[0] == "x" and len(body) > 1:
            result += bytes([int(body[-2:], 16)])
        else:
            result += bytes([_ESCAPES[body]]) if body in _ESCAPES else body.encode("utf-8", "replace")
    return bytes(result) + text[position:].encode("utf-8", "replace")
