"""Words of a text that nobody has looked at, within ours: terminals, browsers and readers of Markdown must
take them for words, whatever they are.

Every text that leaves the command line goes through `printable`; every name, statement or message in Markdown
through `prose` or `code`.
"""

from __future__ import annotations

import re

_KEPT = "\n\t"
_SPECIAL = r"[\\`*_\[\]|~@]|:(?=//)|(?<=www)\."
"""Opens a link, an image, code or emphasis, or ends the cell of a table; `@`, `:` and `.`: of links without
brackets."""
_LEADING = r"^(\d*)([-+#=.)])"
"""Makes a heading, a list or a rule of a line."""


class _Shown(dict[int, str]):
    """What is shown of each character: itself, or its number where it is none that can be seen."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if not character.isprintable() and character not in _KEPT:
            # In the form that JSON and most languages read.
            units = character.encode("utf-16-be", "surrogatepass").hex()
            character = "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
        self[code] = character
        return character


_SHOWN = _Shown()


def printable(text: str) -> str:
    """A text without control characters, which terminals obey, and without such as only change the direction
    or the place of others; line ends and tabs stay."""
    if text.isprintable():  # as nearly always
        return text
    plain = text.replace("\n", "").replace("\t", "")
    return text if plain.isprintable() else text.translate(_SHOWN)


class Painted(str):
    """A printable text with colours of ours around it: the only thing that a terminal may obey."""


def painted(text: str, colour: str) -> Painted:
    """A text in a colour, given as the numbers of a terminal's control sequence (``1;31``)."""
    shown = printable(text)
    return Painted(f"\x1b[{colour}m{shown}\x1b[0m" if colour and shown else shown)


def prose(text: str) -> str:
    """Markdown for a text as it is, in one line: no link, no image, no HTML, no end of a table's cell."""
    line = " ".join(printable(text).split())
    escaped = (
        re.sub(_SPECIAL, r"\\\g<0>", line.replace("&", "&amp;")).replace("<", "&lt;").replace(">", "&gt;")
    )
    return re.sub(_LEADING, r"\1\\\2", escaped)


def code(text: str) -> str:
    """Markdown for code within a line or the cell of a table."""
    line = " ".join(printable(text).split()).replace("|", "\\|")
    if "`" not in line:
        return f"`{line}`" if line else ""
    fence = "`" * (max(map(len, re.findall("`+", line))) + 1)
    return f"{fence} {line} {fence}"


def without_markdown(text: str) -> str:
    """Our Markdown for clients that show it as it is: without fences, emphasis and escapes."""
    lines = (line for line in text.split("\n") if not line.startswith("```"))
    plain = re.sub(r"\\([\\`*_\[\]|~@:.#=+)-])|\*\*|`", r"\1", "\n".join(lines))
    return plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
