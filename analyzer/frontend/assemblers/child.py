"""What the children that hold an assembler library have in common.

Such a library can hang, crash or call exit, whatever it is fed; here it takes only this process with it. A
child reads ``NUMBER <tab> DIALECT <tab> STATEMENT`` a line and answers ``NUMBER <tab> HEX`` or
``NUMBER <tab> !REASON``, in order. Its first line is ``ready`` or ``failed <tab> REASON``.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO, Protocol
else:
    Protocol = object

TIME_LIMIT = 0.25
"""Seconds of processor time one statement may take before the child is killed."""
MEMORY_LIMIT = 1 << 30
"""Bytes of address space."""

Example = tuple[str, str, str]
"""Dialect, statement, and its bytes in hexadecimal."""


class Engine(Protocol):
    """An assembler library."""

    def encode(self, dialect: str, statement: str) -> str:
        """The bytes in hexadecimal, or ``!`` and a reason. No bytes at all are a failure."""


def self_test(engine: Engine, examples: Iterable[Example]) -> str:
    """What is wrong with the engine; empty if nothing."""
    for dialect, statement, expected in examples:
        found = engine.encode(dialect, statement)
        if found != expected:
            return f"the self-test failed: '{statement}' gave {found}, not {expected}"
    return ""


def serve(
    make: Callable[[], Engine], examples: Iterable[Example], requests: BinaryIO, replies: BinaryIO
) -> None:
    """Answer requests until the other side closes the pipe."""
    try:
        engine = make()
        failure = self_test(engine, examples)
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"
    if failure:
        replies.write(f"failed\t{failure}\n".encode(errors="replace"))
        replies.flush()
        return
    replies.write(b"ready\n")
    replies.flush()
    has_timer = hasattr(signal, "setitimer")
    for line in requests:
        number, dialect, statement = line.decode("ascii").rstrip("\n").split("\t", 2)
        if has_timer:
            # The signal's default action ends the process even inside of native code.
            signal.setitimer(signal.ITIMER_PROF, TIME_LIMIT)
        result = engine.encode(dialect, statement)
        if has_timer:
            signal.setitimer(signal.ITIMER_PROF, 0)
        result = result.replace("\n", " ")
        replies.write(f"{number}\t{result}\n".encode("ascii", errors="replace"))
        replies.flush()


def _limit_resources() -> None:
    """As far as the system has such limits."""
    try:
        import resource
    except ImportError:
        return
    for limit, value in (
        (resource.RLIMIT_AS, MEMORY_LIMIT),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (value, value))


def run(make: Callable[[], Engine], examples: Iterable[Example]) -> None:
    """Move the pipes away from descriptors 0 and 1, so that no print can get between the replies; serve."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    _limit_resources()
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        serve(make, examples, requests, replies)
