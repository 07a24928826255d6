"""What every process that predicts many blocks has to do, the first one and those that it starts."""

from __future__ import annotations

import gc
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import ProcessPoolExecutor


def collect_rarely() -> None:
    """Let Python's cyclic garbage collector run a thousand times less often than by default in this process,
    and leave alone what is there already.

    For programs that predict many blocks: what is made for a block holds no cycles, and going over all that
    is cached again and again takes a tenth of the time, and once in 4,000 blocks still a fiftieth.
    """
    gc.freeze()
    gc.set_threshold(700_000)


def pool(
    processes: int, initializer: Callable[..., None], arguments: tuple[object, ...] = ()
) -> ProcessPoolExecutor:
    """Processes for work that is handed out in parts; the first thing that each does is ``initializer``.

    They begin as copies of this process, with all that it has loaded, where that is safe: on Linux, if no
    other thread runs here. Elsewhere each starts Python anew.
    """
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    try:
        alone = len(os.listdir("/proc/self/task")) == 1
    except OSError:
        alone = False
    context = get_context("fork" if alone else "spawn")
    made = ProcessPoolExecutor(processes, mp_context=context, initializer=initializer, initargs=arguments)
    if alone:
        import signal

        # They begin at the first call, before the thread that will end them: no Ctrl-C in between.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            made.submit(int)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return made


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
