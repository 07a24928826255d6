"""Words for measured amounts."""

from __future__ import annotations


def cycles(amount: float) -> str:
    """Three digits at most: ``1 cycle``, ``1.5 cycles``, ``0.125 cycles``."""
    number = f"{amount:.3g}"
    return f"{number} cycle{'' if number == '1' else 's'}"
