"""Finds the function around some lines of a text, as far as directives show its boundaries."""

from __future__ import annotations

import re

from cyclelens.analyzer.frontend.source.lexer import without_comments

_BOUNDARY = re.compile(r"\s*\.(?:globl|global|type|size|cfi_startproc|cfi_endproc|section|text)\b")


def words_around(lines: tuple[str, ...], first: int, last: int) -> frozenset[str]:
    """Lower-case words of the function around some lines, without these lines and without comments.
    Directives separate functions; without any, the whole text counts."""
    start = next((number for number in range(first - 1, -1, -1) if _BOUNDARY.match(lines[number])), 0)
    end = next((number for number in range(last + 1, len(lines)) if _BOUNDARY.match(lines[number])), None)
    code = (without_comments(line) for line in (*lines[start:first], *lines[last + 1 : end]))
    return frozenset(re.findall(r"[a-z]\w*", " ".join(code).lower()))
