"""Expands NASM's macros and finds the line that produced each line of the result.

NASM expands all macros in every pass and lists every line of them; for x86inc that takes seconds and a
hundred megabytes. Its preprocessor alone expands them once, and the result assembles quickly. Every line
outside macro definitions is preceded by a mark, which the preprocessor passes on: the lines after a mark were
produced by the line that it names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from cyclelens.analyzer.frontend.files.listings import Listing
from cyclelens.analyzer.frontend.source.lexer import NASM_QUOTED
from msgspec import Struct

INPUT, RESULT = "input.asm", "made.asm"
"""File names of the two texts in NASM's folder."""
MAXIMUM_RESULT = 160 << 20
"""Bytes. A file with x86inc usually expands to less than one megabyte; the largest are near 100."""
NEEDS_ASSEMBLER = "preprocess-only mode"
"""NASM's message for a macro that needs an address, which the preprocessor alone does not know."""

_MARK = "[cyclelens_line {}]"
_MARKED = r"\[cyclelens_line (\d+)\]"
_PLACE = r"%line (\d+)\+(\d+) (.*)"
_OPENING = r"(?i)\s*%\s*i?r?i?macro\b"
_CLOSING = r"(?i)\s*%\s*endm(?:acro)?\b"
_COUNTS_LINES = r"(?i)%\s*line\b|__\??LINE\??__"
_NOTHING = r"\s*(?:;.*)?"
_FIRST_WORD = r"\s*(?:[\w.$?@~#]+:\s*)*(\S+)"
_PREPROCESSOR_MESSAGE = re.compile(rf"^{re.escape(INPUT)}:(\d+):", re.MULTILINE)
_ASSEMBLER_MESSAGE = re.compile(rf"^{re.escape(RESULT)}:(\d+):", re.MULTILINE)
_STRING = re.compile(NASM_QUOTED)
_ORPHAN = re.compile(r"^(?:[\w.]+):(\d+): warning: label\b.* alone on a line", re.MULTILINE)
"""NASM's warning for a word that it takes for a label without a colon."""
_LONE_WORD = r"\s*([A-Za-z_]\w*)\s*(?:;.*)?"
_DIRECTIVE = r"^\s*%|%[A-Za-z{\[!]"
_CONSTANT = r"(?im)^[ \t]*([A-Za-z_]\w*)[ \t:]+equ[ \t]+([^;\n]*)"
_NUMBER = re.compile(r"\d+|0x[\da-f]+", re.IGNORECASE)
_ASKS = r"(?i)\s*%\s*(?:if|elif|i?assign|i?x?define|rep)\b"
_FOLDED = rf"(?i)\s*(?:{_NUMBER.pattern})[\s:]+equ\s"
"""Remainder of a constant whose name was already replaced by its number."""
_LOCAL_TO_MACRO = r"\.\.@(\d)"
"""Labels that NASM numbers; the macros of alignments start again at the first number."""
_SMART = "%use smartalign"
# Alignments are deferred until addresses are known. A package already in use is not loaded again.
_KEEP_ALIGNMENTS = ("%unimacro align 1-2+.nolist", "%unimacro alignmode 1-2.nolist")


class Marked(Struct, frozen=True):
    """A text with marks. ``lines``: zero-based user's line of each line."""

    text: tuple[str, ...]
    lines: tuple[int, ...]

    def messages(self, errors: str) -> str:
        """Messages of the preprocessor, with the user's lines."""
        return _with_lines(_PREPROCESSOR_MESSAGE, errors, self.lines)


class ExpandedText(Struct, frozen=True):
    """A text with expanded macros. ``lines``: the user's line of each line. ``own``: the user's text, where
    it is the same instruction in other words."""

    text: tuple[str, ...]
    lines: tuple[int, ...]
    own: tuple[str | None, ...]

    def messages(self, errors: str) -> str:
        """Messages of the assembler, with the user's lines."""
        return _with_lines(_ASSEMBLER_MESSAGE, errors, self.lines)

    def directives(self) -> str:
        """NASM's error messages for preprocessor directives that macros produced. NASM itself would not
        report them in a preprocessed text, but obey them."""
        found = (
            number
            for number, line in enumerate(self.text)
            if "%" in line and line != _SMART and re.search(_DIRECTIVE, _STRING.sub("", line))
        )
        message = "label or instruction expected at start of line"
        return "\n".join(f"{INPUT}:{self.lines[number] + 1}: error: {message}" for number in found)

    def place(self, listing: Listing) -> None:
        """Convert a listing of this text to the user's lines."""
        for listed in listing.statements:
            own = self.own[listed.line]
            listed.unlike = own is None
            listed.text = own or listed.text
            listed.line = self.lines[listed.line]
        for place, (name, line) in listing.labels.items():
            listing.labels[place] = name, self.lines[line]


def mark(lines: Sequence[str], *, smart_alignment: bool) -> Marked | None:
    """The text with marks for the preprocessor. None if the end of a macro definition is unclear, or if the
    text counts its lines itself. ``smart_alignment``: it uses NASM's package of that name."""
    text: list[str] = [*([_SMART] if smart_alignment else []), *_KEEP_ALIGNMENTS]
    numbers = [0] * len(text)
    depth, continued = 0, False
    for number, line in enumerate(lines):
        if re.search(_COUNTS_LINES, line):
            return None
        if depth == 0 and not continued and not re.fullmatch(_NOTHING, line):
            text.append(_MARK.format(number))
            numbers.append(number)
        text.append(line)
        numbers.append(number)
        depth += bool(re.match(_OPENING, line)) - bool(re.match(_CLOSING, line))
        continued = line.endswith("\\")
    return None if depth else Marked(tuple(text), tuple(numbers))


def constants(texts: Iterable[str]) -> dict[str, str]:
    """Names defined by `equ`, with their number if the preprocessor may replace them by it, otherwise empty.

    The preprocessor does not know these names. Replacing one is safe if it has one value and only conditions
    and similar directives use it, where a name and a number mean the same.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for text in texts:
        for match in re.finditer(_CONSTANT, text):
            found[match[1]].add(match[2].strip() if _NUMBER.fullmatch(match[2].strip()) else "")
    if not found:
        return {}
    values = {name: min(numbers) if len(numbers) == 1 else "" for name, numbers in found.items()}
    names = re.compile(rf"(?<![\w.$%@])(?:{'|'.join(values)})(?![\w.$@])")
    for text in texts:
        for match in names.finditer(text):
            begin = text.rfind("\n", 0, match.start()) + 1
            if ";" not in (before := text[begin : match.start()]) and not re.match(_ASKS, before):
                end = text.find("\n", begin)
                if not re.match(_CONSTANT, text[begin : end if end >= 0 else len(text)]):
                    values[match[0]] = ""
    return values


def follow(result: str, marked: Marked, lines: Sequence[str], *, smart_alignment: bool) -> ExpandedText:
    """The preprocessor's result for a marked text, with the marks removed. ``lines``: the user's lines."""
    text: list[str] = [_SMART] if smart_alignment else []
    numbers = [0] * len(text)
    own: list[str | None] = [None] * len(text)
    user, number, step, within = 0, 1, 1, True
    for line in result.split("\n"):
        if match := re.fullmatch(_PLACE, line):
            number, step, within = int(match[1]), int(match[2]), match[3] == INPUT
            continue
        if match := re.fullmatch(_MARKED, line.strip()):
            user = int(match[1])
        elif line and not line.isspace() and not re.match(_FOLDED, line):
            place = number - 1
            written = within and place < len(marked.lines) and marked.lines[place] == user
            text.append(re.sub(_LOCAL_TO_MACRO, r"..@made\1", line))
            numbers.append(user)
            own.append(_own(lines[user], line) if written else None)
        number += step
    return ExpandedText(tuple(text), tuple(numbers), tuple(own))


def half_typed(errors: str, made: Sequence[str], places: Sequence[int], lines: Sequence[str]) -> str:
    """NASM's warnings about labels alone on a line, as error messages, for words that the user's text
    (``lines``) has nowhere else: these are beginnings of mnemonics.

    ``made``: the text that NASM read; ``places``: the user's line of each of its lines.
    """
    found: list[str] = []
    for warned in _ORPHAN.finditer(errors):
        number = min(int(warned[1]), len(made)) - 1
        if word := re.fullmatch(_LONE_WORD, made[number]):
            alone = re.compile(rf"(?<![\w.$@]){word[1]}(?![\w.$@])")
            if sum(len(alone.findall(line.partition(";")[0])) for line in lines if word[1] in line) == 1:
                message = f"'{word[1]}' is no instruction, and no colon makes it a label"
                found.append(f"{INPUT}:{places[number] + 1}: error: {message}")
    return "\n".join(found)


def last_line(result: bytes) -> int:
    """The user's zero-based line that the preprocessor had reached when it was stopped."""
    begun = re.findall(_MARKED, result.decode("utf-8", "replace"))
    return int(begun[-1]) if begun else 0


def _own(written: str, made: str) -> str | None:
    words = [re.match(_FIRST_WORD, text) for text in (written, made)]
    same = words[0] and words[1] and words[0][1].lower() == words[1][1].lower()
    return written.strip() if same and not written.endswith("\\") else None


def _with_lines(pattern: re.Pattern[str], errors: str, lines: Sequence[int]) -> str:
    """Messages with the user's lines; errors beyond the end move to the last line."""

    def place(match: re.Match[str]) -> str:
        at = int(match[1]) - 1
        return f"{INPUT}:{(lines[at] if at < len(lines) else lines[-1]) + 1}:"

    return pattern.sub(place, errors)
