"""Shows on a terminal that a long analysis goes on."""

from __future__ import annotations

import sys
from time import monotonic

_SILENT = 2.0
"""Seconds before anything is shown: most analyses take less."""
_STEP = 0.5
"""Seconds between two changes of the line."""


class Waiting:
    """Called all the time by an analysis, as ``Cancel``; never cancels it. A context manager, which removes
    the line in the end."""

    def __init__(self) -> None:
        self._start = self._shown = monotonic()
        self._is_shown = False

    def __call__(self) -> bool:
        now = monotonic()
        if now - self._start >= _SILENT and now - self._shown >= _STEP:
            self._shown, self._is_shown = now, True
            print(f"\ranalysing for {now - self._start:.0f} s", end="", file=sys.stderr, flush=True)
        return False

    def __enter__(self) -> Waiting:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
