"""Common part of the child processes that load an assembler library.

Such a library can hang, crash or exit on any input; here it takes down only its own process. A child reads
one ``NUMBER <tab> DIALECT <tab> STATEMENT`` per line and answers in order with ``NUMBER <tab> HEX`` or
``NUMBER <tab> !REASON``. Its first line is ``ready`` or ``failed <tab> REASON``.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterable
from typing import BinaryIO, Protocol

TIME_LIMIT = 0.25
"""Seconds of processor time per statement before the child is killed."""
MEMORY_LIMIT = 1 << 30
"""Bytes of address space."""

Example = tuple[str, str, str]
"""Dialect, statement and expected bytes in hexadecimal."""


class AssemblerEngine(Protocol):
    """Interface to an assembler library."""

    def encode(self, dialect: str, statement: str) -> str:
        """The statement's bytes in hexadecimal, or ``!`` and a reason. An empty encoding is a failure."""


def self_test(engine: AssemblerEngine, examples: Iterable[Example]) -> str:
    """What is wrong with the engine; empty if it works."""
    for dialect, statement, expected in examples:
        found = engine.encode(dialect, statement)
        if found != expected:
            return f"the self-test failed: '{statement}' gave {found}, not {expected}"
    return ""


def serve(
    make: Callable[[], AssemblerEngine], examples: Iterable[Example], requests: BinaryIO, replies: BinaryIO
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
            # The signal's default action ends the process even within native code.
            signal.setitimer(signal.ITIMER_PROF, TIME_LIMIT)
        result = engine.encode(dialect, statement)
        if has_timer:
            signal.setitimer(signal.ITIMER_PROF, 0)
        result = result.replace("\n", " ")
        replies.write(f"{number}\t{result}\n".encode("ascii", errors="replace"))
        replies.flush()


def _limit_resources() -> None:
    """Set the limits that the system supports."""
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


def run(make: Callable[[], AssemblerEngine], examples: Iterable[Example]) -> None:
    """Serve requests on the process's pipes, moved away from descriptors 0 and 1 so that nothing printed can
    get between the replies."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    _limit_resources()
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        serve(make, examples, requests, replies)
