"""Constant expressions and arguments of MASM, by the rules of the Microsoft Macro Assembler reference."""

from __future__ import annotations

import re
from collections.abc import Mapping

NAME = r"[A-Za-z_@?$][\w@?$]*"
_TOKEN = re.compile(
    rf"\s*(?:(?P<number>\d\w*)|(?P<name>{NAME})|(?P<text>'[^']*'|\"[^\"]*\")|(?P<sign>[-+*/()]))"
)
_BASES = {"h": 16, "b": 2, "y": 2, "o": 8, "q": 8, "d": 10, "t": 10}
_COMPARISONS = {
    "eq": lambda one, two: one == two,
    "ne": lambda one, two: one != two,
    "lt": lambda one, two: one < two,
    "le": lambda one, two: one <= two,
    "gt": lambda one, two: one > two,
    "ge": lambda one, two: one >= two,
}
_PRIORITIES = {
    **dict.fromkeys(("*", "/", "mod", "shl", "shr"), 6),
    **dict.fromkeys(("+", "-"), 5),
    **dict.fromkeys(_COMPARISONS, 4),
    "and": 2,
    "or": 1,
    "xor": 1,
}
_OF_NOT = 3
_LARGEST_SHIFT = 64
_BOUND = 1 << 64


class NotConstant(ValueError):
    """The text is no constant expression; the message is for the user."""


def number(text: str) -> int:
    """A number as MASM writes it: ``10``, ``0FFh``, ``1010b``. Raises NotConstant."""
    base = 10 if text.isdecimal() else _BASES.get(text[-1].lower(), 0)
    digits = text if text.isdecimal() else text[:-1]
    try:
        return int(digits, base) if base else int(text, 16 if text[:2].lower() == "0x" else 10)
    except ValueError:
        raise NotConstant(f"'{text}' is not a number.") from None


def value(text: str, names: Mapping[str, int]) -> int:
    """The value of a constant expression. ``names``: constants, in lower case. Raises NotConstant."""
    reader = _ConstantReader(text, names)
    found = reader.expression(0)
    if reader.rest():
        raise NotConstant(f"'{reader.rest()[:30]}' is not expected here.")
    return found


class _ConstantReader:
    def __init__(self, text: str, names: Mapping[str, int]) -> None:
        self._text = text
        self._names = names
        self._at = 0
        self._depth = 0

    def rest(self) -> str:
        return self._text[self._at :].strip()

    def _next(self) -> re.Match[str]:
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            raise NotConstant(
                "An expression ends too early." if not self.rest() else f"'{self.rest()[:30]}'."
            )
        return match

    def expression(self, priority: int) -> int:
        self._depth += 1
        if self._depth > _LARGEST_SHIFT:
            raise NotConstant("The expression is nested too deeply.")
        found = self._operand()
        while self.rest():
            match = _TOKEN.match(self._text, self._at)
            word = match[0].strip().lower() if match else ""
            strength = _PRIORITIES.get(word, -1)
            if match is None or strength <= priority:
                break
            self._at = match.end()
            found = _combined(word, found, self.expression(strength))
        self._depth -= 1
        return found

    def _operand(self) -> int:
        match = self._next()
        self._at = match.end()
        if match["number"]:
            return number(match["number"])
        if match["text"]:
            return int.from_bytes(match["text"][1:-1].encode("utf-8", "replace")[:8], "big")
        word = match[0].strip().lower()
        if word == "(":
            found = self.expression(0)
            closing = self._next()
            if closing["sign"] != ")":
                raise NotConstant("A parenthesis is not closed.")
            self._at = closing.end()
            return found
        if word in ("-", "+"):
            return self.expression(6) * (-1 if word == "-" else 1)
        if word == "not":
            return ~self.expression(_OF_NOT)
        if word in ("high", "low"):
            found = self.expression(6)
            return found >> 8 & 0xFF if word == "high" else found & 0xFF
        if word in self._names:
            return self._names[word]
        raise NotConstant(f"'{match[0].strip()}' has no value here.")


def _combined(word: str, one: int, two: int) -> int:
    if word in _COMPARISONS:
        return -int(_COMPARISONS[word](one, two))
    if word in ("/", "mod") and not two:
        raise NotConstant("A division by zero.")
    if word in ("shl", "shr") and not 0 <= two <= _LARGEST_SHIFT:
        return 0
    found = {
        "*": lambda: one * two,
        "/": lambda: int(abs(one) // abs(two)) * (1 if (one < 0) == (two < 0) else -1),
        "mod": lambda: abs(one) % abs(two) * (-1 if one < 0 else 1),
        "shl": lambda: one << two,
        "shr": lambda: one % _BOUND >> two,
        "+": lambda: one + two,
        "-": lambda: one - two,
        "and": lambda: one & two,
        "or": lambda: one | two,
        "xor": lambda: one ^ two,
    }[word]()
    if not -_BOUND < found < _BOUND:
        raise NotConstant("The value needs more than 64 bits.")
    return found


_PIECE = re.compile(r"<(?:[^<>!]|!.)*>|'[^']*'|\"[^\"]*\"|.", re.DOTALL)


def arguments(text: str) -> list[str]:
    """Arguments as written, split at commas outside of brackets, parentheses and quotes."""
    found, depth = [""], 0
    for match in _PIECE.finditer(text):
        piece = match[0]
        if piece == "," and depth == 0:
            found.append("")
            continue
        depth += (piece in "([{<") - (piece in ")]}>") if len(piece) == 1 else 0
        found[-1] += piece
    found = [each.strip() for each in found]
    return [] if found == [""] else found


def literal(text: str) -> str:
    """The content of ``<text>``, with ``!`` before its special characters removed; other text as it is."""
    if len(text) >= 2 and text[0] == "<" and text[-1] == ">":
        return re.sub(r"!(.)", r"\1", text[1:-1])
    return text
