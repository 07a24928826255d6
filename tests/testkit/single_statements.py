"""Encodes single statements without a text around them, and without any other program."""

from __future__ import annotations

from cyclelens.analyzer.frontend.encoding.instructions import Encoded, prepare
from cyclelens.analyzer.frontend.programs.program import Program, Statement, StatementKind
from cyclelens.analyzer.frontend.programs.scope import StatementScope
from cyclelens.analyzer.frontend.source.dialect import ATT, INTEL
from cyclelens.analyzer.frontend.statements.operand_types import OperandError, UnsupportedError

NOWHERE = StatementScope(Program([Statement(StatementKind.INSTRUCTION, 0, "", ATT, ".text")]), 0)
"""What symbols mean in a text of one statement."""


def code_of(text: str, dialect: str) -> bytes | None:
    """The bytes of a statement, empty if it is refused; None for a jump."""
    try:
        found = prepare(text, ATT if dialect == "att" else INTEL, NOWHERE)
    except (OperandError, UnsupportedError):
        return b""
    return found.code if isinstance(found, Encoded) else None
