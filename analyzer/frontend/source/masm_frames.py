"""Code that MASM makes for ``PROC``: saved registers, and frames, whose statements are refused.

``ml64`` pushes the registers of ``USES`` at the beginning and pops them before each ``RET``. Where it keeps
parameters and ``LOCAL`` variables is not part of its reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cyclelens.analyzer.frontend.source.masm_bodies import WORD
from cyclelens.analyzer.frontend.source.masm_values import NAME, arguments
from cyclelens.analyzer.frontend.source.scanner import RawStatement
from msgspec import Struct

_BEGIN = rf"(?is)\s*{NAME}[ \t]+proc\b(.*)"
_END = rf"(?is)\s*{NAME}[ \t]+endp\b"
_LOCAL = r"(?is)\s*local\b\s*(.*)"
_USES = r"(?is)\buses((?:\s+\w+)+)(.*)"
_PARAMETER = rf"(?i)({NAME})\s*:\s*(?:ptr\b|{NAME})"
_OPTION = r"(?is)\s*option\s+(prologue|epilogue)\s*:\s*(\w+)"
_RETURN = rf"(?is)((?:\s*{NAME}\s*::?)*)\s*ret\b(.*)"
_GENERAL = r"(?i)r(?:[abcd]x|[sd]i|bp|8|9|1[0-5])"
_FRAME = (
    "MASM makes the code of this function's frame, for its parameters or local variables; it is not known."
)
_NAMED = "'{}' is a parameter or a local variable; its place in the frame is not known."
_UNUSUAL = "What MASM makes here for the registers of USES is not known."


class _Procedure(Struct):
    begin: RawStatement
    saved: list[str]
    names: set[str]
    """Parameters and local variables."""
    is_read: bool = False
    """Its first statement was read; ``LOCAL`` may stand before it."""


def with_frames(statements: Iterable[RawStatement]) -> Iterator[RawStatement]:
    """The statements with the pushes and pops of ``USES``. What else depends on a frame is refused."""
    made_by = {"prologue": "prologuedef", "epilogue": "epiloguedef"}
    now: _Procedure | None = None
    for statement in statements:
        text = statement.text
        if match := re.match(_OPTION, text):
            made_by[match[1].lower()] = match[2].lower()
        elif match := re.match(_BEGIN, text):
            now = _procedure(statement, match[1])
        elif re.match(_END, text):
            now = None
        elif now is not None and (match := re.match(_LOCAL, text)):
            now.names |= {re.split(r"[:\[\s]", each)[0].lower() for each in arguments(match[1])}
            continue
        elif now is not None and not statement.refusal and text.strip():
            if made_by["prologue"] != "none" and not now.is_read:
                yield from _beginning(now, is_usual=made_by["prologue"] == "prologuedef")
            now.is_read = True
            if made_by["epilogue"] != "none" and (match := re.fullmatch(_RETURN, text)):
                yield from _ending(now, statement, match, is_usual=made_by["epilogue"] == "epiloguedef")
                continue
            named = [word for word in WORD.findall(text) if word.lower() in now.names]
            if named:
                yield _refused(statement, _NAMED.format(named[0]))
                continue
        yield statement


def _procedure(begin: RawStatement, text: str) -> _Procedure:
    uses = re.search(_USES, text)
    saved, rest = ([], text) if uses is None else (uses[1].split(), uses[2])
    # Words up to the last register belong to USES; a name before a colon is a parameter.
    if saved and rest.lstrip().startswith(":"):
        saved, rest = saved[:-1], saved[-1] + rest
    found = {match[1].lower() for match in re.finditer(_PARAMETER, rest)} - {"frame"}
    return _Procedure(begin, saved, found)


def _beginning(now: _Procedure, *, is_usual: bool) -> Iterator[RawStatement]:
    """``is_usual``: no macro of the text makes it."""
    if now.names or not is_usual:
        yield _refused(now.begin, _FRAME)
    elif not all(re.fullmatch(_GENERAL, each) for each in now.saved):
        yield _refused(now.begin, _UNUSUAL)
    else:
        for each in now.saved:
            yield _at(now.begin, f"push {each}")


def _ending(
    now: _Procedure, statement: RawStatement, match: re.Match[str], *, is_usual: bool
) -> Iterator[RawStatement]:
    if not (now.names or now.saved) and is_usual:
        yield statement
        return
    if match[1].strip():
        yield _at(statement, match[1])
    if now.names or not is_usual:
        yield _refused(statement, _FRAME)
    elif match[2].strip():
        yield _refused(statement, _UNUSUAL)
    else:
        for each in reversed(now.saved):
            yield _at(statement, f"pop {each}")
    yield _at(statement, f"ret{match[2]}")


def _place(statement: RawStatement) -> tuple[int, int]:
    text = statement.text
    start = statement.start + len(text) - len(text.lstrip())
    return statement.place or (start, start + len(text.strip()))


def _at(statement: RawStatement, text: str) -> RawStatement:
    return RawStatement(statement.start, text, _place(statement))


def _refused(statement: RawStatement, message: str) -> RawStatement:
    return RawStatement(statement.start, "", _place(statement), message)
