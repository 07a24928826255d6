"""Bodies of MASM's macros and repetitions: where they end, and their parameters."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cyclelens.analyzer.frontend.source.masm_values import NAME, arguments, literal
from cyclelens.analyzer.frontend.source.scanner import RawStatement
from msgspec import Struct

LONGEST = 4_000
"""Characters of a statement that an expansion makes."""
BLOCK = re.compile(rf"(?is)\s*(?:(?:rept|repeat|while|forc?|irpc?)\b(?!\s*:)|{NAME}\s+macro\b)")
END = re.compile(r"(?is)\s*endm\b")
_LOCAL = re.compile(r"(?is)\s*local\b\s*(.*)")
WORD = re.compile(rf"'[^'\n]*'|\"[^\"\n]*\"|(?<![\w@?$.])(?:{NAME})")


class MasmParameter(Struct, frozen=True):
    name: str
    default: str | None
    is_required: bool
    takes_rest: bool


class MasmMacro(Struct, frozen=True):
    parameters: tuple[MasmParameter, ...]
    body: tuple[RawStatement, ...]


def end_of_block(found: Sequence[RawStatement], at: int) -> int:
    """Index of the ``ENDM`` that closes a block whose body begins at ``at``; the length if there is none."""
    depth = 1
    for number in range(at, len(found)):
        text = found[number].text
        depth += (BLOCK.match(text) is not None) - (END.match(text) is not None)
        if depth == 0:
            return number
    return len(found)


def parameters(text: str) -> tuple[MasmParameter, ...]:
    found = []
    for each in arguments(text):
        name, _, how = (part.strip() for part in each.partition(":"))
        default = literal(how[1:].strip()) if how.startswith("=") else None
        found.append(MasmParameter(name.lower(), default, how.lower() == "req", how.lower() == "vararg"))
    return tuple(found)


def with_values(text: str, values: dict[str, str]) -> str:
    """A statement of a body with its parameters replaced; ``&`` beside a name joins it to the text around."""
    if not values:
        return text

    parts: list[str] = []
    behind = 0
    for match in WORD.finditer(text):
        start, end, word = match.start(), match.end(), match[0]
        found = values.get(word.lower())
        if word[0] in "'\"":
            found = re.sub(rf"&({NAME})&?", lambda inner: values.get(inner[1].lower(), inner[0]), word)
        elif found is not None:
            start -= text[behind:start].endswith("&")
            end += text[end : end + 1] == "&"
        if found is not None:
            parts += (text[behind:start], found)
            behind = end
    return ("".join(parts) + text[behind:])[:LONGEST]


def local_names(text: str) -> list[str]:
    """Names that a macro's ``LOCAL`` makes unique. That of a function has types, and reserves memory."""
    match = _LOCAL.match(text)
    return arguments(match[1]) if match is not None and not re.search(r"[:\[]", match[1]) else []


def closing(text: str, at: int) -> int:
    """Index of the parenthesis that closes the one at ``at``; the end of the text if there is none."""
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if depth == 0:
            return place
    return len(text)
