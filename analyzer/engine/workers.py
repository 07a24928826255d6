"""Process pools for work in parts."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process

from cyclelens.analyzer.common.collection import collect_rarely


def pool(
    processes: int, initializer: Callable[..., None], arguments: tuple[object, ...] = ()
) -> ProcessPoolExecutor:
    """A process pool for work in parts; each process first calls ``initializer``.

    The processes are forks of this one, with all its loaded modules, where that is safe: on Linux, if no
    other thread runs. Elsewhere each starts Python anew.
    """
    try:
        alone = len(os.listdir("/proc/self/task")) == 1
    except OSError:
        alone = False
    context = get_context("fork" if alone else "spawn")
    made = ProcessPoolExecutor(processes, mp_context=context, initializer=initializer, initargs=arguments)
    if alone:
        # Fork at the first call, before the thread that ends the processes exists. Signals wait meanwhile:
        # Python drops an exception that a signal raises while functions registered for a fork run.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            made.submit(int)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return made


def start_worker() -> None:
    """Initializer of a worker process. Ctrl-C is left to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_SETMASK, ())  # after a fork, ``pool`` has left all blocked
    threading.Thread(target=_end_with_parent, daemon=True).start()
    collect_rarely()


def _end_with_parent() -> None:
    """End with the parent: an idle worker would not notice that the parent is gone."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        # sys.exit would end only this thread; child processes are the documented use of os._exit.
        os._exit(0)
