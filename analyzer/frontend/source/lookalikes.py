"""Finds characters that only look like ASCII ones, as word processors and other keyboards write them."""

from __future__ import annotations

import re
from collections.abc import Callable

from cyclelens.analyzer.frontend.source.lexer import CHARACTER, STRING

_LETTERS = dict(
    zip(
        "аеорсухіјѕһԁԛԝктмАВЕКМНОРСТУХІЈЅοανρτυικχΑΒΕΖΗΙΚΜΝΟΡΤΥΧıℓ",
        "aeopcyxijshdqwktmABEKMHOPCTYXIJSoavptuikxABEZHIKMNOPTYXil",
        strict=True,
    )
)
"""Cyrillic and Greek letters, and some others."""
_SIGNS = {
    **dict.fromkeys("‐‑‒–—−", "-"),
    **dict.fromkeys("‘’‚′", "'"),
    **dict.fromkeys("“”„″", '"'),
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    "٪": "%",
    "∗": "*",
    "⁄": "/",
}
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_WORD = re.compile(rf"(?:[\w.$@?]|[{re.escape(''.join(_SIGNS))}{_INVISIBLE}])+")
_IN_QUOTES = re.compile(f"{STRING}|{CHARACTER}")


def folded(word: str) -> str:
    """The word with ASCII characters for those that look like them."""
    return "".join(
        "" if each in _INVISIBLE else _LETTERS.get(each) or _SIGNS.get(each) or each for each in word
    )


def misleading(statement: str, is_name: Callable[[str], bool], is_word: Callable[[str], bool]) -> str:
    """A message about a character of a statement that only looks like another one; empty if there is none.
    ``is_name``: whether the text defines a symbol of this name. ``is_word``: whether a word in ASCII is an
    instruction or a register."""
    if statement.isascii():
        return ""
    for match in _WORD.finditer(_IN_QUOTES.sub("", statement)):
        word = match[0]
        plain = folded(word)
        if word.isascii() or plain == word or is_name(word):
            continue
        if any(each in _SIGNS or each in _INVISIBLE for each in word) or (
            plain.isascii() and (re.search("[A-Za-z0-9]", word) or is_word(plain.lower()))
        ):
            return f"This contains {seen(word)}."
    return ""


def seen(word: str) -> str:
    """The misleading character of a word: ``'е' (U+0435), which only looks like 'e'``."""
    character = next(each for each in word if folded(each) != each)
    plain = folded(character)
    what = f"only looks like '{plain}'" if plain else "is invisible"
    shown = f"'{character}' (U+{ord(character):04X})" if plain else f"U+{ord(character):04X}"
    return f"{shown}, which {what}"
