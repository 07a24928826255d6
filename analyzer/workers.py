"""What every process that predicts many blocks has to do, the first one and those that it starts."""

from __future__ import annotations

import gc
import os


def collect_rarely() -> None:
    """Let Python's cyclic garbage collector run a thousand times less often than by default in this process,
    and leave alone what is there already.

    For programs that predict many blocks: what is made for a block holds no cycles, and going over all that
    is cached again and again takes a tenth of the time, and once in 4,000 blocks still a fiftieth.
    """
    gc.freeze()
    gc.set_threshold(700_000)


def start_worker() -> None:
    """The first thing that a process of a pool does. Ctrl-C is for the parent to act on."""
    # Here, because a program without other processes starts faster without these.
    import signal
    import threading

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    collect_rarely()


def _end_with_parent() -> None:
    """A worker that waits for work does not notice that nobody is there any more to send some."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)
