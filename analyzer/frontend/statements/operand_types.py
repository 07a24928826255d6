"""Value classes for operands, and the scope that they are parsed in."""

from __future__ import annotations

from typing import Protocol

from cyclelens.analyzer.frontend.statements.expressions import ExpressionValue
from msgspec import Struct


class OperandError(ValueError):
    """The operand cannot be parsed; the message is for the user."""


class UnsupportedError(ValueError):
    """The statement is valid but beyond the built-in assembler."""


class Scope(Protocol):
    """Meaning of symbols at one place of the text."""

    dot: int
    """Bytes of the statement before the place that ``.`` means."""

    def evaluate(self, text: str) -> ExpressionValue:
        """Value of an expression, as far as GNU as knows it here. Raises ExpressionError."""

    def final(self, text: str) -> ExpressionValue:
        """Value of an expression once the whole text is parsed. Raises ExpressionError."""

    looks_ahead: bool
    """A symbol that is set further down was used; only NASM knows its value here."""

    @property
    def is_whole(self) -> bool:
        """Whether the whole text is parsed and laid out."""

    @property
    def names_registers(self) -> bool:
        """Whether a name may stand for a register."""

    def is_set(self, name: str) -> bool:
        """Whether a symbol is assigned before this place."""

    def register(self, name: str) -> str | None:
        """The register (lower case, without ``%``) that a name stands for (``a = %rax``); None if it does
        not."""

    def stand_in(self, text: str, value: ExpressionValue, base: int, *, immediate: bool) -> int:
        """Placeholder for an expression without a constant value: ``base`` plus a small number, the same for
        the same symbol and far apart for different ones. ``base`` is 0 for RIP-relative values."""


ABSOLUTE_BASE = 0x1000_0000
"""Added to placeholders of absolute addresses, so that they need 32 bits like real ones."""


class Register(Struct, frozen=True):
    """A register by its lower-case name without ``%``."""

    name: str
    decorations: tuple[str, ...] = ()
    """Decorations in braces, without braces and ``%``: ``k1``, ``z``."""


class Immediate(Struct, frozen=True):
    """A number, or the placeholder of an address."""

    value: int
    is_address: bool = False
    size: str = ""
    """The Intel dialect's size word in front of a number; empty if not written."""


class MemoryOperand(Struct, frozen=True):
    """A memory operand. ``size`` is the Intel dialect's size word in lower case; None if not written."""

    segment: str | None = None
    base: str | None = None
    index: str | None = None
    scale: int = 1
    displacement: int = 0
    size: str | None = None
    decorations: tuple[str, ...] = ()
    """Decorations, as for registers; ``1to16``, or ``bcst`` if the Intel dialect writes it with the size."""

    @property
    def is_absolute(self) -> bool:
        """Whether it has neither base nor index."""
        return self.base is None and self.index is None

    @property
    def is_far(self) -> bool:
        """Whether it is an absolute address that 32 bits with a sign cannot say."""
        return self.is_absolute and not -(1 << 31) <= self.displacement < 1 << 31


class BranchTarget(Struct, frozen=True):
    """Target of a direct jump: an unparsed expression."""

    text: str
    near: bool = False
    """``near`` was written: the short form is not allowed."""


class Rounding(Struct, frozen=True):
    """``{rn-sae}`` or ``{sae}`` as a separate operand."""

    text: str


Operand = Register | Immediate | MemoryOperand | BranchTarget | Rounding
