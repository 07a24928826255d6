"""The assemblers that are asked for what Keystone cannot encode, the first one first: one line for each."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Protocol

from cyclelens.analyzer.common.data_classes import dataclass
from cyclelens.analyzer.frontend.assemblers import llvm_backend
from cyclelens.analyzer.frontend.assemblers.assembler_client import Failure, Reply, Request
from cyclelens.analyzer.frontend.assemblers.clang_backend import shared_clang_client
from cyclelens.analyzer.frontend.assemblers.gnu_backend import shared_gnu_client


class Client(Protocol):
    """Encodes batches of statements; never raises."""

    def encode(
        self, requests: Iterable[Request], cancel: Callable[[], bool] = ...
    ) -> Mapping[Request, Reply]:
        """A reply for every request."""


@dataclass(frozen=True, slots=True)
class Fallback:
    """``name``: what its lines are marked with. ``is_program``: it is a program of the machine, which may not
    be run for texts that nobody trusts; what one of them refuses, the others are not asked for: each costs a
    keystroke some milliseconds."""

    name: str
    title: str
    is_program: bool
    client: Callable[[], Client]
    cuts: bool = False
    """It cuts numbers that are too long for their operand as GNU as does: only it knows which it takes."""


class _Missing:
    """A library that is not installed."""

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
