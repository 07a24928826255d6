"""Parses operands of both dialects.

Masks, broadcasts and rounding are decorations of the operand that they follow.
"""

from __future__ import annotations

import re

from cyclelens.analyzer.frontend.source.dialect import Dialect
from cyclelens.analyzer.frontend.source.lexer import cut_operands
from cyclelens.analyzer.frontend.statements import registers
from cyclelens.analyzer.frontend.statements.expressions import ExpressionError, ExpressionValue
from cyclelens.analyzer.frontend.statements.operand_types import (
    ABSOLUTE_BASE,
    BranchTarget,
    Immediate,
    MemoryOperand,
    Operand,
    OperandError,
    Register,
    Rounding,
    Scope,
    UnsupportedError,
)
from cyclelens.analyzer.frontend.statements.set_apart import SET_APART
from msgspec.structs import replace

_SIZES = {
    "byte": "byte",
    "word": "word",
    "dword": "dword",
    "qword": "qword",
    "fword": "fword",
    "tbyte": "tbyte",
    "tword": "tbyte",
    "oword": "xmmword",
    "xmmword": "xmmword",
    "ymmword": "ymmword",
    "yword": "ymmword",
    "zmmword": "zmmword",
    "mmword": "qword",
}
_SIZE = re.compile(rf"({'|'.join(_SIZES)})\b\s*(?:ptr\b\s*|(bcst)\b\s*|(?=\[|[c-gs]s\s*:))", re.IGNORECASE)
_RESERVED = frozenset([*_SIZES, "ptr", "bcst", "offset", "flat"])
_DECORATION = re.compile(r"\{\s*%?(k[0-7]|z|1to(?:2|4|8|16|32)|(?:r[nduz]-)?sae)\s*\}", re.IGNORECASE)
_SIZE_WITHIN = re.compile(r"\[\s*(\w+\s+ptr)\b", re.IGNORECASE)
"""``[QWORD PTR 8[rax]]``, as GCC writes calls."""
_SEGMENT = re.compile(r"%?([c-gs]s)\s*:\s*", re.IGNORECASE)
_REGISTER_IN = r"%\s*[A-Za-z]\w*"
_BARE_WORD = re.compile(r"(?<![%\w.$@])[A-Za-z]\w*(?![\w.$@])")
_LABEL = re.compile(rf"{SET_APART}|(?<![\w.$])(?:\.|\d+[bf]|[A-Za-z_]|[A-Za-z_.$][\w.$]+)(?![\w.$])")
_OPERATORS = "+-*/%&|^<>!~"
_PARENTHESISED = r"\([^()]*\)"
_OFFSET = re.compile(r"(?<![\w.$@])(?:(offset)\b\s*(?:flat\s*:\s*)?|flat\s*:\s*)", re.IGNORECASE)
_NEGATIVE_OFFSET = re.compile(r"[-~!]\s*offset\b", re.IGNORECASE)
_HERE = r"\$(?![\w.$])"
_DISTANCE = r"(?i)(short|near(?:\s+ptr)?|far(?:\s+ptr)?)\b\s*"
_DEBUG = re.compile(r"^(%?)db(?=\d+$)", re.IGNORECASE)
"""GNU as's other name of a debug register."""
_ST = re.compile(r"st\s*\(?\s*([0-7])\s*\)?")
_TERM_SPLIT = re.compile(r"[-+*()\[\]]|[^-+*()\[\]]+")
_AFTER_WORD = re.compile(r"(?<=[\w)]) +%(\w+)")
"""A register behind the end of a word."""
MAXIMUM_OPERANDS = 6


def split_operands(text: str) -> list[str]:
    """Operands, split at commas outside of all brackets. Raises OperandError."""
    if not text.strip():
        return []
    parts = [part.strip() for part in _split(text)]
    if len(parts) > MAXIMUM_OPERANDS:
        raise OperandError("There are too many operands.")
    if "" in parts:
        raise OperandError("An operand is missing.")
    return parts


def _split(text: str) -> list[str]:
    parts, is_balanced = cut_operands(text)
    if not is_balanced:
        raise OperandError("The brackets of the operands do not match.")
    return parts


def _register(text: str) -> str | None:
    """The register that a text names; None if it does not name one."""
    name = text.strip().removeprefix("%").strip().lower() if text.isascii() else ""
    st = _ST.fullmatch(name)
    if st:
        name = f"st({st[1]})"
    if name not in registers.REGISTERS:
        return None
    return name


def parse_att(text: str, scope: Scope, *, branch: bool, bare_registers: bool) -> Operand:
    """Parse an AT&T operand. ``branch``: a bare expression is a jump target. ``bare_registers``: registers
    need no ``%``. Raises OperandError and UnsupportedError."""
    text, decorations = _take_decorations(text)
    if not text:
        return Rounding(decorations[0])
    operand = _plain_att(text, scope, branch=branch, bare_registers=bare_registers)
    return _decorated(operand, decorations)


def _plain_att(text: str, scope: Scope, *, branch: bool, bare_registers: bool) -> Operand:
    if not bare_registers:
        _refuse_bare_registers(text)
    if " %" in text:
        _refuse_missing_comma(text)
    indirect = branch and text.startswith("*")
    if indirect:
        text = text[1:].strip()
        if not text:
            raise OperandError("An operand is missing.")
    if text.startswith("$"):
        return _immediate(text[1:], scope)
    if register := _register(_DEBUG.sub(r"\1dr", text)):
        return Register(register)
    if text.replace(" ", "").lower() == "(%dx)":
        return Register("dx")
    segment = None
    if match := _SEGMENT.match(text):
        segment = match[1].lower()
        text = text[match.end() :]
    displacement, inside = _parenthesised(text)
    if inside is not None and (
        inside.startswith((",", "%")) or inside.partition(",")[0].strip().lower() in registers.ADDRESSES
    ):
        return _att_address(displacement, inside, segment, scope)
    if branch and not indirect and segment is None:
        return BranchTarget(text)
    if re.search(_REGISTER_IN, text):
        raise OperandError(f"'{text[:40]}' is not understood as an operand.")
    return MemoryOperand(segment, displacement=_displacement(text, scope, relative=False))


def _parenthesised(text: str) -> tuple[str, str | None]:
    """The text before the final parentheses, and their content; None if there are none."""
    depth = 0
    for at in range(len(text) - 1, -1, -1) if text.endswith(")") else ():
        depth += (text[at] == ")") - (text[at] == "(")
        if not depth:
            return text[:at], text[at + 1 : -1].strip()
    return text, None


def _refuse_bare_registers(text: str) -> None:
    for match in _BARE_WORD.finditer(text):
        if match[0].lower() in registers.REGISTERS:
            raise OperandError(f"'{match[0]}' needs a '%' to be a register in AT&T syntax.")


def _refuse_missing_comma(text: str) -> None:
    """Refuse ``$32 %rdi``, which would be the remainder of a division by a symbol."""
    for match in _AFTER_WORD.finditer(text):
        if match[1].lower() in registers.REGISTERS:
            raise OperandError(f"A comma is missing before '%{match[1]}'.")


def _att_address(displacement: str, inside: str, segment: str | None, scope: Scope) -> MemoryOperand:
    parts = [part.strip() for part in _split(inside)]
    if len(parts) > 3:
        raise OperandError(f"'({inside[:40]})' has too many parts for an address.")
    base = _address_register(parts[0]) if parts[0] else None
    index = _address_register(parts[1]) if len(parts) > 1 and parts[1] else None
    scale = 1
    if len(parts) == 3 and parts[2]:
        scale = _scale(parts[2], scope)
    number = _displacement(displacement, scope, relative=base in ("rip", "eip"))
    return _memory(segment, base, index, scale, number, None)


def _address_register(text: str) -> str:
    name = _register(text)
    if name is None or name not in registers.ADDRESSES | registers.VECTOR_INDEXES:
        raise OperandError(f"'{text[:30]}' cannot be part of an address.")
    return name


def _scale(text: str, scope: Scope) -> int:
    value = _evaluate(text, scope)
    if not value.is_constant or value.constant not in (1, 2, 4, 8):
        raise OperandError(f"A scale must be 1, 2, 4 or 8, not '{text[:20]}'.")
    return value.constant


def _memory(
    segment: str | None, base: str | None, index: str | None, scale: int, displacement: int, size: str | None
) -> MemoryOperand:
    if index in ("rsp", "esp", "rip", "eip") or base in registers.VECTOR_INDEXES:
        raise OperandError(f"'{index or base}' cannot be used like this in an address.")
    if base in ("rip", "eip") and index is not None:
        raise OperandError("An address relative to rip has no index.")
    is_wide = base == "rip" or base in registers.GENERAL_64 or index in registers.GENERAL_64
    if is_wide and not -(1 << 31) <= displacement < 1 << 31:
        raise OperandError(f"{displacement:#x} is out of the range of a displacement (32 bits with a sign).")
    return MemoryOperand(segment, base, index, scale, displacement, size)


def parse_intel(text: str, scope: Scope, dialect: Dialect, *, branch: bool) -> Operand:
    """Parse an operand of the Intel dialect, as GNU as or MASM spells it, or of the plain part of NASM's. A
    bare name is memory for the first two, and a number for NASM. Raises OperandError and UnsupportedError."""
    text, decorations = _take_decorations(text)
    if not text:
        return Rounding(decorations[0])
    operand = _plain_intel(text, scope, dialect, branch=branch)
    return _decorated(operand, decorations)


def _plain_intel(text: str, scope: Scope, dialect: Dialect, *, branch: bool) -> Operand:
    if text.startswith("$") and not (branch and re.match(_HERE, text)):
        raise OperandError("A number is written without '$' in Intel syntax.")
    near = False
    size = None
    if branch and (match := re.match(_DISTANCE, text)):
        if match[1].lower().startswith("far"):
            if not dialect.is_gnu or "[" not in text:
                raise UnsupportedError("Far jumps are encoded only through memory.")
            size = "fword"
        # GNU as and MASM choose the length of a jump that is near.
        near = dialect.is_nasm and match[1].lower() == "near"
        text = text[match.end() :]
    if register := _register(_DEBUG.sub(r"\1dr", text) if dialect.is_gnu else text):
        return Register(register)
    broadcasts: tuple[str, ...] = ()
    if match := _SIZE_WITHIN.match(text):
        text = f"{match[1]} [{text[match.end() :]}"
    if match := _SIZE.match(text):
        size = _SIZES[match[1].lower()]
        broadcasts = ("bcst",) if match[2] else ()
        text = text[match.end() :]
    segment = None
    if match := _SEGMENT.match(text):
        segment = match[1].lower()
        text = text[match.end() :]
    text, is_offset = _without_offset(text)
    if "[" in text:
        address = _intel_address(text, segment, size, scope, relative=dialect.is_relative)
        if is_offset and segment is None and address.is_absolute:
            return _immediate(text.replace("[", "(").replace("]", ")"), scope)
        return replace(address, decorations=broadcasts)
    if branch and segment is None and size is None:
        return BranchTarget(text, near)
    if is_offset and segment is None:
        return _immediate(text, scope)
    value = _evaluate(text, scope)
    names = _LABEL.findall(text) if value.later or (value.is_constant and "-" in text) else []
    set_names = [name for name in names if scope.is_set(name)]
    if value.is_constant and segment is None and (size is None or dialect.is_gnu):
        if any(not _evaluate(name, scope).is_constant for name in set_names):
            raise UnsupportedError("GNU as treats the distance between a symbol and its alias as an address.")
        return Immediate(value.constant, size=size or "")
    if dialect.is_nasm and segment is None and size is None:
        return _immediate(text, scope)
    if value.later and segment is None and size is None:
        # GNU as treats everything but an address plus a number as a number.
        if set_names:
            raise UnsupportedError("Whether GNU as treats this as a number or an address is unclear.")
        return _immediate(text, scope)
    if dialect.is_masm and not value.is_constant and segment is None:
        return MemoryOperand(None, "rip", displacement=_displacement(text, scope, relative=True), size=size)
    return MemoryOperand(segment, displacement=_displacement(text, scope, relative=False), size=size)


def _without_offset(text: str) -> tuple[str, bool]:
    """An operand without ``offset`` and ``flat:``, and whether it had ``offset``. GNU as accepts them before
    any name. Without a register, the operand is then the address itself, even in brackets."""
    if _NEGATIVE_OFFSET.search(text):
        return text, False
    return _OFFSET.sub("", text), any(match[1] for match in _OFFSET.finditer(text))


def _intel_address(
    text: str, segment: str | None, size: str | None, scope: Scope, *, relative: bool
) -> MemoryOperand:
    """``displacement[base + index*scale + displacement]`` with any number of brackets, which are added."""
    flat = re.sub(r"\]\s*\[|\[", "+", text).replace("]", " ").strip()
    if text.count("[") != text.count("]") or "'" in text:
        raise OperandError("The brackets of the address do not match.")
    body = re.sub(r"\+\s*(?:rel|abs)\s+", "+", flat) if "rel" in flat or "abs" in flat else flat
    relative_word = "rel" in flat if body != flat else relative
    if segment is None and (match := re.match(r"\+\s*%?([c-gs]s)\s*:", body, re.IGNORECASE)):
        segment = match[1].lower()
        body = body[match.end() :]
    base = index = None
    scale = 1
    rest = ""
    for sign, term in _terms(body):
        factors = [factor.strip() for factor in term.split("*")] if "(" not in term else [term]
        named = [factor for factor in factors if _register(factor)]
        if not named:
            rest += sign + term
            continue
        if sign == "-" or len(named) > 1 or len(factors) > 2:
            raise OperandError(f"'{term.strip()[:30]}' cannot be part of an address.")
        name = _address_register(named[0])
        if len(factors) == 2:
            if index is not None:
                if base is not None or scale != 1:
                    raise OperandError("An address has one scaled register only.")
                base = index
            index = name
            scale = _scale(factors[1 - factors.index(named[0])], scope)
        elif name in registers.VECTOR_INDEXES:
            if index is not None:
                base, index = index, None
            index = name
        elif base is None:
            base = name
        elif index is None:
            index = name
        else:
            raise OperandError("An address has two registers at most.")
    if index in ("rsp", "esp") and scale == 1 and base not in ("rsp", "esp"):
        base, index = index, base
    if relative_word and base is None and index is None and segment not in ("fs", "gs"):
        base = "rip"
    rest = rest.removeprefix("+")
    for name in _LABEL.findall(rest):
        if name.lower() in registers.REGISTERS:
            raise OperandError(f"The register '{name}' cannot be part of '{text[:40]}'.")
    if (base or index) and (doubt := _doubt(rest, scope)):
        raise UnsupportedError(doubt)
    number = _displacement(rest, scope, relative=base in ("rip", "eip"))
    return _memory(segment, base, index, scale, number, size)


def _doubt(text: str, scope: Scope) -> str:
    """Warning for a displacement after a register that GNU as 2.40 evaluates wrongly: it ignores the address
    of the first of two labels and the scale before a product, and evaluates some values late. Empty if there
    is none."""
    if not text:
        return ""
    value, names = _evaluate(text, scope), _LABEL.findall(text)
    if value.is_constant:
        while (outside := re.sub(_PARENTHESISED, "0", text)) != text:
            text = outside
        if any(not _evaluate(name, scope).is_constant for name in _LABEL.findall(text)):
            return "GNU as gets the distance of two labels after a register wrong: put it in parentheses."
    elif (value.later and ("*" in text or any(scope.is_set(name) for name in names))) or (
        value.symbol is not None and scope.is_set(value.symbol)
    ):
        return "How GNU as evaluates this displacement is unclear: set its symbols further up."
    return ""


def _terms(text: str) -> list[tuple[str, str]]:
    """Signed terms of a sum; parenthesised text stays together."""
    terms = []
    sign, current, depth = "+", "", 0
    for piece in _TERM_SPLIT.findall(text):
        if piece in "+-" and depth == 0 and current.strip() and current.rstrip()[-1] not in _OPERATORS:
            terms.append((sign, current))
            sign, current = piece, ""
        elif piece == "+" and depth == 0 and not current.strip():
            continue
        else:
            depth += (piece == "(") - (piece == ")")
            current += piece
    if not current.strip():
        raise OperandError("The address is incomplete.")
    terms.append((sign, current))
    return terms


def _evaluate(text: str, scope: Scope) -> ExpressionValue:
    try:
        value = scope.evaluate(text)
    except ExpressionError as error:
        raise OperandError(str(error)) from None
    if value.symbol is not None and value.symbol.lower() in _RESERVED:
        raise OperandError(f"'{text[:40]}' is not complete.")
    if value.symbol is not None and value.symbol.lower() in registers.REGISTERS and '"' not in text:
        raise OperandError(f"The register '{value.symbol}' cannot be part of '{text[:40]}'.")
    return value


def _immediate(text: str, scope: Scope) -> Immediate:
    value = _evaluate(text, scope)
    if value.is_constant:
        return Immediate(value.constant)
    return Immediate(_stand_in(text, value, scope, ABSOLUTE_BASE, immediate=True), is_address=True)


def _displacement(text: str, scope: Scope, *, relative: bool) -> int:
    """A displacement in bytes, or a placeholder if it has no constant value."""
    if not text.strip():
        return 0
    value = _evaluate(text, scope)
    if not value.is_constant:
        return _stand_in(text, value, scope, 0 if relative else ABSOLUTE_BASE)
    number = value.constant
    return number - (1 << 64) if number >= (1 << 63) else number


def _stand_in(text: str, value: ExpressionValue, scope: Scope, base: int, *, immediate: bool = False) -> int:
    try:
        return scope.stand_in(text, value, base, immediate=immediate)
    except ExpressionError as error:
        raise OperandError(str(error)) from None


def _take_decorations(text: str) -> tuple[str, tuple[str, ...]]:
    """An operand without the braces after it, and their content in lower case."""
    at = text.find("{")
    if at < 0:
        if "}" in text:
            raise OperandError("The braces of the operand do not match.")
        return text, ()
    decorations = tuple(match[1].lower() for match in _DECORATION.finditer(text, at))
    plain = text[:at].strip()
    if _DECORATION.sub("", text[at:]).strip() or (not plain and len(decorations) != 1):
        raise OperandError(f"'{text[at:][:30]}' is not a mask, broadcast or rounding.")
    if not plain and not decorations[0].endswith("sae"):
        raise OperandError(f"'{text[:30]}' does not follow an operand.")
    return plain, decorations


def _decorated(operand: Operand, decorations: tuple[str, ...]) -> Operand:
    if not decorations:
        return operand
    if not isinstance(operand, Register | MemoryOperand):
        raise OperandError("Braces must follow a register or an address.")
    return replace(operand, decorations=operand.decorations + decorations)
