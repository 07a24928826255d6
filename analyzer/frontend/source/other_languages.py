"""Recognises texts in languages or for processors that are not supported, and says what to do instead.

A statement counts for another instruction set if neither its name nor its operands are x86's. A text is
attributed to another instruction set only if hardly any line names an x86 register, because files may contain
code for several processors, and register names may be macros.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cyclelens.analyzer.frontend.source.chunks import Chunk, SourceText
from cyclelens.analyzer.frontend.source.language_signs import (
    LANGUAGES,
    SAYS_64_BITS,
    WITHOUT_REGIONS,
    Language,
)
from msgspec import Struct


class UnsupportedText(Struct, frozen=True):
    """An unsupported text: range of the first telling line, and a message."""

    start: int
    end: int
    message: str


_SURE = tuple(each for each in LANGUAGES if each.is_sure)
_OF_X86 = re.compile(
    r"%(?:[re]?(?:[abcd]x|[sd]i|[bs]p)|[abcd][lh]|[xyz]mm\d)|\b(?:[re](?:[abcd]x|[sd]i|[bs]p|ip)|[xyz]mm\d+|"
    r"(?:byte|d?word|qword|[xy]mmword)[ \t]+ptr)\b",
    re.IGNORECASE,
)
"""Registers, and sizes of memory operands as MASM and GNU as write them; macros may stand for registers."""
_SHARE = 10
"""Lines of another instruction set per line with an x86 register or size, above which the text counts as that
set's."""
_FEWEST = 2
"""Minimum lines of another instruction set (fewer if the text has fewer). More lines with x86 registers than
this in one chunk make the text x86's."""
_HEAD = 40_000
"""Characters that are examined."""


def find(source: SourceText) -> UnsupportedText | None:
    """The unsupported language of a text, as far as its beginning tells; None if it is supported."""
    head = _head(source)
    if not head:
        return None
    is_x86 = any(chunk.ask(_lines_of_x86)[0] > _FEWEST for chunk in head)
    languages = _SURE if is_x86 else LANGUAGES
    signs = {sign for chunk in head for sign in chunk.ask(_sure_signs if is_x86 else _signs)}
    text = "".join(chunk.text for chunk in head) if signs else ""
    for language in languages:
        if language.telling not in signs:
            continue
        telling = re.compile(language.telling)
        if language.unless and re.search(language.unless, text):
            continue
        if not language.is_sure and not _is_in(telling, text):
            continue
        match = telling.search(text)
        assert match is not None
        return _unsupported(language, text, match)
    return None


def in_dump(instructions: Sequence[str]) -> tuple[int, str] | None:
    """Index of the first instruction of a dump that tells another instruction set, and a message; None if
    they are x86-64's."""
    source = SourceText("\n".join(instructions))
    other = find(source)
    if other is None:
        return None
    return source.text.count("\n", 0, other.start), other.message


def says_64_bits(text: str) -> bool:
    """Whether a text says that it is 64-bit code, whatever its addresses look like."""
    return re.search(rf"(?mi)^[ \t]*(?:{SAYS_64_BITS})", text) is not None


def without_regions(source: SourceText) -> UnsupportedText | None:
    """What a text is in which no region was found, as far as its beginning tells."""
    text = "".join(chunk.text for chunk in _head(source))
    for language in WITHOUT_REGIONS:
        if match := re.search(language.telling, text):
            return _unsupported(language, text, match)
    return None


def _unsupported(language: Language, text: str, match: re.Match[str]) -> UnsupportedText:
    found = text[match.start() :].partition("\n")[0]
    start = match.start() + len(found) - len(found.lstrip())
    message = f"This is {language.what}, which Cyclelens does not read. {language.way_out}"
    return UnsupportedText(start, max(match.start() + len(found.rstrip()), start), message)


def _head(source: SourceText) -> list[Chunk]:
    head, length = [], 0
    for chunk in source.chunks:
        if length > _HEAD:
            break
        head.append(chunk)
        length += len(chunk.text)
    return head


def _signs(text: str, languages: Sequence[Language] = LANGUAGES) -> frozenset[str]:
    """The patterns of languages that match somewhere in a text."""
    return frozenset(each.telling for each in languages if re.compile(each.telling).search(text))


def _sure_signs(text: str) -> frozenset[str]:
    """The patterns that are enough in a text that names x86's registers."""
    return _signs(text, _SURE)


def _lines_of_x86(text: str) -> tuple[int]:
    """Number of lines with an x86 register, up to the relevant maximum."""
    count = 0
    for line in text.split("\n"):
        count += _OF_X86.search(line) is not None
        if count > _FEWEST:
            break
    return (count,)


def _is_in(telling: re.Pattern[str], text: str) -> bool:
    count = statements = of_x86 = 0
    for line in text.split("\n"):
        code = line.partition("//")[0].partition(";")[0].strip()
        tells = telling.match(line) is not None
        if not code or code[0] in "#@/*." or code.endswith(":"):
            count += tells and code[:1] == "."
            continue
        statements += 1
        count += tells
        of_x86 += _OF_X86.search(code) is not None
    return count >= min(_FEWEST, statements or 1) and count > _SHARE * of_x86
