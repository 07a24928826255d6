"""One workspace per thread, for callers anywhere in this process, safe across threads and forks.

One caller uses it at a time: a workspace's caches have no locks of their own, and the interpreter would not
run two simulations at once anyway.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from cyclelens.analyzer.engine.workspace import Workspace

_lock = threading.RLock()
_mine = threading.local()
"""Per thread: the tables' connection belongs to the thread that opened it."""


def _begin() -> None:
    """A forked process shares neither with its parent."""
    global _lock, _mine
    _lock, _mine = threading.RLock(), threading.local()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin)


@contextmanager
def shared_workspace() -> Iterator[Workspace]:
    """This thread's workspace, exclusively among all threads. Raises ``TablesUnavailable``."""
    with _lock:
        if not hasattr(_mine, "workspace"):
            _mine.workspace = Workspace()
        yield _mine.workspace
