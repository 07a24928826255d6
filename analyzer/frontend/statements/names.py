"""Names of symbols, plain or quoted; GNU as accepts any character in quoted names.

A symbol is identified by its name as written, with its quotes unless it is a valid plain name. So different
names stay different, and nothing that is not a name (``1b``, the sign of a place) can be mistaken for one.
"""

from __future__ import annotations

import re

from cyclelens.analyzer.frontend.source.lexer import CHARACTER, ODD_BLANK, QUOTED_NAME, SYMBOL, cut_arguments

_PLAIN = rf"(?![.$]$){SYMBOL}"
_NAME = rf"{CHARACTER}|({QUOTED_NAME}|{SYMBOL})"
_STEM = r'"[^"]*"|[^@]*'


def symbol_of(name: str) -> str:
    """The symbol that a written name refers to: without quotes if it needs none."""
    quoted, end, suffix = name[1:].partition('"')
    if name[:1] != '"' or not end:
        return name
    return quoted + suffix if re.fullmatch(_PLAIN, quoted) and not ODD_BLANK.search(quoted) else name


def shown(symbol: str) -> str:
    """A symbol's name without quotes, as in messages and object files."""
    return symbol[1:-1] if symbol[:1] == '"' and symbol[-1:] == '"' else symbol


def without_suffix(symbol: str) -> str:
    """A symbol without a suffix such as ``@PLT``."""
    match = re.match(_STEM, symbol)
    return match[0] if match else symbol


def symbols(text: str) -> list[str]:
    """Symbols in an expression."""
    return [symbol_of(match[1]) for match in re.finditer(_NAME, text) if match[1]]


def function_of(arguments: str) -> str:
    """The symbol that a ``.type`` directive declares as a function; empty if it gives another type."""
    name, *kind = cut_arguments(arguments)[0] or [""]
    return symbol_of(name) if "func" in ",".join(kind).lower() else ""
