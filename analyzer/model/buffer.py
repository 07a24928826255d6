"""Queues and buffers that uops pass through."""

from __future__ import annotations

from msgspec import Struct


class Buffer(Struct, frozen=True):
    """A queue or buffer of the core, as the previous stage sees it."""

    name: str
    """``IQ``, ``IDQ``, ``RS`` (if there are several schedulers, one of them, such as
    ``RS integer``), ``ROB``."""
    size: int
    stalls_above: int
    """The previous stage stalls while it holds more than this."""
