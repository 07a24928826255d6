"""Names of symbols: plain ones, and those in quotes, in which GNU as takes any character.

A symbol is known by its name as it is written: in its quotes unless it could stand without them. So no two
names become one, and nothing that is no name (``1b``, the sign of a place) can be taken for one.
"""

from __future__ import annotations

from cyclelens.analyzer.common.patterns import pattern
from cyclelens.analyzer.frontend.source.lexer import CHARACTER, ODD_BLANK, QUOTED_NAME, SYMBOL, cut_arguments

_PLAIN = pattern(rf"(?![.$]$){SYMBOL}")
_NAME = pattern(rf"{CHARACTER}|({QUOTED_NAME}|{SYMBOL})")
_STEM = pattern(r'"[^"]*"|[^@]*')


def symbol_of(name: str) -> str:
    """The symbol that a written name means: the name without quotes if it needs none."""
    quoted, end, suffix = name[1:].partition('"')
    if name[:1] != '"' or not end:
        return name
    return quoted + suffix if _PLAIN.fullmatch(quoted) and not ODD_BLANK.search(quoted) else name


def shown(symbol: str) -> str:
    """A symbol's name as people and object files have it: without quotes."""
    return symbol[1:-1] if symbol[:1] == '"' and symbol[-1:] == '"' else symbol


def without_suffix(symbol: str) -> str:
    """A symbol without ``@PLT`` and the like behind it."""
    match = _STEM.match(symbol)
    return match[0] if match else symbol


def symbols(text: str) -> list[str]:
    """The symbols that an expression names."""
    return [symbol_of(match[1]) for match in _NAME.finditer(text) if match[1]]


def typed(arguments: str, word: str) -> str:
    """The symbol that a ``.type`` with these arguments says is of a kind with this word; nothing if not."""
    name, *kind = cut_arguments(arguments)[0] or [""]
    return symbol_of(name) if word in ",".join(kind).lower() else ""
