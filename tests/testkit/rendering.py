"""Operands as text in both dialects. Numbers are hexadecimal."""

from __future__ import annotations

from cyclelens.analyzer.frontend.statements.operand_types import (
    BranchTarget,
    Immediate,
    Operand,
    OperandError,
    Register,
    Rounding,
)


def _braces(decorations: tuple[str, ...], percent: str) -> str:
    return "".join(f"{{{percent if word[0] == 'k' else ''}{word}}}" for word in decorations if word != "bcst")


def _hexadecimal(number: int) -> str:
    if number >= 1 << 63:
        number -= 1 << 64
    return f"-0x{-number:x}" if number < 0 else f"0x{number:x}"


def render_att(operand: Operand, *, indirect: bool) -> str:
    """AT&T text of an operand. Segments are left out, because they become a prefix byte."""
    star = "*" if indirect else ""
    if isinstance(operand, Register):
        return f"{star}%{operand.name}{_braces(operand.decorations, '%')}"
    if isinstance(operand, Rounding):
        return f"{{{operand.text}}}"
    if isinstance(operand, Immediate):
        return f"${_hexadecimal(operand.value)}"
    if isinstance(operand, BranchTarget):
        raise OperandError("A jump target is not expected here.")
    braces = _braces(operand.decorations, "%")
    displacement = _hexadecimal(operand.displacement) if operand.displacement else ""
    base = f"%{operand.base}" if operand.base else ""
    if operand.is_absolute:
        return f"{star}{_hexadecimal(operand.displacement)}{braces}"
    if operand.base in ("rip", "eip"):
        displacement = _hexadecimal(operand.displacement)
    index = f",%{operand.index},{operand.scale}" if operand.index else ""
    return f"{star}{displacement}({base}{index}){braces}"


def render_intel(operand: Operand) -> str:
    """Intel text of an operand. Segments are left out, because they become a prefix byte."""
    if isinstance(operand, Register):
        return operand.name + _braces(operand.decorations, "")
    if isinstance(operand, Rounding):
        return f"{{{operand.text}}}"
    if isinstance(operand, Immediate):
        return _hexadecimal(operand.value)
    if isinstance(operand, BranchTarget):
        raise OperandError("A jump target is not expected here.")
    parts = [operand.base] if operand.base else []
    if operand.index:
        parts.append(f"{operand.index}*{operand.scale}")
    if operand.displacement or not parts or operand.base in ("rip", "eip"):
        parts.append(_hexadecimal(operand.displacement))
    pointer = "bcst" if "bcst" in operand.decorations else "ptr"
    size = f"{operand.size} {pointer} " if operand.size else ""
    address = "+".join(parts).replace("+-", "-")
    return f"{size}[{address}]{_braces(operand.decorations, '')}"
