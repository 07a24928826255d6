"""Names in quotes, which GNU as takes wherever it takes a name: any character may stand in them.

Where operands and expressions are read, letters take the place of what is no letter. A text that uses these
very letters in a name is refused there (``is_ambiguous``): two names would become one.
"""

from __future__ import annotations

import re

from cyclelens.analyzer.common.patterns import pattern
from cyclelens.analyzer.frontend.source.dialect import Dialect
from cyclelens.analyzer.frontend.source.lexer import CHARACTER

_QUOTED = pattern(rf"""{CHARACTER}|"([^"\\\n\d][^"\\\n]*)\"""")
"""Character constants are left alone, and what GNU as takes for the number of a label."""
_UNUSUAL = pattern(r"[@?$]")
_MASM_NAME = pattern(r"(?<![\w.$?@])(?:\$[\w.$?@]+|(?=[\w.$]*[@?])[A-Za-z_.?@][\w.$?@]*)")
"""A name with characters that GNU as does not take in names, or not at their beginning."""
_PLAIN = pattern(r"[A-Za-z_.$][\w$.]+|[A-Za-z_]", re.ASCII)
_FIRST = 0x13000
"""Egyptian hieroglyphs are letters without a gap."""
_MARK = f"_{chr(_FIRST)}"
_LETTERS = {
    code: chr(_FIRST + code) for code in range(1, 128) if not chr(code).isalnum() and chr(code) != "_"
}
_OURS = pattern(f"[{chr(_FIRST)}-{chr(_FIRST + 127)}]")
_SPELLED = {ord(letter): code for code, letter in _LETTERS.items()}
_CODED = pattern(_MARK + r"(\w*)")


def is_ambiguous(text: str) -> bool:
    """Whether a text, as the user wrote it, has letters that stand for something else here."""
    return not text.isascii() and _OURS.search(text) is not None


def unquoted(text: str) -> str:
    """A text without the quotes of names; ``spelled`` tells how those are called."""
    return _QUOTED.sub(lambda match: coded(match[1]) if match[1] else match[0], text) if '"' in text else text


def readable(text: str, dialect: Dialect) -> str:
    """A text in whose names only letters stand that every reader of expressions takes; ``spelled`` tells how
    they are called."""
    if dialect.is_gnu:
        return unquoted(text)
    if dialect.is_masm and _UNUSUAL.search(text):
        return _MASM_NAME.sub(lambda match: _MARK + match[0].translate(_LETTERS), text)
    return text


def coded(name: str) -> str:
    """A name as it stands in such a text."""
    return name if _PLAIN.fullmatch(name) else _MARK + name.translate(_LETTERS)


def spelled(text: str) -> str:
    """A name, or a message with names, as the user writes them."""
    return _CODED.sub(lambda match: match[1].translate(_SPELLED), text) if _MARK in text else text
