"""Constant expressions of assembly text: numbers, symbols and GNU as's operators.

A value is a 64-bit number, or a symbol whose address is not known plus a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


class ExpressionError(ValueError):
    """The text is not an expression that can be evaluated; the message is meant for the user."""


@dataclass(frozen=True, slots=True)
class Value:
    """``constant``, or the address of ``symbol`` plus ``constant``."""

    constant: int
    symbol: str | None = None


Lookup = Callable[[str], "Value | None"]
"""Name of a symbol -> its value; None for one that has no constant value (a label, an external symbol)."""

_MAXIMUM_DEPTH = 50
_MAXIMUM_LENGTH = 1000

_SYMBOL = r"[A-Za-z_.$][\w.$]*(?:@[A-Za-z_]\w*)?"
_TOKEN = re.compile(
    r"""\s*(?:
    (?P<hexadecimal>0[xX][0-9a-fA-F]{1,32}(?!\w))
  | (?P<binary>0[bB][01]{1,64}(?!\w))
  | (?P<local>\d{1,9}[bf](?!\w))
  | (?P<suffixed>\d[0-9a-fA-F]{0,31}[hH](?!\w))
  | (?P<number>\d{1,32}(?!\w))
  | (?P<character>'(?:\\.|[^\\'])'?)
  | (?P<symbol>"""
    + _SYMBOL
    + r""")
  | (?P<operator><<|>>|&&|\|\||==|!=|<>|<=|>=|[-+*/%&|^~!()<>])
    )""",
    re.VERBOSE,
)

# GNU as's precedences, which are not those of C.
_PRECEDENCE = (
    dict.fromkeys(("*", "/", "%", "<<", ">>"), 4)
    | dict.fromkeys(("|", "&", "^", "!"), 3)
    | dict.fromkeys(("+", "-", "==", "!=", "<>", "<", ">", "<=", ">="), 2)
    | {"&&": 1, "||": 0}
)
_ESCAPES = {"n": 10, "t": 9, "r": 13, "b": 8, "f": 12, "0": 0}


def evaluate(text: str, lookup: Lookup) -> Value:
    """The value of an expression. Raises ExpressionError."""
    if len(text) > _MAXIMUM_LENGTH:
        raise ExpressionError("The expression is too long.")
    parser = _Parser(_tokens(text), lookup)
    value = parser.binary(0, 0)
    if parser.peek() is not None:
        raise ExpressionError(f"'{parser.peek()}' is not expected here.")
    return value


def constant(text: str, lookup: Lookup) -> int:
    """The value of an expression that must not depend on an address. Raises ExpressionError."""
    value = evaluate(text, lookup)
    if value.symbol is not None:
        raise ExpressionError(f"'{value.symbol}' has no constant value.")
    return value.constant


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens = []
    position = 0
    end = len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            raise ExpressionError(f"'{text[position:].strip()[:20]}' is not understood.")
        tokens.append((match.lastgroup, match.group(match.lastgroup)))
        position = match.end()
    return tokens


def _wrap(number: int) -> int:
    """Keep numbers within 64 bits, signed or unsigned."""
    if -(1 << 63) <= number < (1 << 64):
        return number
    return number % (1 << 64)


class _Parser:
    """Precedence climbing over a token list."""

    def __init__(self, tokens: list[tuple[str, str]], lookup: Lookup) -> None:
        self._tokens = tokens
        self._position = 0
        self._lookup = lookup

    def peek(self) -> str | None:
        """Text of the next token."""
        return self._tokens[self._position][1] if self._position < len(self._tokens) else None

    def binary(self, lowest: int, depth: int) -> Value:
        left = self._unary(depth)
        while True:
            operator = self.peek()
            if operator is None or _PRECEDENCE.get(operator, -1) < lowest:
                return left
            self._position += 1
            right = self.binary(_PRECEDENCE[operator] + 1, depth + 1)
            left = _apply(operator, left, right)

    def _unary(self, depth: int) -> Value:
        if depth > _MAXIMUM_DEPTH:
            raise ExpressionError("The expression is nested too deeply.")
        if self._position >= len(self._tokens):
            raise ExpressionError("An operand is missing.")
        kind, text = self._tokens[self._position]
        self._position += 1
        if kind == "operator":
            if text == "(":
                inner = self.binary(0, depth + 1)
                if self.peek() != ")":
                    raise ExpressionError("A closing parenthesis is missing.")
                self._position += 1
                return inner
            if text not in "+-~!":
                raise ExpressionError(f"'{text}' is not expected here.")
            operand = self._unary(depth + 1)
            if text == "+":
                return operand
            if operand.symbol is not None:
                raise ExpressionError(f"'{operand.symbol}' has no constant value.")
            number = operand.constant
            return Value(_wrap(-number if text == "-" else ~number if text == "~" else int(not number)))
        if kind in ("symbol", "local"):
            known = self._lookup(text)
            return known if known is not None else Value(0, text)
        return Value(_wrap(_number(kind, text)))


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


def _apply(operator: str, left: Value, right: Value) -> Value:
    if left.symbol is not None or right.symbol is not None:
        if operator == "+" and (left.symbol is None or right.symbol is None):
            return Value(_wrap(left.constant + right.constant), left.symbol or right.symbol)
        if operator == "-" and right.symbol is None:
            return Value(_wrap(left.constant - right.constant), left.symbol)
        if operator == "-" and left.symbol == right.symbol:
            return Value(_wrap(left.constant - right.constant))
        raise ExpressionError("An expression of several addresses has no constant value here.")
    a, b = left.constant, right.constant
    if operator in ("/", "%"):
        if b == 0:
            raise ExpressionError("Division by zero.")
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return Value(quotient if operator == "/" else a - b * quotient)
    if operator in ("<<", ">>"):
        if not 0 <= b < 64:
            return Value(0)
        return Value(_wrap(a << b) if operator == "<<" else (a % (1 << 64)) >> b)
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
    return Value(_wrap(results[operator]))
