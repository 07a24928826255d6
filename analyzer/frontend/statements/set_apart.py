"""Replaces names with special characters (commas, brackets, blanks) by placeholders while operands are
parsed."""

from __future__ import annotations

import re

from cyclelens.analyzer.frontend.source.dialect import Dialect
from cyclelens.analyzer.frontend.source.lexer import MASM_SYMBOL, QUOTED, UNICODE_SYMBOL
from cyclelens.analyzer.frontend.statements import registers
from cyclelens.analyzer.frontend.statements.expressions import ExpressionValue
from cyclelens.analyzer.frontend.statements.names import symbol_of
from cyclelens.analyzer.frontend.statements.operand_types import Scope

_SET_APART = {
    False: re.compile(rf"{QUOTED}|{UNICODE_SYMBOL}", re.DOTALL),
    True: re.compile(rf"{QUOTED}|{UNICODE_SYMBOL}|{MASM_SYMBOL}", re.DOTALL),
}
"""Texts to replace, by whether the text is MASM's."""
SET_APART = r'"\d{1,4}\n"'
"""A placeholder. No name looks like it, because names end with their line."""
_PLACE = re.compile(SET_APART)


class SetApart:
    """Operands of a statement in which quoted texts and names with special characters are replaced by quoted
    numbers. Such a number is a separate token that looks like nothing else."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self._names: list[str] = []
        self._dialect = dialect
        self.text = text
        if '"' in text or dialect.is_masm or not text.isascii():
            self.text = _SET_APART[dialect.is_masm].sub(self._set_apart, text)

    def _set_apart(self, match: re.Match[str]) -> str:
        name = symbol_of(match[0])
        # In AT&T syntax a register needs a percent sign; in Intel syntax it may be quoted.
        is_register = self._dialect.is_att and name.lower() in registers.REGISTERS
        if self._dialect.is_gnu and name.isascii() and name[0] not in '"$' and not is_register:
            return name
        self._names.append(match[0])
        return f'"{len(self._names) - 1}\n"'

    def written(self, text: str) -> str:
        """A piece of ``text`` in the user's spelling."""
        return _PLACE.sub(lambda match: self._names[int(match[0][1:-2])], text) if self._names else text

    def scope(self, scope: Scope) -> Scope:
        """A scope for pieces of ``text``."""
        return _AsWritten(scope, self) if self._names else scope


class _AsWritten(Scope):
    """A scope that looks names up in the user's spelling."""

    def __init__(self, scope: Scope, apart: SetApart) -> None:
        self._scope = scope
        self._apart = apart
        self.dot = scope.dot
        self.looks_ahead = scope.looks_ahead

    @property
    def is_whole(self) -> bool:
        return self._scope.is_whole

    @property
    def names_registers(self) -> bool:
        return self._scope.names_registers

    def evaluate(self, text: str) -> ExpressionValue:
        return self._scope.evaluate(self._apart.written(text))

    def final(self, text: str) -> ExpressionValue:
        return self._scope.final(self._apart.written(text))

    def is_set(self, name: str) -> bool:
        return self._scope.is_set(symbol_of(self._apart.written(name)))

    def register(self, name: str) -> str | None:
        return self._scope.register(symbol_of(self._apart.written(name)))

    def stand_in(self, text: str, value: ExpressionValue, base: int, *, immediate: bool) -> int:
        return self._scope.stand_in(self._apart.written(text), value, base, immediate=immediate)
