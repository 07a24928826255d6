"""Starts programs that Ctrl-C can end, even where the tests run in the background, since shells make
background jobs ignore it."""

from __future__ import annotations

import signal


def obey_interrupts() -> None:
    """Restore the default action of SIGINT; for ``preexec_fn``."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
