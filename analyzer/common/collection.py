"""Garbage collection in programs that predict many blocks."""

from __future__ import annotations

import gc


def collect_rarely() -> None:
    """Make the cyclic garbage collector run a thousand times less often than by default in this process, and
    exempt existing objects.

    For programs that predict many blocks: objects made for a block contain no cycles. Scanning the caches
    again and again takes a tenth of the time, and once in 4,000 blocks still a fiftieth.
    """
    gc.freeze()
    gc.set_threshold(700_000)
