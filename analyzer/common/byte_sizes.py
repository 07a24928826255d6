"""Sizes in bytes as users write them: ``32KiB``, ``8MiB``, ``4096``."""

from __future__ import annotations

import re

_FACTORS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def parse_size(text: str) -> int | None:
    """Bytes of ``32KiB``, ``32K`` or ``32768``; None if the text is no size."""
    match = re.fullmatch(r"([1-9]\d{0,11})(?:([KMG])(?:IB)?|B)?", text.strip().upper())
    return None if match is None else int(match[1]) * _FACTORS.get(match[2] or "", 1)


def written_size(size: int) -> str:
    """``32 KiB``; the largest unit of which the size is a whole number."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} bytes"
