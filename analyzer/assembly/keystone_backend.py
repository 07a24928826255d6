"""The assembler child: the only importer of keystone, run as a process of its own.

Keystone can hang, crash or call exit, whatever it is fed; here it takes only this process with it. The child
reads ``NUMBER <tab> DIALECT <tab> STATEMENT`` a line and answers ``NUMBER <tab> HEX`` or
``NUMBER <tab> !REASON``, in order. Its first line is ``ready`` or ``failed <tab> REASON``.
"""

from __future__ import annotations

import contextlib
import os
import signal
from typing import BinaryIO

TIME_LIMIT = 0.25
"""Seconds of processor time one statement may take before the child is killed."""
MEMORY_LIMIT = 1 << 30
"""Bytes of address space."""

SELF_TEST = (
    ("att", "addq $0x100,%rsi", "4881c600010000"),
    ("att", "movl 0x10(%rsi),%eax", "8b4610"),
    ("att", "vfmadd231ps 0x20(%rdi),%ymm1,%ymm0", "c4e275b84720"),
    ("intel", "add rsi,0x100", "4881c600010000"),
    ("intel", "mov eax,dword ptr [rsi+0x10]", "8b4610"),
    ("intel", "vfmadd231ps ymm0,ymm1,ymmword ptr [rdi+0x20]", "c4e275b84720"),
)
"""Statements whose bytes are known; a wrong one means that this build of Keystone cannot be used."""


class Engine:
    """One Keystone engine a dialect."""

    def __init__(self) -> None:
        import keystone

        self._error = keystone.KsError
        self._engines = {}
        for dialect, syntax in (("att", keystone.KS_OPT_SYNTAX_ATT), ("intel", keystone.KS_OPT_SYNTAX_INTEL)):
            engine = keystone.Ks(keystone.KS_ARCH_X86, keystone.KS_MODE_64)
            engine.syntax = syntax
            self._engines[dialect] = engine

    def encode(self, dialect: str, statement: str) -> str:
        """The bytes in hexadecimal, or ``!`` and a reason. No bytes at all are a failure, although Keystone
        calls it success."""
        try:
            code, _ = self._engines[dialect].asm(statement, 0, as_bytes=True)
        except self._error as error:
            return f"!{error}"
        return bytes(code).hex() if code else "!empty"


def self_test(engine: Engine) -> str:
    """What is wrong with the engine; empty if nothing."""
    for dialect, statement, expected in SELF_TEST:
        found = engine.encode(dialect, statement)
        if found != expected:
            return f"the self-test failed: '{statement}' gave {found}, not {expected}"
    return ""


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until the other side closes the pipe."""
    try:
        engine = Engine()
        failure = self_test(engine)
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


def main() -> None:
    """Move the pipes away from descriptors 0 and 1, so that no print can get between the replies; serve."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    _limit_resources()
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        serve(requests, replies)


if __name__ == "__main__":
    main()
