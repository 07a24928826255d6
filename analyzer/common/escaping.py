"""Escapes untrusted text for terminals, HTML and Markdown.

All text that leaves the command line goes through `printable`; every name, statement or message in Markdown
goes through `prose` or `code`.
"""

from __future__ import annotations

import re

_KEPT = "\n\t"
_SPECIAL = r"[\\`*_\[\]|~@]|:(?=//)|(?<=www)\."
"""Characters that open a link, an image, code or emphasis, or end a table cell; `@`, `:` and `.`
for links without brackets."""
_LEADING = r"^(\d*)(?=[-+.)](?:\s|-|$)|[#=])"
"""What stands before a character that turns a line into a heading, a list or a rule."""


class _Shown(dict[int, str]):
    """Code point -> what is shown: the character itself, or its escape if it is not printable."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if not character.isprintable() and character not in _KEPT:
            # The notation of JSON and most programming languages.
            units = character.encode("utf-16-be", "surrogatepass").hex()
            character = "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
        self[code] = character
        return character


_SHOWN = _Shown()


def printable(text: str) -> str:
    """The text without control characters, which terminals obey, or characters that change the direction or
    position of others; line ends and tabs stay."""
    if text.isprintable():  # the usual case
        return text
    plain = text.replace("\n", "").replace("\t", "")
    return text if plain.isprintable() else text.translate(_SHOWN)


class Painted(str):
    """A printable text within our own colour codes, the only control sequences that reach a terminal."""


def painted(text: str, colour: str) -> Painted:
    """A text in a colour, given as the numbers of a terminal's control sequence (``1;31``)."""
    shown = printable(text)
    return Painted(f"\x1b[{colour}m{shown}\x1b[0m" if colour and shown else shown)


def prose(text: str) -> str:
    """Markdown that shows a text literally, on one line: no link, image or HTML,
    and no end of a table cell."""
    line = " ".join(printable(text).split())
    escaped = (
        re.sub(_SPECIAL, r"\\\g<0>", line.replace("&", "&amp;")).replace("<", "&lt;").replace(">", "&gt;")
    )
    return re.sub(_LEADING, r"\1\\", escaped)


def code(text: str) -> str:
    """Markdown for code within a line or a table cell."""
    line = " ".join(printable(text).split()).replace("|", "\\|")
    if "`" not in line:
        return f"`{line}`" if line else ""
    fence = "`" * (max(map(len, re.findall("`+", line))) + 1)
    return f"{fence} {line} {fence}"


def without_markdown(text: str) -> str:
    """Our Markdown without fences, emphasis and escapes, for clients that show it unrendered."""
    lines = (line for line in text.split("\n") if not line.startswith("```"))
    plain = re.sub(r"\\([\\`*_\[\]|~@:.#=+)-])|\*\*|`", r"\1", "\n".join(lines))
    return plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
