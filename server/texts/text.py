"""Lines of text as LSP counts them."""

from __future__ import annotations

import re

_LINE_END = re.compile(r"(\r\n|\r|\n)")
_ODD = {
    **dict.fromkeys("\x0b\x0c\x1c\x1d\x1e", " "),
    "\x85": "\xa0",
    **dict.fromkeys("\u2028\u2029", "\u2003"),
}
"""Characters that end a line for Python but not for LSP, each with a white space of the same size in UTF-8,
UTF-16 and UTF-32, so that columns are preserved."""
_ODD_BREAKS = re.compile(f"[{''.join(_ODD)}]")
_SURROGATES = re.compile("[\ud800-\udfff]")


def split(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines without their ends (at least one), and the ends (one fewer). Other line breaks and
    unencodable characters are replaced; columns are preserved."""
    parts = _LINE_END.split(plain(text))
    return tuple(parts[::2]), tuple(parts[1::2])


def plain(text: str) -> str:
    """The text with other line breaks and unencodable characters replaced; columns are preserved."""
    text = _ODD_BREAKS.sub(lambda match: _ODD[match[0]], text)
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)
