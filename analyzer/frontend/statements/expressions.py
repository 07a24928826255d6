"""Evaluates expressions in assembly text: numbers, symbols and GNU as's operators.

A value is a 64-bit number, or a symbol with an unknown address plus a number, or something that depends on
the addresses of several symbols.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from cyclelens.analyzer.frontend.source.dialect import Dialect
from cyclelens.analyzer.frontend.source.lexer import CHARACTER, EXPRESSION_TOKENS, QUOTED
from cyclelens.analyzer.frontend.statements import registers
from cyclelens.analyzer.frontend.statements.names import symbol_of
from msgspec import Struct
from msgspec.structs import replace


class ExpressionError(ValueError):
    """The expression cannot be evaluated; the message is for the user."""


class ExpressionValue(Struct, frozen=True):
    """``constant``; or the address of ``symbol`` plus ``constant``; or unknown until ``later``."""

    constant: int
    symbol: str | None = None
    later: bool = False
    """The value depends on several addresses, or is more than an address plus a number. If ``symbol`` is set
    to such an expression, the value is ``symbol`` plus ``constant``."""
    is_relative: bool = False
    """The address of the place of use is subtracted; a linker can still compute the value."""

    @property
    def is_constant(self) -> bool:
        """Whether the value is a plain number."""
        return self.symbol is None and not self.later


LATER = ExpressionValue(0, later=True)
Lookup = Callable[[str], "ExpressionValue | None"]
"""Name of a symbol -> its value; None if it has no constant value (a label, an external symbol)."""
Distance = Callable[[str, str], "int | None"]
"""Bytes from the second symbol to the first, if they cannot change any more."""

_MAXIMUM_DEPTH = 50
_MAXIMUM_LENGTH = 1000

# GNU as's precedences, which differ from those of C.
_PRECEDENCE = (
    dict.fromkeys(("*", "/", "%", "<<", ">>"), 5)
    | dict.fromkeys(("|", "&", "^", "!"), 4)
    | dict.fromkeys(("+", "-"), 3)
    | dict.fromkeys(("==", "!=", "<>", "<", ">", "<=", ">="), 2)
    | {"&&": 1, "||": 0}
)
_NASM_PRECEDENCE = (
    dict.fromkeys(("*", "/", "%"), 6)
    | dict.fromkeys(("+", "-"), 5)
    | dict.fromkeys(("<<", ">>"), 4)
    | {"&": 3, "^": 2, "|": 1}
)
"""NASM's precedences; its comparisons are not supported."""
_WORDS = {
    "mod": "%",
    "shl": "<<",
    "shr": ">>",
    "and": "&",
    "or": "|",
    "xor": "^",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "not": "~",
}
"""Operators of the Intel dialect that are words."""
_RELOCATION = r"(?i)@(?:plt|got|tls(?:gd|ld|desc|call)|[dn]?tpoff|indntpoff|size)"
_ESCAPES = {"n": 10, "t": 9, "r": 13, "b": 8, "f": 12, "0": 0}


_CHARACTER = rf"(?s)({QUOTED})|{CHARACTER}"


def without_characters(text: str) -> str:
    """The text with character constants, which may be commas, quotes or blanks, replaced by numbers."""
    if "'" not in text:
        return text
    return re.sub(_CHARACTER, lambda match: match[1] or str(_number("character", match[0])), text)


def evaluate(
    text: str,
    lookup: Lookup,
    distance: Distance | None = None,
    *,
    dialect: Dialect,
    section: str | None = None,
    divided_by_zero: Callable[[], None] | None = None,
) -> ExpressionValue:
    """Value of an expression. ``section``: symbol of the current section's beginning. ``divided_by_zero`` is
    called for divisions by zero, which GNU as accepts with a warning. Raises ExpressionError."""
    if len(text) > _MAXIMUM_LENGTH:
        raise ExpressionError("The expression is too long.")
    tokens = _tokens(text, dialect)
    parser = _ExpressionParser(tokens, dialect, lookup, distance, section, divided_by_zero)
    value = parser.binary(0, 0)
    if parser.peek() is not None:
        raise ExpressionError(f"'{parser.peek()}' is not expected here.")
    return value


def refuse_zero() -> None:
    """GNU as refuses division by zero in expressions that it evaluates late. Raises ExpressionError."""
    raise ExpressionError("This divides by zero.")


def _has_words(dialect: Dialect) -> bool:
    """Whether words can be operators."""
    return not (dialect.is_att or dialect.is_nasm)


def _tokens(text: str, dialect: Dialect) -> list[tuple[str, str]]:
    tokens = []
    words = _has_words(dialect)
    pattern = re.compile(EXPRESSION_TOKENS[dialect.is_masm])
    position = 0
    end = len(text.rstrip())
    while position < end:
        match = pattern.match(text, position)
        if match is None or match.lastgroup is None or (match["quoted"] and not dialect.is_gnu):
            raise ExpressionError(f"'{text[position:].strip()[:20]}' is not understood.")
        kind, token = match.lastgroup, match.group(match.lastgroup)
        if kind == "suffixed" and dialect.is_gnu:
            raise ExpressionError(f"'{token}' is not a number to GNU as: write 0x{token[:-1]}.")
        if kind == "quoted":
            _check_quoted(token, dialect)
            kind, token = "symbol", symbol_of(token)
        if words and kind == "symbol" and token.lower() in _WORDS:
            kind, token = "operator", _WORDS[token.lower()]
        tokens.append((kind, token))
        position = match.end()
    return tokens


def _check_quoted(token: str, dialect: Dialect) -> None:
    """Raise ExpressionError for what quotes do not make a name of: GNU as looks within them for registers,
    and in AT&T syntax for relocations."""
    name = token[1 : token.index('"', 1)]
    if name[0] == "%" and name[1:].strip().lower() in registers.REGISTERS:
        raise ExpressionError(f"The register '{name}' is one in quotes, too.")
    if dialect.is_att and (match := re.search(_RELOCATION, name)):
        raise ExpressionError(f"GNU as takes '{match[0]}' within quotes for a relocation.")


def _wrap(number: int) -> int:
    """Wrap a number to 64 bits, signed or unsigned."""
    if -(1 << 63) <= number < (1 << 64):
        return number
    return number % (1 << 64)


class _ExpressionParser:
    """Precedence climbing over a token list."""

    def __init__(
        self,
        tokens: list[tuple[str, str]],
        dialect: Dialect,
        lookup: Lookup,
        distance: Distance | None,
        section: str | None,
        divided_by_zero: Callable[[], None] | None,
    ) -> None:
        self._tokens = tokens[::-1]
        self._lookup = lookup
        self._distance = distance
        self._section = section
        self._precedence = _NASM_PRECEDENCE if dialect.is_nasm else _PRECEDENCE
        self._divided_by_zero = divided_by_zero
        self._words = _has_words(dialect)

    def peek(self) -> str | None:
        """Text of the next token; None at the end."""
        return self._tokens[-1][1] if self._tokens else None

    def binary(self, lowest: int, depth: int) -> ExpressionValue:
        left = self._unary(depth)
        while True:
            operator = self.peek()
            if operator is None or self._precedence.get(operator, -1) < lowest:
                return left
            self._tokens.pop()
            right = self.binary(self._precedence[operator] + 1, depth + 1)
            if self._words:
                _check_intel(operator, left, right)
            if self._precedence is _NASM_PRECEDENCE:
                _check_nasm(operator, left, right)
            left = self._apply(operator, left, right)

    def _unary(self, depth: int) -> ExpressionValue:
        if depth > _MAXIMUM_DEPTH:
            raise ExpressionError("The expression is nested too deeply.")
        if not self._tokens:
            raise ExpressionError("An operand is missing.")
        kind, text = self._tokens.pop()
        if kind == "operator":
            if text == "(":
                inner = self.binary(0, depth + 1)
                if self.peek() != ")":
                    raise ExpressionError("A closing parenthesis is missing.")
                self._tokens.pop()
                return inner
            if text not in "+-~!":
                raise ExpressionError(f"'{text}' is not expected here.")
            operand = self._unary(depth + 1)
            if text == "+":
                return operand
            if not operand.is_constant:
                return LATER
            number = operand.constant
            return ExpressionValue(
                _wrap(-number if text == "-" else ~number if text == "~" else int(not number))
            )
        if kind in ("symbol", "local"):
            known = self._lookup(text)
            return known if known is not None else ExpressionValue(0, text)
        return ExpressionValue(_wrap(_number(kind, text)))

    def _apply(self, operator: str, left: ExpressionValue, right: ExpressionValue) -> ExpressionValue:
        if left.is_constant and right.is_constant:
            if operator in ("/", "%") and not right.constant and self._divided_by_zero:
                self._divided_by_zero()
            return ExpressionValue(_wrap(_calculate(operator, left.constant, right.constant)))
        if left.later or right.later:
            return _of_unknown(operator, left, right)
        number = left.constant - right.constant
        is_relative = left.is_relative or right.is_relative
        if operator == "+" and (left.symbol is None or right.symbol is None):
            return ExpressionValue(
                _wrap(left.constant + right.constant), left.symbol or right.symbol, is_relative=is_relative
            )
        if operator != "-" or left.symbol is None:
            return LATER
        if right.symbol is None:
            return ExpressionValue(_wrap(number), left.symbol, is_relative=is_relative)
        if is_relative:
            return LATER
        if left.symbol == right.symbol:
            return ExpressionValue(_wrap(number))
        if right.symbol == self._section:
            return ExpressionValue(_wrap(number), left.symbol, is_relative=True)
        between = self._distance(left.symbol, right.symbol) if self._distance else None
        return LATER if between is None else ExpressionValue(_wrap(number + between))


def _of_unknown(operator: str, left: ExpressionValue, right: ExpressionValue) -> ExpressionValue:
    """Sum or difference of a value that is unknown until later and another value. GNU as already knows that a
    symbol minus itself is zero."""
    if operator == "+" and left.is_constant:
        left, right = right, left
    if operator not in ("+", "-") or not left.later or left.symbol is None:
        return LATER
    number = _wrap(left.constant + (right.constant if operator == "+" else -right.constant))
    if right.is_constant:
        return replace(left, constant=number)
    return (
        ExpressionValue(number) if operator == "-" and right.later and left.symbol == right.symbol else LATER
    )


def _number(kind: str, text: str) -> int:
    if kind == "hexadecimal":
        return int(text, 16)
    if kind == "binary":
        return int(text[2:], 2)
    if kind == "suffixed":
        return int(text[:-1], 16)
    if kind == "character":
        body = text[1:].rstrip("'") or "'"
        return _ESCAPES.get(body[1], ord(body[1])) if body[0] == "\\" else ord(body)
    if len(text) > 1 and text[0] == "0":
        if set(text) & set("89"):
            raise ExpressionError(f"'{text}' begins with 0 and so is octal, but holds an 8 or 9.")
        return int(text, 8)
    return int(text)


def _check_intel(operator: str, left: ExpressionValue, right: ExpressionValue) -> None:
    """Raise ExpressionError for unknown operands whose result GNU as may know, such as 0 times something or
    ``x ^ x``: it does so only in some places of Intel syntax."""
    if operator in "+-" or (left.is_constant and right.is_constant):
        return
    is_same = operator in "&|^!" and left.symbol is not None and left.symbol == right.symbol
    if is_same or any(value.is_constant and value.constant in (0, 1) for value in (left, right)):
        raise ExpressionError(f"Whether GNU as can evaluate this '{operator}' is unclear.")


def _check_nasm(operator: str, left: ExpressionValue, right: ExpressionValue) -> None:
    """Raise ExpressionError where NASM calculates differently: it truncates shift counts above 63, and its
    division is unsigned."""
    if operator in ("<<", ">>") and not 0 <= right.constant < 64:
        raise ExpressionError(f"Only NASM can evaluate a shift by {right.constant}.")
    if operator in ("/", "%") and (left.constant < 0 or right.constant <= 0):
        raise ExpressionError("Only NASM can evaluate a division with a negative number or zero.")


def _calculate(operator: str, a: int, b: int) -> int:
    if operator in ("/", "%"):
        b = b or 1  # like GNU as, which warns
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if operator == "/" else a - b * quotient
    if operator in ("<<", ">>"):
        if not 0 <= b < 64:
            return 0
        return a << b if operator == "<<" else (a % (1 << 64)) >> b
    results = {
        "*": a * b,
        "+": a + b,
        "-": a - b,
        "|": a | b,
        "&": a & b,
        "^": a ^ b,
        "!": a | ~b,
        "==": -(a == b),
        "!=": -(a != b),
        "<>": -(a != b),
        "<": -(a < b),
        ">": -(a > b),
        "<=": -(a <= b),
        ">=": -(a >= b),
        "&&": int(bool(a) and bool(b)),
        "||": int(bool(a) or bool(b)),
    }
    return results[operator]
