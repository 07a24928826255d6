"""What NASM's macros make of a text, and which line made it.

NASM goes through all macros in each of its passes, and lists every line of them: x86inc takes it seconds,
and a hundred megabytes. Its preprocessor alone goes through them once; what is left is assembled
at once. Every line that is no part of a macro's definition gets a mark in front, which the preprocessor
passes on: what follows a mark was made by that line.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from cyclelens.analyzer.common.data_classes import dataclass
from cyclelens.analyzer.common.patterns import pattern
from cyclelens.analyzer.frontend.files.listings import Listing
from cyclelens.analyzer.frontend.source.lexer import NASM_QUOTED

INPUT, RESULT = "input.asm", "made.asm"
"""What the two texts are called where NASM runs."""
MAXIMUM_RESULT = 160 << 20
"""Bytes; a file with x86inc becomes less than one megabyte, as a rule; the largest are near 100."""
NEEDS_ASSEMBLER = "preprocess-only mode"
"""What NASM says of a macro that asks for an address: the preprocessor alone knows none."""

_MARK = "[cyclelens_line {}]"
_MARKED = pattern(r"\[cyclelens_line (\d+)\]")
_PLACE = pattern(r"%line (\d+)\+(\d+) (.*)")
_OPENING = pattern(r"\s*%\s*i?r?i?macro\b", re.IGNORECASE)
_CLOSING = pattern(r"\s*%\s*endm(?:acro)?\b", re.IGNORECASE)
_COUNTS_LINES = pattern(r"%\s*line\b|__\??LINE\??__", re.IGNORECASE)
_NOTHING = pattern(r"\s*(?:;.*)?")
_FIRST_WORD = pattern(r"\s*(?:[\w.$?@~#]+:\s*)*(\S+)")
_PREPROCESSOR_MESSAGE = pattern(rf"^{re.escape(INPUT)}:(\d+):", re.MULTILINE)
_ASSEMBLER_MESSAGE = pattern(rf"^{re.escape(RESULT)}:(\d+):", re.MULTILINE)
_STRING = pattern(NASM_QUOTED)
_DIRECTIVE = pattern(r"^\s*%|%[A-Za-z{\[!]")
_CONSTANT = pattern(r"^[ \t]*([A-Za-z_]\w*)[ \t:]+equ[ \t]+([^;\n]*)", re.IGNORECASE | re.MULTILINE)
_NUMBER = pattern(r"\d+|0x[\da-f]+", re.IGNORECASE)
_ASKS = pattern(r"\s*%\s*(?:if|elif|i?assign|i?x?define|rep)\b", re.IGNORECASE)
_FOLDED = pattern(rf"\s*(?:{_NUMBER.pattern})[\s:]+equ\s", re.IGNORECASE)
"""What is left of a constant whose name stands for its number already."""
_LOCAL_TO_MACRO = pattern(r"\.\.@(\d)")
"""Labels that NASM numbers: it starts anew for the macros of alignments."""
_SMART = "%use smartalign"
# Alignments wait until there are addresses. A package that is in use already is not taken again.
_KEEP_ALIGNMENTS = ("%unimacro align 1-2+.nolist", "%unimacro alignmode 1-2.nolist")


@dataclass(frozen=True, slots=True)
class Marked:
    """A text with marks. ``lines``: the user's line, zero-based, of each."""

    text: tuple[str, ...]
    lines: tuple[int, ...]

    def messages(self, errors: str) -> str:
        """What the preprocessor says, with the user's lines."""
        return _with_lines(_PREPROCESSOR_MESSAGE, errors, self.lines)


@dataclass(frozen=True, slots=True)
class ExpandedText:
    """What became of a text. ``lines``: the user's line of each; ``own``: the user's text, where it is
    the same instruction in other words."""

    text: tuple[str, ...]
    lines: tuple[int, ...]
    own: tuple[str | None, ...]

    def messages(self, errors: str) -> str:
        """What the assembler says, with the user's lines."""
        return _with_lines(_ASSEMBLER_MESSAGE, errors, self.lines)

    def directives(self) -> str:
        """What NASM says of words that look like its preprocessor's when macros have made them: they would be
        obeyed in a text that has gone through it before."""
        found = (
            number
            for number, line in enumerate(self.text)
            if "%" in line and line != _SMART and _DIRECTIVE.search(_STRING.sub("", line))
        )
        message = "label or instruction expected at start of line"
        return "\n".join(f"{INPUT}:{self.lines[number] + 1}: error: {message}" for number in found)

    def place(self, listing: Listing) -> None:
        """Turn the listing of this text into one of the user's."""
        for listed in listing.statements:
            own = self.own[listed.line]
            listed.unlike = own is None
            listed.text = own or listed.text
            listed.line = self.lines[listed.line]
        for place, (name, line) in listing.labels.items():
            listing.labels[place] = name, self.lines[line]


def mark(lines: Sequence[str], *, smart_alignment: bool) -> Marked | None:
    """The text with marks for the preprocessor; None if it does not tell where a macro's definition ends, or
    counts its lines itself.
    ``smart_alignment``: it uses NASM's package of that name."""
    text: list[str] = [*([_SMART] if smart_alignment else []), *_KEEP_ALIGNMENTS]
    numbers = [0] * len(text)
    depth, continued = 0, False
    for number, line in enumerate(lines):
        if _COUNTS_LINES.search(line):
            return None
        if depth == 0 and not continued and not _NOTHING.fullmatch(line):
            text.append(_MARK.format(number))
            numbers.append(number)
        text.append(line)
        numbers.append(number)
        depth += bool(_OPENING.match(line)) - bool(_CLOSING.match(line))
        continued = line.endswith("\\")
    return None if depth else Marked(tuple(text), tuple(numbers))


def constants(texts: Iterable[str]) -> dict[str, str]:
    """The names that `equ` gives a value, and the number if the preprocessor may put it in their place, as it
    does not know them by itself: where the name has one value, and only conditions and the like ask for it.
    There a name and a number are the same.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for text in texts:
        for match in _CONSTANT.finditer(text):
            found[match[1]].add(match[2].strip() if _NUMBER.fullmatch(match[2].strip()) else "")
    if not found:
        return {}
    values = {name: min(numbers) if len(numbers) == 1 else "" for name, numbers in found.items()}
    names = re.compile(rf"(?<![\w.$%@])(?:{'|'.join(values)})(?![\w.$@])")
    for text in texts:
        for match in names.finditer(text):
            begin = text.rfind("\n", 0, match.start()) + 1
            if ";" not in (before := text[begin : match.start()]) and not _ASKS.match(before):
                end = text.find("\n", begin)
                if not _CONSTANT.match(text[begin : end if end >= 0 else len(text)]):
                    values[match[0]] = ""
    return values


def follow(result: str, marked: Marked, lines: Sequence[str], *, smart_alignment: bool) -> ExpandedText:
    """What the preprocessor made of a marked text, without marks. ``lines``: the user's."""
    text: list[str] = [_SMART] if smart_alignment else []
    numbers = [0] * len(text)
    own: list[str | None] = [None] * len(text)
    user, number, step, within = 0, 1, 1, True
    for line in result.split("\n"):
        if match := _PLACE.fullmatch(line):
            number, step, within = int(match[1]), int(match[2]), match[3] == INPUT
            continue
        if match := _MARKED.fullmatch(line.strip()):
            user = int(match[1])
        elif line and not line.isspace() and not _FOLDED.match(line):
            place = number - 1
            written = within and place < len(marked.lines) and marked.lines[place] == user
            text.append(_LOCAL_TO_MACRO.sub(r"..@made\1", line))
            numbers.append(user)
            own.append(_own(lines[user], line) if written else None)
        number += step
    return ExpandedText(tuple(text), tuple(numbers), tuple(own))


def last_line(result: bytes) -> int:
    """The user's line, zero-based, that the preprocessor had come to when it was stopped."""
    begun = _MARKED.findall(result.decode("utf-8", "replace"))
    return int(begun[-1]) if begun else 0


def _own(written: str, made: str) -> str | None:
    words = [_FIRST_WORD.match(text) for text in (written, made)]
    same = words[0] and words[1] and words[0][1].lower() == words[1][1].lower()
    return written.strip() if same and not written.endswith("\\") else None


def _with_lines(pattern: re.Pattern[str], errors: str, lines: Sequence[int]) -> str:
    """Messages with the user's lines; what is wrong behind the end is put there."""

    def place(match: re.Match[str]) -> str:
        at = int(match[1]) - 1
        return f"{INPUT}:{(lines[at] if at < len(lines) else lines[-1]) + 1}:"

    return pattern.sub(place, errors)
