"""Child process with Keystone. Only this module imports keystone.

Keystone can hang, crash or exit on any input; here it takes down only its own process. The child reads one
``DIALECT <tab> STATEMENT`` per line. It answers in order, with the statement's bytes in hexadecimal or an
empty line. Its first line is ``ready`` or ``failed``.
"""

from __future__ import annotations

import contextlib
import os
import signal
from typing import BinaryIO

TIME_LIMIT = 0.25
"""Seconds of processor time per statement before the child is killed."""
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
"""Statements with their known bytes. If one is wrong, this build of Keystone cannot be used."""


class KeystoneEngine:
    """One Keystone engine per dialect."""

    def __init__(self) -> None:
        import keystone

        self._error = keystone.KsError
        self._engines = {}
        for dialect, syntax in (("att", keystone.KS_OPT_SYNTAX_ATT), ("intel", keystone.KS_OPT_SYNTAX_INTEL)):
            engine = keystone.Ks(keystone.KS_ARCH_X86, keystone.KS_MODE_64)
            engine.syntax = syntax
            self._engines[dialect] = engine

    def encode(self, dialect: str, statement: str) -> str:
        """The statement's bytes in hexadecimal; empty if Keystone refuses it."""
        try:
            code, _ = self._engines[dialect].asm(statement, 0, as_bytes=True)
        except self._error:
            return ""
        return bytes(code or b"").hex()

    def works(self) -> bool:
        """Whether the self-test passes."""
        return all(self.encode(dialect, statement) == code for dialect, statement, code in SELF_TEST)


def _serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until the other side closes the pipe."""
    try:
        engine = KeystoneEngine()
        works = engine.works()
    except Exception:
        works = False
    replies.write(b"ready\n" if works else b"failed\n")
    replies.flush()
    has_timer = hasattr(signal, "setitimer")
    for line in requests if works else ():
        dialect, statement = line.decode("ascii").rstrip("\n").split("\t", 1)
        if has_timer:
            # The signal's default action ends the process even within native code.
            signal.setitimer(signal.ITIMER_PROF, TIME_LIMIT)
        code = engine.encode(dialect, statement)
        if has_timer:
            signal.setitimer(signal.ITIMER_PROF, 0)
        replies.write(f"{code}\n".encode("ascii"))
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


def main() -> None:
    """Serve requests on the process's pipes, moved away from descriptors 0 and 1 so that nothing printed can
    get between the replies."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    _limit_resources()
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        _serve(requests, replies)
