"""Lines of text as LSP counts them."""

from __future__ import annotations

import re

_LINE_END = re.compile(r"\r\n|\r|\n")
# Python takes these for line ends and LSP does not; a lone surrogate cannot be encoded. Each is replaced by
# one character, of the same size in UTF-16, so that columns stay where they are.
_ODD_BREAKS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SURROGATES = re.compile("[\ud800-\udfff]")


def split_lines(text: str) -> tuple[str, ...]:
    """The lines without their ends; at least one. What would break lines elsewhere or cannot be encoded is
    replaced; columns stay."""
    text = _ODD_BREAKS.sub(" ", text)
    return tuple(_LINE_END.split(text if text.isascii() else _SURROGATES.sub("\ufffd", text)))
