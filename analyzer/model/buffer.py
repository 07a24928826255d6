"""What uops pass through."""

from __future__ import annotations

from cyclelens.analyzer.common.named_tuple import NamedTuple


class Buffer(NamedTuple):
    """A queue or buffer of the core, as the stage in front of it sees it."""

    name: str
    """``IQ``, ``IDQ``, ``RS`` (of several schedulers each, as ``RS integer``), ``ROB``."""
    size: int
    stalls_above: int
    """With more in it, that stage takes nothing more in."""
