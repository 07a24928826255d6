"""Programs that Ctrl-C ends, also where the tests run in the background: shells let those ignore it."""

from __future__ import annotations

import signal


def obey_interrupts() -> None:
    """For ``preexec_fn``."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
