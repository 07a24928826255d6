"""Fallback assemblers for statements that Keystone cannot encode, in order of preference; one line each."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Protocol

from cyclelens.analyzer.frontend.assemblers import llvm_backend
from cyclelens.analyzer.frontend.assemblers.assembler_client import Failure, Reply, Request
from cyclelens.analyzer.frontend.assemblers.clang_backend import shared_clang_client
from cyclelens.analyzer.frontend.assemblers.gnu_backend import shared_gnu_client
from msgspec import Struct


class Client(Protocol):
    """Encodes batches of statements; never raises."""

    def encode(
        self, requests: Iterable[Request], cancel: Callable[[], bool] = ...
    ) -> Mapping[Request, Reply]:
        """A reply for every request."""


class Fallback(Struct, frozen=True):
    """A fallback assembler. ``name`` marks the lines that it encoded. ``is_program``: it is an external
    program, which may not be run for untrusted texts. If one external program refuses a statement, the others
    are not tried, because each costs some milliseconds per keystroke."""

    name: str
    title: str
    is_program: bool
    client: Callable[[], Client]
    cuts: bool = False
    """It truncates immediates that are too long for their operand, as GNU as does; only it knows which ones
    it accepts."""


class _Missing:
    """Client of a library that is not installed."""

    def encode(
        self, requests: Iterable[Request], cancel: Callable[[], bool] = lambda: False
    ) -> Mapping[Request, Reply]:
        return dict.fromkeys(requests, Reply(failure=Failure.UNAVAILABLE, reason="llvmlite is not installed"))


@cache
def _llvm_client() -> Client:
    if not llvm_backend.is_installed():
        return _Missing()
    client = llvm_backend.new_client()
    atexit.register(client.close)
    return client


FALLBACKS = (
    Fallback("gnu as", "GNU as", True, shared_gnu_client, cuts=True),
    Fallback("clang", "clang", True, shared_clang_client),
    Fallback("llvm", "LLVM", False, _llvm_client),
)
